"""Roots of machines that have nothing but what one way of installing brings.

A root is a folder that a command is started in by chroot, in a network like this machine's.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest
from machines import run

# Nothing of this machine is passed on.
BARE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/work",
        "LC_ALL": "C.UTF-8"}


class Root:
    """A folder as the root of a machine."""

    def __init__(self, folder, command, environment=None):
        self.folder, self.command = pathlib.Path(folder), command
        self.environment = environment or BARE
        if os.geteuid() != 0:
            pytest.skip("chroot needs root")
        for place in ("work", "tmp"):
            (self.folder / place).mkdir(exist_ok=True)

    def loadline(self, *words):
        """Run the command there, in /work."""
        return self.run(*self.command, *words)

    def run(self, *words, **settings):
        """Run a program there, in /work."""
        def enter():
            os.chroot(self.folder)
            os.chdir("/work")

        return run(words, env=self.environment, preexec_fn=enter, **settings)

    def write(self, name, text):
        """A file in /work."""
        (self.folder / "work" / name).write_text(text, encoding="utf-8")

    def read(self, name):
        """The text of a file in /work."""
        return (self.folder / "work" / name).read_text(encoding="utf-8")


class Here(Root):
    """This machine, with a command in a folder and nothing on the path but what is named."""

    def __init__(self, folder, command, environment):
        self.folder, self.command = pathlib.Path(folder), command
        self.environment = environment
        (self.folder / "work").mkdir(exist_ok=True)

    def run(self, *words, **settings):
        """Run a program there, in its folder for work."""
        return run(words, env=self.environment, cwd=self.folder / "work", **settings)


def unpack_image(archive, folder):
    """The root of a container image (OCI), and its configuration."""
    layout = pathlib.Path(folder).with_suffix(".oci")
    with tarfile.open(archive) as packed:
        packed.extractall(layout, filter="tar")

    def blob(about):
        return layout / "blobs" / about["digest"].replace(":", "/")

    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]).read_text())
    pathlib.Path(folder).mkdir()
    for layer in manifest["layers"]:
        with tarfile.open(blob(layer)) as packed:
            packed.extractall(folder, filter="fully_trusted")
    config = json.loads(blob(manifest["config"]).read_text())["config"]
    shutil.rmtree(layout)
    return config


def debian(folder, *packages):
    """The root of a Debian with little in it."""
    words = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root",
             f"--include={','.join(packages)}", "bookworm", folder]
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed; make test-package installs it")
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
