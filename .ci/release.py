"""Archives, an OCI image layout and checksums of a release, from the standard library alone.

    release.py STATIC_DIR OUT_DIR VERSION REVISION ARCH...

Everything that could differ from one run to the next is fixed: the order of files, owners, modes, times
(SOURCE_DATE_EPOCH) and the header of gzip.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import time

STATIC, OUT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
VERSION, REVISION, ARCHES = sys.argv[3], sys.argv[4], sys.argv[5:]
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
CREATED = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
# What containers call an architecture.
PLATFORMS = {"x86_64": "amd64", "aarch64": "arm64"}
RECIPE = pathlib.Path("Dockerfile.scratch").read_text()


def binary(arch):
    return STATIC / f"{arch}-unknown-linux-musl" / "agones-shim"


def generated(*arguments):
    """What the binary prints of itself; all architectures print the same, so whichever runs here."""
    for arch in sorted(ARCHES, key=lambda arch: arch != platform.machine()):
        try:
            return subprocess.run([binary(arch).resolve(), *arguments], check=True, capture_output=True).stdout
        except OSError:
            continue
    sys.exit(f"release: none of {', '.join(ARCHES)} runs on this machine, so that there are no completions")


def entry(name, data, mode, owner=0):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime, info.uid, info.gid = len(data), mode, EPOCH, owner, owner
    return info, io.BytesIO(data)


def tar(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for info, data in sorted(entries, key=lambda entry: entry[0].name):
            archive.addfile(info, data)
    return out.getvalue()


def zipped(data):
    return gzip.compress(data, compresslevel=9, mtime=0)


def archive(arch, printed):
    static = STATIC / f"{arch}-unknown-linux-musl"
    files = {
        "agones-shim": (binary(arch).read_bytes(), 0o755),
        "LICENSE": (pathlib.Path("LICENSE").read_bytes(), 0o644),
        "CHANGELOG.md": (pathlib.Path("CHANGELOG.md").read_bytes(), 0o644),
        "THIRD-PARTY.txt": ((static / "THIRD-PARTY.txt").read_bytes(), 0o644),
        "agones-shim.cdx.json": ((static / "agones-shim.cdx.json").read_bytes(), 0o644),
    }
    files |= {name: (data, 0o644) for name, data in printed.items()}
    for path in pathlib.Path("examples").rglob("*"):
        if path.is_file() and path.suffix != ".rs":
            files[str(path)] = (path.read_bytes(), 0o644)
    top = f"agones-shim-{VERSION}-linux-{PLATFORMS[arch]}"
    data = zipped(tar(entry(f"{top}/{name}", data, mode) for name, (data, mode) in files.items()))
    (OUT / f"{top}.tar.gz").write_bytes(data)


def instruction(name):
    """The rest of a line of Dockerfile.scratch, so that this image and that of `make image` are one."""
    return next(line[len(name) :].strip() for line in RECIPE.splitlines() if line.strip().startswith(name + " "))


def labels():
    joined = RECIPE.replace("\\\n", " ")
    line = next(line for line in joined.splitlines() if line.startswith("LABEL "))
    found = dict(part.split("=", 1) for part in line[6:].replace('" ', '"\n').split("\n"))
    found = {name.strip(): value.strip().strip('"') for name, value in found.items()}
    prefix = "org.opencontainers.image."
    return found | {prefix + "version": VERSION, prefix + "revision": REVISION, prefix + "created": CREATED}


def seconds(text):
    return int(text.removesuffix("s")) * 1_000_000_000


def config(arch, layer):
    check = instruction("HEALTHCHECK")
    options = dict(word[2:].split("=") for word in check.split() if word.startswith("--"))
    return {
        "created": CREATED,
        "architecture": PLATFORMS[arch],
        "os": "linux",
        "config": {
            "User": instruction("USER"),
            "Entrypoint": json.loads(instruction("ENTRYPOINT")),
            "Healthcheck": {
                "Test": ["CMD", *json.loads(check[check.index("[") :])],
                "Interval": seconds(options["interval"]),
                "Timeout": seconds(options["timeout"]),
            },
            "Labels": labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": CREATED, "created_by": "COPY agones-shim /agones-shim"}],
    }


class Layout:
    """The blobs of an OCI image layout, by their digests."""

    def __init__(self):
        self.blobs = {}

    def blob(self, data, media_type):
        data = data if isinstance(data, bytes) else json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}


def image():
    kind = "application/vnd.oci.image."
    layout, manifests = Layout(), []
    for arch in ARCHES:
        layer = tar([entry("agones-shim", binary(arch).read_bytes(), 0o755)])
        settings = config(arch, layer)
        manifest = {
            "schemaVersion": 2,
            "mediaType": kind + "manifest.v1+json",
            "config": layout.blob(settings, kind + "config.v1+json"),
            "layers": [layout.blob(zipped(layer), kind + "layer.v1.tar+gzip")],
        }
        described = layout.blob(manifest, kind + "manifest.v1+json")
        manifests.append(described | {"platform": {"architecture": PLATFORMS[arch], "os": "linux"}})
        docker_archive(arch, settings, layer)
    both = {"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": manifests}
    index = layout.blob(both, kind + "index.v1+json")
    index["annotations"] = {"org.opencontainers.image.ref.name": VERSION, "io.containerd.image.name": f"agones-shim:{VERSION}"}
    top = {"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": [index]}
    files = layout.blobs | {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps(top, sort_keys=True, separators=(",", ":")).encode(),
    }
    (OUT / f"agones-shim-{VERSION}-oci.tar").write_bytes(tar(entry(name, data, 0o644) for name, data in files.items()))


def docker_archive(arch, settings, layer):
    """The form of `docker save`, for engines that load no OCI layout (before 25)."""
    settings = json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()
    name = hashlib.sha256(settings).hexdigest() + ".json"
    manifest = [{"Config": name, "RepoTags": [f"agones-shim:{VERSION}"], "Layers": ["layer.tar"]}]
    files = {name: settings, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    data = zipped(tar(entry(name, data, 0o644) for name, data in files.items()))
    (OUT / f"agones-shim-{VERSION}-docker-{PLATFORMS[arch]}.tar.gz").write_bytes(data)


def main():
    for arch in ARCHES:
        if arch not in PLATFORMS or not binary(arch).is_file():
            sys.exit(f"release: no {binary(arch)} (make static ARCH={arch})")
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob("agones-shim-*"):
        old.unlink()
    (OUT / "SHA256SUMS").unlink(missing_ok=True)
    shells = {"bash": "agones-shim", "zsh": "_agones-shim", "fish": "agones-shim.fish"}
    printed = {f"completions/{shell}/{name}": generated("completion", shell) for shell, name in shells.items()}
    printed["man/man1/agones-shim.1"] = generated("man")
    for arch in ARCHES:
        archive(arch, printed)
    image()
    files = sorted(OUT.glob("agones-shim-*"))
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (OUT / "SHA256SUMS").write_text("".join(sums))
    for path in files:
        print(f"release: {path}, {path.stat().st_size} bytes")


main()
