"""What a release has for arm64, on this machine: made by `make package-arm64`, run by an emulator."""

import json
import struct
import tarfile

import pytest
from machines import VERSION, package, run, succeed, target

NAME = "loadline-aarch64-unknown-linux-gnu"
AARCH64, INTERPRETER = 183, 3


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The command of the tarball."""
    tarball = package() / f"{NAME}.tar.gz"
    if not tarball.exists():
        pytest.skip("the release has nothing for arm64: make package-arm64 adds it")
    folder = tmp_path_factory.mktemp("arm64")
    with tarfile.open(tarball) as packed:
        packed.extractall(folder, filter="tar")
    return folder / NAME / "loadline"


def emulated(command, *words, **settings):
    """Run the command, as on a machine of its own."""
    return run(["qemu-aarch64-static", command, *words], **settings)


def test_it_is_linked_statically_for_arm64(command):
    elf = command.read_bytes()
    machine, = struct.unpack_from("<H", elf, 18)
    offset, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    kinds = [struct.unpack_from("<I", elf, offset + place * size)[0] for place in range(count)]
    assert machine == AARCH64
    assert INTERPRETER not in kinds


def test_it_loads_a_server(command):
    with target() as url:
        ended = emulated(command, "-n", "50", "-c", "2", "-o", "json", "--allow-invalid", url)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["summary"]["answered"] == 50


@pytest.mark.parametrize("name, words, text", [
    ("script.js", ["k6", "run", "-i", "5"], """\
import http from "k6/http";
export default function () { http.get(__ENV.TARGET); }
"""),
    ("script.lua", ["wrk", "-t1", "-c2", "-d1s", "-s"], 'wrk.method = "POST"\n'),
])
def test_it_runs_scripts(tmp_path, command, name, words, text):
    script = tmp_path / name
    script.write_text(text)
    with target() as url:
        words = [*words, script, *([url] if name.endswith("lua") else ["-e", f"TARGET={url}"])]
        ended = emulated(command, *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    counted = {"script.js": "http_reqs", "script.lua": "requests in"}[name]
    assert counted in ended.stdout


def test_packages_name_its_machine(command, tmp_path):
    assert emulated(command, "--version").stdout.strip() == f"loadline {VERSION}"
    deb = package() / "loadline_arm64.deb"
    assert succeed(["dpkg-deb", "--field", deb, "Architecture"]).strip() == "arm64"
    with tarfile.open(package() / f"loadline-linux-arm64-{VERSION}.tgz") as packed:
        about = json.load(packed.extractfile("package/package.json"))
        packed.extract("package/loadline", tmp_path, filter="tar")
    assert (about["os"], about["cpu"]) == (["linux"], ["arm64"])
    assert (tmp_path / "package/loadline").read_bytes() == command.read_bytes()


def test_all_of_it_has_its_sum(command):
    sums = (package() / "SHA256SUMS").read_text()
    assert command.exists()
    assert f"  {NAME}.tar.gz\n" in sums
    assert "  loadline_arm64.deb\n" in sums
