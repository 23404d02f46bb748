#!/bin/bash
# The "existing game image" of the tests: Debian with bzflag-server, made once and kept by Docker.
# Needs root (debootstrap), a Docker daemon and Debian's archive.
set -euo pipefail
image=agones-shim-test-game:bookworm

docker image inspect "$image" >/dev/null 2>&1 && exit
rootfs=$(mktemp -d)
trap 'rm -rf "$rootfs"' EXIT
debootstrap --variant=minbase --include=bzflag-server bookworm "$rootfs" >"$rootfs.log" 2>&1 || {
    tail -20 "$rootfs.log" >&2
    exit 1
}
rm -rf "$rootfs.log" "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/*
tar -C "$rootfs" -c . | docker import --change 'CMD ["/usr/games/bzfs"]' - "$image" >/dev/null
