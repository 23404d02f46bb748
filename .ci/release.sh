#!/bin/bash
# Puts a release together in target/release-files: an archive for each architecture, an OCI image layout for both,
# and SHA256SUMS. From what `make static` made; the same commit gives the same bytes.
#
#   .ci/release.sh                   both architectures, built if they are not there
#   ARCHES=x86_64 .ci/release.sh     one of them
#   STATIC_DIR=DIR .ci/release.sh    files from DIR/<target>/ instead of target/static; nothing is built
#   RELEASE_DIR=DIR .ci/release.sh   into this directory, in the place of an older one
set -euo pipefail
cd "$(dirname "$0")/.."

arches=${ARCHES:-x86_64 aarch64}
if [ -z "${STATIC_DIR:-}" ]; then
    STATIC_DIR=target/static
    for arch in $arches; do make static ARCH="$arch"; done
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
export SOURCE_DATE_EPOCH
# shellcheck disable=SC2086
python3 .ci/release.py "$STATIC_DIR" "${RELEASE_DIR:-target/release-files}" "$version" "$revision" $arches
