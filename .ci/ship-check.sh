#!/bin/bash
# What CI has no time for, by hand before a release: both architectures built twice from nothing and
# compared, and the Arm binary under qemu-user through a whole life cycle against the local SDK server.
# An hour and a half on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

for arch in x86_64 aarch64; do
    out=target/static/$arch-unknown-linux-musl
    .ci/static.sh "$arch"
    before=$(sha256sum <"$out/agones-shim")
    rm -rf "target/$arch-unknown-linux-musl"
    .ci/static.sh "$arch"
    after=$(sha256sum <"$out/agones-shim")
    [ "$before" = "$after" ] || { echo "ship-check: $arch: $before became $after" >&2; exit 1; }
    echo "ship-check: $arch: built twice from nothing, the same bytes"
done

command -v qemu-aarch64-static >/dev/null || { echo "ship-check: apt-get install qemu-user-static" >&2; exit 69; }
arm=$PWD/target/static/aarch64-unknown-linux-musl/agones-shim
AGONES_SHIM_READY_TCP=1 qemu-aarch64-static "$arm" check
qemu-aarch64-static "$arm" --help >/dev/null
# The same tests as CI's, for the modules that show a whole life. qemu-user is slow, not wrong.
wrapper=$(mktemp)
trap 'rm -f "$wrapper"' EXIT
printf '#!/bin/sh\nexec qemu-aarch64-static "%s" "$@"\n' "$arm" >"$wrapper"
chmod +x "$wrapper"
SHIM_UNDER_TEST=$wrapper cargo test --locked --test it -- readiness:: counter:: stop:: whole:: --test-threads=2
echo "ship-check: the Arm binary lives its life under qemu"
