#!/bin/bash
# Installs what a build needs and the machine does not have; silent and quick when all is there.
#
#   .ci/setup.sh          a C++ compiler, cmake, clippy, rustfmt: what `make test` and `make demo` need
#   .ci/setup.sh test     and the small programs that the tests run beside the shim
#   .ci/setup.sh static   and what `make static` needs
#   .ci/setup.sh ci       and the larger ones that only CI's tests insist on
#
# With apt, as root or through sudo. Anywhere else it names what is missing and ends with 69.
set -euo pipefail

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 69
}

# A program on PATH or where Debian puts games and servers.
have() { PATH=$PATH:/usr/sbin:/sbin:/usr/games command -v "$1" >/dev/null 2>&1; }

have cargo || fail "cargo is missing: install Rust (https://rustup.rs) and open a new shell"

packages=()
need() { # PROGRAM PACKAGE
    have "$1" || packages+=("$2")
}

have c++ || have clang++ || packages+=(g++)
need cmake cmake
need make make
case ${1:-} in
ci | static)
    # zig comes from PyPI; a Python with pip is enough.
    python3 -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
    # Rust's library for musl comes by rustup; where it cannot, Debian's Rust brings the source to build it from.
    target=x86_64-unknown-linux-musl
    [ -n "$(ls "$(rustc --print target-libdir --target $target 2>/dev/null)" 2>/dev/null)" ] ||
        rustup --quiet target add $target 2>/dev/null ||
        { [ -d /usr/lib/rustlib/src/rust/library ] || packages+=(rustc-web cargo-web rust-web-src); }
    ;;&
test | ci)
    need tini tini
    need dumb-init dumb-init
    need bzfs bzflag-server
    need curl curl
    need busybox busybox
    need unshare util-linux
    need ip iproute2
    ;;&
ci)
    need freeciv-server freeciv-server
    need minetestserver minetest-server
    need tetrinetx tetrinetx
    need teeworlds-server teeworlds-server
    need DDNet-Server ddnet-server
    need mvdsv mvdsv
    [ -e /usr/lib/quakeworld/ktx/qwprogs.so ] || packages+=(ktx)
    [ -e /usr/lib/ioquake3/ioq3ded ] || packages+=(ioquake3-server)
    need murmurd mumble-server
    need promtool prometheus
    need protoc protobuf-compiler
    [ -e /usr/include/google/protobuf/any.proto ] || packages+=(libprotobuf-dev)
    need systemd-analyze systemd
    need debootstrap debootstrap
    need docker docker.io
    need docker-compose docker-compose
    need chromium chromium
    ;;
esac

if [ ${#packages[@]} -gt 0 ]; then
    have apt-get || fail "missing: ${packages[*]} (Debian's names), and there is no apt-get here to install them with"
    if [ "$(id -u)" = 0 ]; then
        root=()
    elif have sudo; then
        root=(sudo)
    else
        fail "missing: ${packages[*]}" "run as root, or install sudo, or: apt-get install ${packages[*]}"
    fi
    echo "setup: installing ${packages[*]}"
    apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null >/dev/null; }
    apt update
    apt install --no-install-recommends "${packages[@]}"
fi

for component in clippy fmt; do
    cargo "$component" --version >/dev/null 2>&1 && continue
    have rustup || fail "cargo $component is missing, and there is no rustup here to install it with"
    rustup --quiet component add "${component/#fmt/rustfmt}"
done
