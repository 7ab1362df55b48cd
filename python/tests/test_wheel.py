"""What `make wheel` looks at in the wheel: its programs and libraries, and its metadata."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from command_support import PACKAGES

SCRIPTS = os.path.join(os.path.dirname(PACKAGES), "scripts")
METADATA = """\
Metadata-Version: 2.4
Name: loadline
Author: The Loadline authors
License-Expression: MIT OR Apache-2.0
Description-Content-Type: text/markdown; charset=UTF-8
Project-URL: Homepage, https://example.org

# Loadline
"""
# A program that needs some version of the C library, whichever.
PROGRAM = os.path.realpath(shutil.which("sort") or sys.executable)

pytestmark = pytest.mark.skipif(not shutil.which("readelf"), reason="readelf is not installed")


def need():
    told = subprocess.run([os.path.join(SCRIPTS, "glibc"), PROGRAM], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return tuple(int(number) for number in told.stdout.strip().split("."))


def checked(folder, tag, metadata=METADATA, licences=("LICENSE-APACHE", "LICENSE-MIT")):
    path = os.path.join(folder, f"loadline-0.1.0-cp310-abi3-{tag}_x86_64.whl")
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.write(PROGRAM, "loadline-0.1.0.data/scripts/loadline")
        wheel.writestr("loadline/__init__.py", "")
        wheel.writestr("loadline-0.1.0.dist-info/METADATA", metadata)
        for name in licences:
            wheel.writestr(f"loadline-0.1.0.dist-info/licenses/{name}", "text")
    command = [sys.executable, os.path.join(SCRIPTS, "wheel-check"), path]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_need_of_several_files_is_the_highest():
    script = os.path.join(SCRIPTS, "glibc")
    several = [script, sys.executable, PROGRAM, PROGRAM]
    told = [subprocess.run([script, *files], capture_output=True, text=True).stdout
            for files in ([sys.executable], [PROGRAM], several[1:], [])]
    one, other, both, none = ([int(part) for part in text.split(".")] for text in told)
    assert (both, none) == (max(one, other), [0])


def test_a_wheel_that_promises_what_it_needs_is_taken(tmp_path):
    ended = checked(tmp_path, "manylinux_%d_%d" % need())
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_wheel_that_promises_too_much_is_refused(tmp_path):
    major, minor = need()[:2]
    ended = checked(tmp_path, f"manylinux_{major}_{minor - 1}")
    assert ended.returncode == 1
    assert f"scripts/loadline needs glibc {major}.{minor}" in ended.stderr
    assert f"the name promises {major}.{minor - 1}." in ended.stderr


def test_a_wheel_that_promises_nothing_is_refused(tmp_path):
    ended = checked(tmp_path, "linux")
    assert (ended.returncode, "Build it with make wheel." in ended.stderr) == (1, True)


@pytest.mark.parametrize("line, said", [
    ("Author:", "no authors"),
    ("License-Expression:", "no licence"),
    ("Project-URL:", "no home page"),
    ("# Loadline", "no description"),
])
def test_metadata_that_is_missing_is_named(tmp_path, line, said):
    kept = [one for one in METADATA.splitlines(keepends=True) if not one.startswith(line)]
    ended = checked(tmp_path, "manylinux_%d_%d" % need(), "".join(kept))
    assert (ended.returncode, said in ended.stderr) == (1, True), ended.stderr


def test_a_missing_licence_is_named(tmp_path):
    ended = checked(tmp_path, "manylinux_%d_%d" % need(), licences=("LICENSE-MIT",))
    assert (ended.returncode, "LICENSE-APACHE is missing" in ended.stderr) == (1, True)
