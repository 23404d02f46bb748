#!/bin/bash
# Builds the final crate of the static binary again and compares: the same commit gives the same bytes.
#
#   .ci/rebuild.sh [x86_64|aarch64]
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:-x86_64}
out=target/static/$arch-unknown-linux-musl

before=$(sha256sum <"$out/agones-shim")
touch src/lib.rs src/main.rs
.ci/static.sh "$arch"
after=$(sha256sum <"$out/agones-shim")
[ "$before" = "$after" ] || { echo "rebuild: $before became $after" >&2; exit 1; }
echo "rebuild: the same bytes, ${after%% *}"
