#!/bin/bash
# Builds the static musl release binary: target/static/<target>/agones-shim.
#
#   .ci/static.sh [x86_64|aarch64]
#
# Two routes to Rust's own library for musl, whichever the machine has: rustup's
# target, or Debian's rustc-web with the library built from rust-web-src.
# The C++ compiler is always zig's clang (from PyPI, into target/static/tools): the
# host's g++ has glibc's headers, and gRPC's C core built with them does not run on musl.
# It installs nothing outside target/, but for rustup's target itself.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=${1:-x86_64}
case $arch in
x86_64 | aarch64) ;;
*) echo "static: $arch: not x86_64 or aarch64" >&2; exit 64 ;;
esac
target=$arch-unknown-linux-musl
out=$PWD/target/static
tools=$out/tools
cargo_home=${CARGO_HOME:-$HOME/.cargo}
mkdir -p "$tools/bin" "$out/$target"

# --- zig -----------------------------------------------------------------------------------------
zig=$tools/python/ziglang/zig
if [ "$("$zig" version 2>/dev/null)" != 0.15.2 ]; then
    command -v python3 >/dev/null || { echo "static: python3 with pip is needed to fetch zig (apt install python3-pip)" >&2; exit 69; }
    python3 -m pip install --quiet --root-user-action=ignore --target "$tools/python" --upgrade ziglang==0.15.2
fi
export ZIG_GLOBAL_CACHE_DIR=$tools/zig-cache ZIG_LOCAL_CACHE_DIR=$tools/zig-cache

# -Oz is given past the driver, which knows -Os alone: a quarter less code than -Os in the C core.
# The cc crate names the target in words that zig does not know.
for tool in cc c++; do
    wrapper=$tools/bin/$arch-$tool
    cat >"$wrapper.new" <<EOF
#!/bin/sh
for arg do
    shift
    case \$arg in --target=*) ;; *) set -- "\$@" "\$arg" ;; esac
done
exec "$zig" $tool -target $arch-linux-musl "\$@" -Xclang -Oz
EOF
    chmod +x "$wrapper.new"
    # cmake starts over when its compiler is newer than its cache.
    if cmp -s "$wrapper.new" "$wrapper"; then rm "$wrapper.new"; else mv "$wrapper.new" "$wrapper"; fi
done

# --- flags of the C core. Changing one compiles it again: ten minutes. -----------------------------
# It throws nothing and asks no type for its name, so exceptions, their tables and RTTI go; one
# section a function, so that the linker can drop what nothing calls. c-ares stays out (GRPC_ARES=0):
# names are resolved by libc, as with GRPC_DNS_RESOLVER=native. Experiments are fixed at their defaults.
# musl has no off64_t without _LARGEFILE64_SOURCE. No path of this machine gets into the file.
c_flags="-D_LARGEFILE64_SOURCE -ffunction-sections -fdata-sections -fno-exceptions -fno-asynchronous-unwind-tables"
c_flags+=" -fno-unwind-tables -fomit-frame-pointer -fvisibility=hidden -ffile-prefix-map=$cargo_home/registry/src=/crates"
cxx_flags="$c_flags -fno-rtti -fvisibility-inlines-hidden -DGRPC_ARES=0 -DGRPC_EXPERIMENTS_ARE_FINAL"
cxx_flags+=" -Wno-missing-template-arg-list-after-template-kw"
under=${target//-/_}
upper=${under^^}
export "CC_$under=$tools/bin/$arch-cc" "CXX_$under=$tools/bin/$arch-c++" "CFLAGS_$under=$c_flags" "CXXFLAGS_$under=$cxx_flags"
# grpcio-sys reads this name alone, and takes g++ for musl without it.
export CXX=$tools/bin/$arch-c++
# c-ares asks cmake 4 for a policy that it no longer has.
export CMAKE_POLICY_VERSION_MINIMUM=3.5
# The C++ library is given to the linker by path, below.
export "CXXSTDLIB_$under="
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)

# --- Rust ------------------------------------------------------------------------------------------
# The same for every crate, so that the final crate's link flags can change and nothing is compiled again.
export "CARGO_TARGET_${upper}_RUSTFLAGS=--remap-path-prefix=$cargo_home/registry/src=/crates --remap-path-prefix=$PWD=/agones-shim"

# libc++ and libc++abi, compiled by zig on demand: it names them when it links.
cxx_libs() {
    local probe=$tools/probe-$arch
    echo 'int main() { return 0; }' >"$probe.cc"
    ZIG_VERBOSE_LINK=1 "$zig" c++ -target "$arch-linux-musl" -Os "$probe.cc" -o "$probe" 2>&1 |
        tr ' ' '\n' | grep -E '/lib(c\+\+|c\+\+abi)\.a$' | sort -u
}

lld=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
link=(-C "linker=$lld" -C linker-flavor=ld.lld -C link-self-contained=yes)
for lib in $(cxx_libs); do link+=(-C "link-arg=$lib"); done
# gRPC's threads have the libc's default stack, 128 KiB on musl; the header raises it.
link+=(-C link-arg=-zstack-size=1048576 -C link-arg=--icf=all -C link-arg=--gc-sections
    -C link-arg=--pack-dyn-relocs=relr -C link-arg=-O2 -C link-arg=--build-id=none)

cargo rustc --locked --release --target "$target" --bin agones-shim -- "${link[@]}"
