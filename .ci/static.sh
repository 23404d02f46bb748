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
    python3 -m pip install --quiet --root-user-action=ignore --target "$tools/python" --upgrade ziglang==0.15.2
fi
export ZIG_GLOBAL_CACHE_DIR=$tools/zig-cache ZIG_LOCAL_CACHE_DIR=$tools/zig-cache

# -Oz is given past the driver, which knows -Os alone: a quarter less code than -Os in the C core.
# The cc crate names the target, and abseil the Arm instructions of one file that it chooses at run time, in words that
# zig does not know.
for tool in cc c++; do
    wrapper=$tools/bin/$arch-$tool
    cat >"$wrapper.new" <<EOF
#!/bin/sh
for arg do
    shift
    case \$arg in
    --target=*) ;;
    -march=armv8-a+crypto) set -- "\$@" -mcpu=generic+crypto ;;
    *) set -- "\$@" "\$arg" ;;
    esac
done
exec "$zig" $tool -target $arch-linux-musl "\$@" -Xclang -Oz
EOF
    chmod +x "$wrapper.new"
    # cmake starts over when its compiler is newer than its cache.
    if cmp -s "$wrapper.new" "$wrapper"; then rm "$wrapper.new"; else mv "$wrapper.new" "$wrapper"; fi
done

# --- flags of the C core. Changing one compiles it again: minutes. -----------------------------
# It throws nothing and asks no type for its name, so exceptions, their tables and RTTI go; one
# section a function, so that the linker can drop what nothing calls. c-ares stays out (GRPC_ARES=0):
# names are resolved by libc, as with GRPC_DNS_RESOLVER=native. Experiments are fixed at their defaults.
# musl has no off64_t without _LARGEFILE64_SOURCE. No path of this machine gets into the file.
c_flags="-D_LARGEFILE64_SOURCE -ffunction-sections -fdata-sections -fno-exceptions -fno-asynchronous-unwind-tables"
c_flags+=" -fno-unwind-tables -fomit-frame-pointer -fvisibility=hidden -ffile-prefix-map=$cargo_home/registry/src=/crates -ffile-prefix-map=$PWD=/agones-shim"
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
cargo=(cargo)
link=()

# What zig links a C++ program with, copied to where the linker finds it: zig compiles these on demand,
# and says where they are when it links.
libs=$tools/lib-$arch
zig_libs() { # OPTIMISATION FILE...
    local probe=$tools/probe-$arch found file
    echo 'int main() { return 0; }' >"$probe.cc"
    found=$(ZIG_VERBOSE_LINK=1 "$zig" c++ -target "$arch-linux-musl" "$1" -fPIC -static -pie "$probe.cc" -o "$probe" 2>&1 |
        tr ' ' '\n')
    mkdir -p "$libs"
    for file in "${@:2}"; do
        cp "$(grep -m1 "/$file\$" <<<"$found")" "$libs/$file"
    done
}
zig_libs -Os libc++.a libc++abi.a

sysroot_has_target() { [ -n "$(ls "$(rustc --print target-libdir --target "$target" 2>/dev/null)" 2>/dev/null)" ]; }
if [ "${STATIC_ROUTE:-rustup}" = rustup ] && ! sysroot_has_target && command -v rustup >/dev/null; then
    rustup --quiet target add "$target" || true
fi
if [ "${STATIC_ROUTE:-rustup}" = rustup ] && sysroot_has_target; then
    # Rust's own musl, start files and unwinder.
    link+=(-C link-self-contained=yes)
elif [ -d /usr/lib/rustlib/src/rust/library ] && [ -x /usr/bin/cargo ]; then
    # Debian's Rust has no library for musl: it is built here, and libc and unwinder are zig's. -O2, as
    # zig's memcpy goes byte by byte when it is told to be small.
    zig_libs -O2 rcrt1.o libunwind.a libc.a libzigc.a libcompiler_rt.a
    export RUSTC=/usr/bin/rustc CARGO=/usr/bin/cargo RUSTC_BOOTSTRAP=1
    cargo=(/usr/bin/cargo -Zbuild-std=std,panic_unwind)
    link+=(-C link-self-contained=no -L "native=$libs" -C "link-arg=$libs/rcrt1.o")
    for lib in unwind zigc c compiler_rt; do link+=(-C "link-arg=$libs/lib$lib.a"); done
else
    echo "static: no Rust library for $target: rustup target add $target," >&2
    echo "static: or on Debian apt-get install rustc-web cargo-web rust-web-src" >&2
    exit 69
fi

# The linker is the one inside zig, called as such: its own driver refuses half of these.
printf '#!/bin/sh\n[ "$1" != -flavor ] || shift 2\nexec "%s" ld.lld "$@"\n' "$zig" >"$tools/bin/ld"
chmod +x "$tools/bin/ld"
link+=(-C "linker=$tools/bin/ld" -C linker-flavor=ld.lld -C "link-arg=$libs/libc++.a" -C "link-arg=$libs/libc++abi.a")
# Equal functions become one; relocations are packed; what is only relocated becomes read-only.
link+=(-C link-arg=--icf=all -C link-arg=--gc-sections -C link-arg=-O2 -C link-arg=--pack-dyn-relocs=relr
    -C link-arg=-zrelro -C link-arg=-znow -C link-arg=--build-id=none)
# Nothing throws a C++ exception whose name could be shown: the demangler stays out.
link+=(-C link-arg=--defsym=__cxa_demangle=abort)
# gRPC's threads ask for no stack size, and musl's default is 128 KiB unless this header says more.
link+=(-C link-arg=-zstack-size=1048576)

"${cargo[@]}" rustc --quiet --locked --release --target "$target" --bin agones-shim -- "${link[@]}"

# --- what is shipped -------------------------------------------------------------------------------
built=${CARGO_TARGET_DIR:-target}/$target/release/agones-shim
cmp -s "$built" "$out/$target/agones-shim" || install -m 755 "$built" "$out/$target/agones-shim"
python3 .ci/bill.py "$target" "$tools/python/ziglang" "$out/$target"
(cd "$out/$target" && sha256sum agones-shim agones-shim.cdx.json agones-shim.vex.json THIRD-PARTY.txt >SHA256SUMS)
echo "static: target/static/$target/agones-shim, $(stat -c %s "$out/$target/agones-shim") bytes"
