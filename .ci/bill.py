"""Writes what is in the static binary: a CycloneDX bill of materials, a VEX file and the third-party notices.

    bill.py TARGET ZIG_DIR OUT_DIR

Both are made from what was compiled: `cargo metadata` and `Cargo.lock` for the crates, the sources
inside grpcio-sys and libz-sys for the C core, zig's own folder for musl and LLVM's run time.
Nothing is looked up on the network, and the same commit gives the same bytes.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tomllib

TARGET, ZIG, OUT = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


metadata = json.loads(cargo("metadata", "--locked", "--format-version=1", f"--filter-platform={TARGET}"))
packages = {package["id"]: package for package in metadata["packages"]}
edges = {
    node["id"]: [d["pkg"] for d in node["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    for node in metadata["resolve"]["nodes"]
}
root = metadata["resolve"]["root"]
checksums = {
    (package["name"], package["version"]): package.get("checksum")
    for package in tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
}


def is_macro(package):
    """Runs in the compiler; nothing of it, or of what only it needs, is in the binary."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


linked, queue = set(), [root]
while queue:
    at = queue.pop()
    if at not in linked and not is_macro(packages[at]):
        linked.add(at)
        queue += edges[at]
crates = sorted((packages[i] for i in linked - {root}), key=lambda p: (p["name"], p["version"]))


def source(name):
    return next(pathlib.Path(p["manifest_path"]).parent for p in crates if p["name"] == name)


grpc = source("grpcio-sys") / "grpc"
# Name, version, licence, where its licence text is. The versions are those that the sources state.
natives = [
    ("grpc", "1.56.2", "Apache-2.0", [grpc / "LICENSE", grpc / "NOTICE.txt"]),
    ("abseil-cpp", "20230125", "Apache-2.0", [grpc / "third_party/abseil-cpp/LICENSE"]),
    ("address_sorting", "1.56.2", "BSD-3-Clause", [grpc / "third_party/address_sorting/LICENSE"]),
    ("upb", "1.56.2", "BSD-3-Clause", [grpc / "third_party/upb/LICENSE"]),
    ("utf8_range", "1.56.2", "MIT", [grpc / "third_party/utf8_range/LICENSE"]),
    ("xxhash", "0.8.1", "BSD-2-Clause", [grpc / "third_party/xxhash/LICENSE"]),
    ("re2", "1.56.2", "BSD-3-Clause", [grpc / "third_party/re2/LICENSE"]),
    ("zlib", "1.4", "Zlib", [source("libz-sys") / "src/zlib/LICENSE"]),
    ("musl", "1.2.5", "MIT", [ZIG / "lib/libc/musl/COPYRIGHT"]),
    ("libc++, libc++abi, libunwind", "20.1", "Apache-2.0 WITH LLVM-exception", [ZIG / "lib/libunwind/LICENSE.TXT"]),
]


def component(name, version, licence, purl=None, checksum=None):
    entry = {"type": "library", "name": name, "version": version, "licenses": [{"expression": licence}]}
    # What is no package goes by its name, which .ci/vex.json refers to.
    entry["bom-ref"] = purl or f"native:{name}"
    if purl:
        entry["purl"] = purl
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


main = packages[root]
bom = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {
        "component": {
            "type": "application",
            "bom-ref": purl(main),
            "name": main["name"],
            "version": main["version"],
            "licenses": [{"expression": main["license"]}],
            "hashes": [
                {"alg": "SHA-256", "content": hashlib.sha256((OUT / "agones-shim").read_bytes()).hexdigest()}
            ],
        }
    },
    "components": [
        component(
            p["name"],
            p["version"],
            # Old crates separate alternatives by a slash.
            (p["license"] or "NOASSERTION").replace("/", " OR "),
            purl(p),
            checksums.get((p["name"], p["version"])),
        )
        for p in crates
    ]
    + [component(name, version, licence) for name, version, licence, _ in natives],
    "dependencies": [
        {"ref": purl(packages[i]), "dependsOn": sorted(purl(packages[d]) for d in edges[i] if d in linked)}
        for i in sorted(linked)
    ],
}
(OUT / "agones-shim.cdx.json").write_text(json.dumps(bom, indent=1) + "\n")

# Known vulnerabilities of the natives, and why they matter or do not: written by hand, about the versions above.
vex = pathlib.Path(".ci/vex.json").read_text()
known = {f"native:{name}" for name, *_ in natives}
affected = {entry["ref"] for vulnerability in json.loads(vex)["vulnerabilities"] for entry in vulnerability["affects"]}
assert affected <= known, f"vex.json names what is not in the binary: {affected - known}"
(OUT / "agones-shim.vex.json").write_text(vex)

# One entry a text: most crates carry the same two.
texts = {}


def carry(who, path):
    text = "\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines())
    texts.setdefault(text, []).append(who)


missing = []
for package in crates:
    folder = pathlib.Path(package["manifest_path"]).parent
    found = sorted(
        p for p in folder.iterdir() if p.is_file() and p.name.lower().startswith(("license", "copying", "notice"))
    )
    for path in found:
        carry(f"{package['name']} {package['version']}", path)
    if not found:
        missing.append(f"{package['name']} {package['version']}: {package['license']}, {package['repository']}")
for name, version, _, paths in natives:
    for path in paths:
        carry(f"{name} {version}", path)

with (OUT / "THIRD-PARTY.txt").open("w") as notices:
    notices.write("agones-shim contains the following works, under the licences that follow each list.\n")
    notices.write("The Rust standard library in it is MIT OR Apache-2.0, copyright The Rust Project contributors.\n")
    for line in missing:
        notices.write(f"Without a licence text of its own: {line}\n")
    for text, names in texts.items():
        notices.write("\n" + "=" * 80 + "\n" + "\n".join(sorted(set(names))) + "\n" + "-" * 80 + "\n" + text + "\n")
