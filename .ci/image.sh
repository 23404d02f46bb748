#!/bin/bash
# agones-shim:latest, from scratch: the static binary alone.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:-x86_64}
from=target/static/$arch-unknown-linux-musl
version=$(sed -n 's/^version = "\(.*\)"/\1/p;T;q' Cargo.toml)
docker build --quiet --file Dockerfile.scratch \
    --label org.opencontainers.image.version="$version" \
    --label org.opencontainers.image.revision="$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
    --label org.opencontainers.image.created="$(git log -1 --format=%cI 2>/dev/null || echo 1970-01-01T00:00:00Z)" \
    --tag "agones-shim:$version" --tag agones-shim:latest "$from" >/dev/null
echo "agones-shim:$version and agones-shim:latest, $(docker image inspect --format '{{.Size}}' agones-shim:latest) bytes"
