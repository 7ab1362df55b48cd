"""What `make package` made, each used in a root without Rust, Node.js or a compiler.

One table: each way to install, and each use of the command.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile

import pytest
from machines import (
    DEB,
    ROOT,
    TARBALL,
    TARGET,
    VERSION,
    first_line,
    pack,
    package,
    run,
    succeed,
    target,
)
from registry import registry
from roots import BARE, Here, Root, unpack_image

MIB = 1 << 20
# The oldest C library that something which is linked dynamically may need.
OLDEST = (2, 28)
SCRIPTS = {
    "script.js": """\
import http from "k6/http";
import { check } from "k6";
export const options = { vus: 1, iterations: 5 };
export default function () {
  check(http.get(__ENV.TARGET), { "is 200": (response) => response.status === 200 });
}
""",
    "script.lua": 'wrk.method = "POST"\nwrk.body = "a=1"\n',
    "locustfile.py": """\
from locust import HttpUser, constant, task


class Visitor(HttpUser):
    wait_time = constant(0.1)

    @task
    def front_page(self):
        self.client.get("/")
""",
}


def from_tarball(folder, _):
    """The tarball in an empty root."""
    with tarfile.open(package() / TARBALL) as tarball:
        tarball.extractall(folder / "opt", filter="tar")
    return Root(folder, [f"/opt/loadline-{TARGET}/loadline"])


def from_deb(folder, request):
    """The package on a Debian."""
    copied = request.getfixturevalue("bare")
    subprocess.run(["cp", "-a", "--reflink=auto", f"{copied}/.", str(folder)], check=True)
    shutil.copy(package() / DEB, folder / "tmp")
    root = Root(folder, ["loadline"])
    ended = root.run("dpkg", "--install", f"/tmp/{DEB}")
    assert ended.returncode == 0, ended.stderr
    return root


def from_image(folder, _):
    """The image, as its configuration says."""
    return of_image(package() / "loadline-image.tar", folder)


def from_python_image(folder, request):
    """The image with Python."""
    return of_image(request.getfixturevalue("python_image"), folder)


def of_image(archive, folder):
    """The root of an image."""
    config = unpack_image(archive, folder / "root")
    environment = dict(variable.split("=", 1) for variable in config["Env"])
    return Root(folder / "root", config["Entrypoint"], environment)


def from_wheel(folder, request):
    """The wheel in a virtual environment of a Debian, with what locustfiles need."""
    subprocess.run(["cp", "-a", "--reflink=auto", f"{request.getfixturevalue('bare')}/.",
                    str(folder)], check=True)
    shutil.copytree(request.getfixturevalue("wheels"), folder / "wheels")
    root = Root(folder, ["loadline"], {**BARE, "PATH": f"/opt/venv/bin:{BARE['PATH']}"})
    for words in (["python3", "-m", "venv", "/opt/venv"],
                  ["/opt/venv/bin/pip", "install", "--no-index", "--find-links=/wheels",
                   "loadline[locust]"]):
        ended = root.run(*words)
        assert ended.returncode == 0, ended.stderr
    return root


def from_npm(folder, _):
    """The packages for npm, from a registry, with Node.js alone on the path."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("node", "npm", "sh", "env"):
        (programs / name).symlink_to(os.path.realpath(shutil.which(name)))
    environment = {**BARE, "PATH": str(programs), "HOME": str(folder)}
    with registry(package()) as url:
        succeed(["npm", "install", "--silent", "--no-audit", f"--registry={url}", "loadline"],
                cwd=folder, env=environment)
    return Here(folder, [folder / "node_modules/.bin/loadline"], environment)


WAYS = {"tarball": from_tarball, "deb": from_deb, "image": from_image, "wheel": from_wheel,
        "python-image": from_python_image, "npm": from_npm}


def version(root, _):
    """It is of the version that it is packed as."""
    assert done(root, "--version") == f"loadline {VERSION}\n"


def help_(root, _):
    """It says what it can do."""
    assert "Usage: loadline" in done(root, "--help")


def loads(root, url):
    """It loads a server."""
    done(root, "-n", "200", "-c", "2", "--allow-invalid", "-o", "json=run.json", url)
    assert json.loads(root.read("run.json"))["summary"]["answered"] == 200


def loads_localhost(root, url):
    """It knows localhost, whatever the root knows."""
    loads(root, url.replace("127.0.0.1", "localhost"))


def html(root, url):
    """It has the page of HTML reports in it."""
    done(root, "-n", "200", "-c", "2", "--allow-invalid", "-o", "html=run.html", url)
    page = root.read("run.html")
    assert page.lower().startswith("<!doctype html>") and len(page) > 50_000


def k6(root, url):
    """It runs a script of k6."""
    said = done(root, "k6", "run", "-e", f"TARGET={url}", "script.js")
    assert re.search(r"checks_succeeded\.*: 100\.00% 5 out of 5", said), said


def wrk(root, url):
    """It runs a script of wrk."""
    said = done(root, "wrk", "-t1", "-c2", "-d1s", "-s", "script.lua", url)
    assert re.search(r"^Requests/sec: +[1-9]", said, re.MULTILINE), said


def saves(root, url):
    """It writes a database, and reads what it has saved."""
    words = ["-n", "200", "-c", "2", "--allow-invalid", "--save", "a.run", url]
    done(root, *words)
    assert "200: 200" in done(root, "report", "a.run", "--allow-invalid")


def locust(root, url):
    """It runs a locustfile."""
    words = ["-f", "locustfile.py", "--headless", "-t", "2s", "-H", url.rstrip("/")]
    ended = root.loadline("locust", *words)
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"^GET +/ +[1-9]", ended.stdout + ended.stderr, re.MULTILINE), ended


USES = {"version": version, "help": help_, "run": loads, "localhost": loads_localhost, "html": html,
        "k6": k6, "wrk": wrk, "save": saves, "locust": locust}
TABLE = [(way, use) for way in WAYS for use in USES
         if use != "locust" or way in ("wheel", "python-image")]


def done(root, *words):
    """What the command printed there; it has to succeed."""
    ended = root.loadline(*words)
    assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def url():
    """A server outside of the roots."""
    with target() as url:
        yield url


@pytest.fixture(scope="module")
def root_of(tmp_path_factory, request):
    """Gives the root of a way, made when it is first asked for."""
    made = {}

    def give(way):
        if way not in made:
            package()
            made[way] = WAYS[way](tmp_path_factory.mktemp(way), request)
            for name, text in SCRIPTS.items():
                made[way].write(name, text)
        return made[way]

    return give


@pytest.mark.parametrize("way, use", TABLE)
def test_it_is_used(way, use, root_of, url):
    USES[use](root_of(way), url)


@pytest.mark.parametrize("way", ["deb", "wheel", "python-image"])
def test_no_root_has_a_compiler_or_node(way, root_of):
    root = root_of(way)
    for program in ("cc", "gcc", "rustc", "cargo", "node"):
        assert root.run("sh", "-c", f"command -v {program}").returncode != 0, program


@pytest.fixture
def empty(tmp_path):
    """The tarball in an empty root of its own."""
    return from_tarball(tmp_path, None)


def test_an_empty_root_has_a_server_and_its_load(empty):
    words = [*empty.command, "serve", "--listen", "127.0.0.1:0"]
    enter = {"preexec_fn": lambda: os.chroot(empty.folder), "env": BARE}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **enter) as server:
        try:
            loads(empty, re.search(r"http://\S+", first_line(server))[0])
        finally:
            server.kill()


@pytest.mark.parametrize("connections, most", [(1, 8), (1000, 12)])
def test_a_run_needs_little_memory(connections, most, empty, url):
    """If it needs more since its functions have other names: make order."""
    words = [*empty.command, "-c", str(connections), "-d", "2s", "--allow-invalid", url]
    enter = {"preexec_fn": lambda: os.chroot(empty.folder), "env": BARE}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, **enter) as loading:
        peak = 0
        while loading.poll() is None:
            status = pathlib.Path(f"/proc/{loading.pid}/status").read_text()
            peak = max([peak, *map(int, re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE))])
            time.sleep(0.02)
    assert loading.returncode == 0
    assert 0 < peak * 1024 <= most * MIB


def test_names_are_asked_of_dns_and_of_no_library(empty, url):
    """The modules of nsswitch.conf are libraries, of which a static command can load none."""
    (empty.folder / "etc").mkdir()
    with dns({"shop.test": "127.0.0.1"}) as server:
        (empty.folder / "etc/resolv.conf").write_text(f"nameserver {server}\noptions timeout:2\n")
        (empty.folder / "etc/nsswitch.conf").write_text(
            "hosts: mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] myhostname\n")
        loads(empty, url.replace("127.0.0.1", "shop.test"))
        ended = empty.loadline("-n", "1", "http://nowhere.test/")
    assert ended.returncode == 2 and "nowhere.test" in ended.stderr, ended


class dns:
    """A server that knows the IPv4 addresses of some names, on a loopback address of its own."""

    ADDRESS = "127.0.0.153"

    def __init__(self, names):
        self.names = {name: socket.inet_aton(address) for name, address in names.items()}

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.bind((self.ADDRESS, 53))
        except OSError as error:
            pytest.skip(f"no server can listen on {self.ADDRESS}, port 53: {error}")
        threading.Thread(target=self.serve, daemon=True).start()
        return self.ADDRESS

    def __exit__(self, *_):
        self.socket.close()

    def serve(self):
        """Answers until the socket is closed (RFC 1035, section 4.1)."""
        while True:
            try:
                query, client = self.socket.recvfrom(512)
            except OSError:
                return
            self.socket.sendto(self.answer(query), client)

    def answer(self, query):
        """The answer to a query of one question."""
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        question, kind = query[12:at + 5], query[at + 1:at + 3]
        address = self.names.get(".".join(labels).lower())
        found = address if kind == b"\0\1" else None
        code = 0 if address else 3
        head = query[:2] + bytes([0x81, 0x80 | code, 0, 1, 0, int(found is not None), 0, 0, 0, 0])
        record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + found if found else b""
        return head + question + record


def binaries(folder):
    """All programs and libraries of ours that the artefacts have, unpacked."""
    for file in package().iterdir():
        place = folder / file.name
        if file.name.endswith((".tgz", ".tar.gz")):
            with tarfile.open(file) as packed:
                packed.extractall(place, filter="tar")
        elif file.suffix == ".whl":
            zipfile.ZipFile(file).extractall(place)
        elif file.suffix == ".deb":
            succeed(["dpkg-deb", "-x", file, place])
        elif file.name == "loadline-image.tar":
            unpack_image(file, place)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as opened:
                if opened.read(4) == b"\x7fELF":
                    yield path


def test_nothing_needs_a_c_library_newer_than_that_of_2018(tmp_path):
    names = []
    for path in binaries(tmp_path):
        need = succeed([ROOT / "scripts/glibc", path]).strip()
        names.append(path.name)
        assert tuple(map(int, need.split(".")[:2])) <= OLDEST if need != "0" else True, (path, need)
        assert need == "0" or path.name == "_native.abi3.so", (path, need)
    for_arm64 = 3 * (package() / "loadline_arm64.deb").exists()
    assert sorted(names) == ["_native.abi3.so", *["loadline"] * (5 + for_arm64)]


def test_the_command_is_small_and_has_no_symbols(tmp_path):
    [command] = [path for path in binaries(tmp_path) if TARGET in str(path)]
    assert command.stat().st_size <= 25 * MIB
    assert "no symbols" in run(["nm", command]).stderr


def test_the_name_of_the_wheel_is_true():
    [wheel] = package().glob("*.whl")
    assert "-manylinux_2_" in wheel.name
    succeed([ROOT / "scripts/wheel-check", wheel])
    with zipfile.ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if name.endswith("/METADATA")]
        metadata = packed.read(name).decode().splitlines()
    required = [line for line in metadata if line.startswith("Requires-Dist")]
    assert required and all("extra == 'locust'" in line or 'extra == "locust"' in line
                            for line in required), required


@pytest.mark.skipif(not shutil.which("lintian"), reason="make test-package installs lintian")
def test_lintian_finds_no_error():
    ended = run(["lintian", "--fail-on", "error", "--info", package() / DEB])
    assert ended.returncode == 0, ended.stdout


def test_two_packings_are_the_same(tmp_path):
    with tarfile.open(package() / TARBALL) as tarball:
        tarball.extractall(tmp_path, filter="tar")
    command = tmp_path / f"loadline-{TARGET}/loadline"
    [wheel] = package().glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        extension = packed.extract("loadline/_native.abi3.so", tmp_path)
    kinds = ["tarball", "deb", "npm", "formula", "wheel", "image", "sbom", "sums"]
    sums = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        pack(folder, *kinds, command=command, EXTENSION=extension, PYTHON=sys.executable)
        sums.append((folder / "SHA256SUMS").read_text())
    assert sums[0] == sums[1]


def test_all_that_is_published_has_its_sum():
    lines = (package() / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split()) for line in lines)
    files = {file.name for file in package().iterdir()} - {"SHA256SUMS"}
    assert set(sums) == files
    assert {TARBALL, DEB, "install.sh", "loadline.rb", "loadline.cdx.json", "loadline-image.tar",
            f"loadline-{VERSION}.tgz", f"loadline-linux-x64-{VERSION}.tgz"} <= files
    for name, sum in sums.items():
        assert hashlib.sha256((package() / name).read_bytes()).hexdigest() == sum


def test_the_list_of_components_is_that_of_the_lock_file():
    text = (package() / "loadline.cdx.json").read_text()
    assert str(ROOT) not in text
    told = json.loads(text)
    assert told["bomFormat"] == "CycloneDX"
    known = {(part["name"], part["version"]): part for part in told["components"]}
    locked = set(re.findall(r'^name = "(.+)"\nversion = "(.+)"$',
                            pathlib.Path(ROOT, "Cargo.lock").read_text(), re.MULTILINE))
    assert set(known) <= locked
    names = {name for name, _ in known}
    assert {"rustls", "mlua-sys", "rquickjs-sys", "libsqlite3-sys", "loadline-engine"} <= names
    assert not names & {"proptest", "trycmd", "insta"}
    assert all("licenses" in part for part in known.values())
