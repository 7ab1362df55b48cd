"""docs/guide/install.md: its commands do what it says, on machines that have nothing else.

They are taken from the page. The addresses of the places that a release is published in are
replaced by those of servers here, and nothing else is.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

import pytest
import yaml
from machines import RELEASES, ROOT, TARBALL, VERSION, package, releases, run, succeed, target
from registry import registry
from roots import BARE, Root, unpack_image
from test_action import Job

PAGE = (ROOT / "docs/guide/install.md").read_text(encoding="utf-8")
SERVER = "http://127.0.0.1:8080/"
LOCUSTFILE = """\
from locust import HttpUser, constant, task


class Visitor(HttpUser):
    wait_time = constant(0.1)

    @task
    def front_page(self):
        self.client.get("/")
"""
# What can't be run where these tests are, and what is looked at instead.
LOOKED_AT = {
    "Cargo": "test_tarball.py: the template of the address, and the place in the tarball",
}


def sections():
    """The blocks of code of each heading; that of the page's begin is empty."""
    found = {}
    for part in re.split(r"^## ", "\n" + PAGE, flags=re.MULTILINE):
        heading = part.splitlines()[0].strip() if not part.startswith("\n") else ""
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        found[heading] = [text for _, text in blocks]
    return found


SECTIONS = sections()


def shell(folder, script, **variables):
    """Run a block as a person with an empty home would."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    return succeed(["bash", "-euo", "pipefail", "-c", script], cwd=folder,
                   env={**environment, **variables})


def test_every_block_is_run_by_a_test_or_has_a_reason():
    run = {"", "One file", "The tarball", "Debian and Ubuntu", "pip", "npm", "Containers",
           "GitHub Actions", "Homebrew", "From the sources", "Completions and the manual"}
    assert {heading for heading, blocks in SECTIONS.items() if blocks} == run | set(LOOKED_AT)


def test_the_first_block_brings_a_result(tmp_path, published):
    with target() as server:
        script = SECTIONS[""][0].replace(RELEASES, published).replace(SERVER, f"-d 1s {server}")
        said = shell(tmp_path, script, LOADLINE_RELEASES=published)
    assert said.startswith(f"loadline {VERSION} is now {tmp_path}/.local/bin/loadline.")
    assert "p99" in said and "200: " in said


def test_another_folder_and_a_version(tmp_path, published):
    [script] = SECTIONS["One file"]
    shell(tmp_path, script.replace(RELEASES, published), LOADLINE_RELEASES=published)
    assert succeed([tmp_path / "programs/loadline", "--version"]) == f"loadline {VERSION}\n"


def test_the_tarball_is_what_its_sum_says(tmp_path, published):
    script = SECTIONS["The tarball"][0]
    said = shell(tmp_path, script.replace(RELEASES, published))
    assert said.splitlines() == ["loadline-x86_64-unknown-linux-gnu.tar.gz: OK",
                                 f"loadline {VERSION}"]


def test_with_the_tarball_the_capacity_of_a_server_is_known(tmp_path):
    with releases(package()) as published, target("--limit", "300") as server:
        unpack, find = (block.replace(RELEASES, published).replace(SERVER, server)
                        for block in SECTIONS["The tarball"])
        shell(tmp_path, unpack)
        # Three minutes are what a new user is promised; the search has a budget of two.
        ended = run(["sh", "-euc", find], cwd=tmp_path, timeout=180)
    [found] = re.findall(r"^load line: (?:below )?(\d+)", ended.stdout, re.MULTILINE)
    assert 0 < int(found) < 1000, ended
    disturbed = "the generator was the limit, or was disturbed" in ended.stderr
    assert ended.returncode == (3 if disturbed else 0), ended


def test_completions_and_the_manual_are_where_they_are_looked_for(tmp_path, release):
    shell(tmp_path, f"tar -xzf {release}/*.tar.gz --strip-components 1")
    path = f"{tmp_path}:{os.environ['PATH']}"
    shell(tmp_path, SECTIONS["Completions and the manual"][0], PATH=path)
    share = tmp_path / ".local/share"
    assert "complete " in (share / "bash-completion/completions/loadline").read_text()
    assert ".TH loadline 1" in (share / "man/man1/loadline.1").read_text()


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_npm(tmp_path, packed):
    once, kept = SECTIONS["npm"]
    settings = {"npm_config_prefix": str(tmp_path / "prefix"), "npm_config_audit": "false",
                "npm_config_update_notifier": "false"}
    with registry(packed) as url, target() as server:
        settings["npm_config_registry"] = url
        said = shell(tmp_path, once.replace(SERVER, f"-d 1s {server}"), **settings)
        assert "p99" in said
        shell(tmp_path, kept, **settings)
    assert succeed([tmp_path / "prefix/bin/loadline", "--version"]) == f"loadline {VERSION}\n"


def test_the_action(tmp_path, published):
    [text] = SECTIONS["GitHub Actions"]
    [step] = yaml.safe_load(text)
    assert re.fullmatch(r"loadline/loadline@v\d+", step["uses"])
    job = Job(tmp_path, published)
    with target() as server:
        inputs = {**step["with"], "args": step["with"]["args"].replace(SERVER, server)}
        # Whether this machine is calm is no matter.
        inputs["args"] += " --allow-invalid"
        code, outputs = job.use(**inputs)
    assert (code, outputs["verdict"]) == (0, "passed"), job.said
    documented = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)
    assert documented == list(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])


@pytest.mark.skipif(not shutil.which("ruby"), reason="make test-package installs ruby")
def test_homebrew(tmp_path, release):
    """There is no Homebrew here: what its formula says is done by one that stands in for it."""
    assert SECTIONS["Homebrew"] == ["brew install loadline/tap/loadline\n"]
    words = ["ruby", ROOT / "packaging/tests/brew.rb", release / "loadline.rb", release / TARBALL]
    url = succeed([*words, tmp_path]).strip()
    assert url == f"{RELEASES}/download/v{VERSION}/{TARBALL}"
    assert succeed([tmp_path / "bin/loadline", "--version"]) == f"loadline {VERSION}\n"
    installed = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("share/**/*")}
    assert {"share/man/man1/loadline.1", "share/zsh/site-functions/_loadline"} < installed


def test_the_sources_have_what_is_called(tmp_path):
    [script] = SECTIONS["From the sources"]
    clone, make = script.strip().splitlines()
    assert clone == f"git clone {RELEASES.removesuffix('/releases')} && cd loadline"
    assert "cargo install" in succeed([*shlex.split(make), "--dry-run", "CARGO=cargo"], cwd=ROOT)


def test_debian(copied, published):
    root = Root(copied, ["loadline"])
    sudo = copied / "usr/local/bin/sudo"
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    before = listing(copied)
    install, remove = SECTIONS["Debian and Ubuntu"]
    ended = root.run("sh", "-euc", "cd /work; " + install.replace(RELEASES, published))
    assert ended.returncode == 0, ended.stderr
    assert root.loadline("--version").stdout == f"loadline {VERSION}\n"
    assert {"usr/bin/loadline", "usr/share/man/man1/loadline.1.gz"} < listing(copied) - before
    ended = root.run("sh", "-euc", remove.replace("remove", "remove --yes"))
    assert ended.returncode == 0, ended.stderr
    left = {path for path in listing(copied) - before if not path.startswith(("var/", "work/"))}
    assert left == set()


def listing(root):
    """All files of a root but those of the kernel."""
    found = subprocess.run(["find", str(root), "-xdev", "-printf", "%P\\n"], capture_output=True,
                           text=True, check=True)
    return set(found.stdout.splitlines())


def test_pip(copied):
    root = Root(copied, ["/work/venv/bin/loadline"],
                {**BARE, "PATH": f"/work/venv/bin:{BARE['PATH']}"})
    assert root.run("python3", "-m", "venv", "/work/venv").returncode == 0
    native, locust = SECTIONS["pip"]
    for script in (native, locust):
        ended = root.run("sh", "-euc", script)
        assert ended.returncode == 0, ended.stderr
        if script == native:
            installed = root.run("pip", "list", "--format=json").stdout
            names = {package["name"] for package in json.loads(installed)}
            assert names == {"loadline", "pip", "setuptools"}
            said = root.loadline("locust", "--headless").stderr
            assert said.endswith("pip install 'loadline[locust]'\n") and said.count("\n") == 1
    root.write("locustfile.py", LOCUSTFILE)
    with target() as server:
        words = ["-f", "locustfile.py", "--headless", "-t", "2s", "-H", server.rstrip("/")]
        ended = root.loadline("locust", *words)
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"^GET +/ +[1-9]", ended.stderr + ended.stdout, re.MULTILINE), ended.stderr


def test_containers(tmp_path, python_image):
    images = {"ghcr.io/loadline/loadline": package() / "loadline-image.tar",
              "ghcr.io/loadline/loadline-python": python_image}
    lines = [line for block in SECTIONS["Containers"] for line in block.splitlines()]
    assert len(lines) == 3
    with target() as server:
        for number, line in enumerate(lines):
            words = shlex.split(line.replace("$PWD", "PWD").replace(SERVER, server)
                                .replace(SERVER.rstrip("/"), server.rstrip("/")))
            assert words[:5] == ["docker", "run", "--rm", "--network", "host"]
            words = words[7:] if words[5:7] == ["-v", "PWD:/work"] else words[5:]
            folder = tmp_path / str(number)
            config = unpack_image(images[words[0]], folder)
            environment = dict(variable.split("=", 1) for variable in config["Env"])
            root = Root(folder, config["Entrypoint"], {**environment, "HOME": "/"})
            root.write("locustfile.py", LOCUSTFILE)
            assert config["WorkingDir"] == "/work"
            short = ["-d", "1s"] if "locust" not in words else []
            ended = root.loadline(*words[1:], *short)
            assert ended.returncode == 0, ended.stderr
            assert "p99" in ended.stdout or "Aggregated" in ended.stdout + ended.stderr
            if "html=report.html" in words:
                assert root.read("report.html").lower().startswith("<!doctype html>")
