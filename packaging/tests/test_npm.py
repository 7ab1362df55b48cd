"""The packages for npm: what `npx loadline` installs, runs, passes on and says."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest
from machines import VERSION, first_line, run, succeed, target
from registry import registry

pytestmark = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")


@pytest.fixture(scope="module")
def project(tmp_path_factory, packed):
    """A project in which the package was installed from a registry."""
    folder = tmp_path_factory.mktemp("project")
    with registry(packed) as url:
        succeed(["npm", "install", "--silent", "--no-audit", f"--registry={url}", "loadline"],
                cwd=folder, env=of(folder))
    return folder


def of(folder):
    """Variables of a user whose npm keeps everything in a folder."""
    return {**os.environ, "HOME": str(folder), "npm_config_cache": str(folder / ".npm"),
            "npm_config_update_notifier": "false"}


def command(project):
    """The command as npm put it there."""
    return project / "node_modules/.bin/loadline"


def test_npx_fetches_and_runs_it(tmp_path, packed):
    with registry(packed) as url, target() as server:
        words = ["npx", "--yes", f"--registry={url}", "loadline", "-n", "20", "-c", "2",
                 "-o", "json", "--allow-invalid", server]
        report = json.loads(succeed(words, cwd=tmp_path, env=of(tmp_path)))
    assert report["summary"]["answered"] == 20


def test_the_command_is_the_version_of_the_package(project):
    assert succeed([command(project), "--version"]).strip() == f"loadline {VERSION}"
    about = json.loads((project / "node_modules/loadline/package.json").read_text())
    assert about["version"] == VERSION
    assert about["optionalDependencies"] == {
        f"@loadline/linux-{cpu}": VERSION for cpu in ["arm64", "x64"]}


def test_words_output_and_exit_code_are_those_of_the_command(project):
    ended = run([command(project), "no such host.example/", "a b"])
    assert ended.returncode == 2
    assert ended.stderr.startswith("loadline: ") and ended.stderr.count("\n") == 1


def test_a_signal_reaches_the_command(project):
    words = [command(project), "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL) as server:
        assert first_line(server).startswith("Serving on ")
        children = f"/proc/{server.pid}/task/{server.pid}/children"
        with open(children, encoding="ascii") as listed:
            child = int(listed.read().split()[0])
        server.send_signal(signal.SIGTERM)
        ended = server.wait(timeout=30)
    assert ended in (0, 130, -signal.SIGTERM)
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            return
        time.sleep(0.1)
    raise AssertionError(f"process {child} still runs")


def test_without_the_package_of_the_platform_it_says_what_to_do(project, tmp_path):
    shutil.copytree(project / "node_modules/loadline", tmp_path / "loadline")
    ended = run(["node", tmp_path / "loadline/loadline.js", "--version"])
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == ("loadline: the package @loadline/linux-x64 is not there: install "
                            "loadline again, with its optional dependencies.\n")
