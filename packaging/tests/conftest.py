"""What several of these tests need: a release, and a Debian that has little in it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from machines import pack, package, releases, run, succeed
from roots import debian

# What locustfiles need, for the Python of that Debian.
NEEDED = ["ConfigArgParse", "gevent", "requests"]


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """The folder of a small release of the command that is tested."""
    folder = tmp_path_factory.mktemp("release")
    pack(folder, "tarball", "formula", "sums")
    return folder


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    """The folder with both packages for npm."""
    folder = tmp_path_factory.mktemp("npm")
    pack(folder, "npm")
    return folder


@pytest.fixture
def released(release):
    """A server with that release; its URL."""
    with releases(release) as url:
        yield url


@pytest.fixture
def published(request):
    """A server with what make package made, or else with the small release; its URL."""
    named = os.environ.get("LOADLINE_PACKAGE")
    with releases(named or request.getfixturevalue("release")) as url:
        yield url


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """The root of a Debian with Python and curl, which is not to be changed.

    LOADLINE_DEBIAN names one that was made before, for who runs this often.
    """
    package()
    if os.environ.get("LOADLINE_DEBIAN"):
        return pathlib.Path(os.environ["LOADLINE_DEBIAN"])
    folder = tmp_path_factory.mktemp("debian") / "root"
    debian(folder, "ca-certificates", "curl", "python3-pip", "python3-venv")
    return folder


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """A folder with what pip has to find: the release's wheel, and what locustfiles need."""
    folder = tmp_path_factory.mktemp("wheels")
    for wheel in package().glob("*.whl"):
        os.link(wheel, folder / wheel.name)
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder,
             "--only-binary=:all:", "--python-version=3.11", *NEEDED]
    ended = run(words)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="session")
def python_image(tmp_path_factory, bare, wheels):
    """The image with Python, above one that stands in for Python's own."""
    folder = tmp_path_factory.mktemp("image")
    base = folder / "base"
    copy(bare, base, wheels)
    tar, archive, store = folder / "base.tar", folder / "base.oci", folder / "store"
    succeed(["tar", "-C", base, "-cf", tar, "."])
    podman = ["podman", "--root", store, "--runroot", folder / "run", "--storage-driver", "vfs"]
    succeed([*podman, "import", "--quiet", tar, "localhost/python"])
    save = ["save", "--quiet", "--format", "oci-archive", "--output", archive]
    succeed([*podman, *save, "localhost/python"])
    for wheel in package().glob("*.whl"):
        os.link(wheel, folder / wheel.name)
    pack(folder, "python-image", PYTHON_BASE=f"oci-archive:{archive}")
    return folder / "loadline-python-image.tar"


def copy(bare, folder, wheels):
    """A Debian in a folder, in which pip looks into /wheels alone."""
    subprocess.run(["cp", "-a", "--reflink=auto", str(bare), str(folder)], check=True)
    (folder / "usr/lib/python3.11/EXTERNALLY-MANAGED").unlink(missing_ok=True)
    settings = "[global]\nno-index = true\nfind-links = /wheels\n"
    pathlib.Path(folder, "etc/pip.conf").write_text(settings, encoding="utf-8")
    shutil.copytree(wheels, folder / "wheels")


@pytest.fixture
def copied(bare, wheels, tmp_path):
    """A Debian of one's own."""
    copy(bare, tmp_path / "debian", wheels)
    return tmp_path / "debian"
