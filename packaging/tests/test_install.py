"""install.sh: what it makes of a release, and what it says and leaves where it can't."""

import os
import shutil
import subprocess

import pytest
from machines import ROOT, TARBALL, VERSION, files_in, releases, succeed

SCRIPT = ROOT / "install.sh"
# What it calls, for a machine that has one command less.
COMMANDS = ["sh", "curl", "wget", "sha256sum", "tar", "gzip", "mktemp", "uname", "grep", "mkdir",
            "cp", "mv", "rm", "rmdir", "dirname"]


class Home:
    """A machine's home and folder for temporary files, and what happened there."""

    def __init__(self, folder, releases):
        self.home, self.temporary = folder / "home", folder / "tmp"
        self.commands = folder / "commands"
        for made in (self.home, self.temporary, self.commands):
            made.mkdir()
        self.variables = {"HOME": str(self.home), "TMPDIR": str(self.temporary),
                          "LOADLINE_RELEASES": releases, "PATH": os.environ["PATH"]}
        self.command = self.home / ".local/bin/loadline"

    def install(self, before=(), **variables):
        """Run the script as `curl … | sh` does."""
        with open(SCRIPT, encoding="utf-8") as script:
            return subprocess.run([*before, "sh"], stdin=script, capture_output=True, text=True,
                                  env={**self.variables, **variables}, timeout=60)

    def fail(self, before=(), **variables):
        """Run it where it can't; it has to leave nothing, and to say one sentence."""
        there = files_in(self.home, self.temporary)
        ended = self.install(before, **variables)
        assert (ended.returncode, ended.stdout) == (1, ""), ended
        assert files_in(self.home, self.temporary) == there
        assert ended.stderr.startswith("install.sh: ") and ended.stderr.count("\n") == 1, ended
        return ended.stderr.removeprefix("install.sh: ").strip()

    def only(self, *left_out):
        """A PATH without some commands."""
        for name in COMMANDS:
            found = shutil.which(name)
            if found and name not in left_out:
                (self.commands / name).symlink_to(found)
        return str(self.commands)


@pytest.fixture
def home(tmp_path, released):
    """A machine without Loadline."""
    return Home(tmp_path, released)


def test_it_puts_the_latest_release_into_the_home(home):
    ended = home.install()
    version = f"loadline {VERSION}"
    assert ended.stdout.splitlines() == [
        f"{version} is now {home.command}.",
        f'Add it to your PATH: export PATH="{home.command.parent}:$PATH"',
    ]
    assert (ended.returncode, ended.stderr) == (0, "")
    assert succeed([home.command, "--version"]).strip() == version
    assert files_in(home.temporary) == []
    assert [path.name for path in home.command.parent.iterdir()] == ["loadline"]


def test_it_replaces_an_older_one_and_says_nothing_of_a_path_that_has_it(home, tmp_path):
    folder = tmp_path / "my programs"
    folder.mkdir()
    (folder / "loadline").write_text("old", encoding="utf-8")
    path = f"{folder}:{os.environ['PATH']}"
    ended = home.install(LOADLINE_TO=str(folder), LOADLINE_VERSION=VERSION, PATH=path)
    assert ended.stdout == f"loadline {VERSION} is now {folder}/loadline.\n", ended
    assert files_in(home.home) == []


def test_wget_does_as_well(home):
    assert home.install(PATH=home.only("curl")).returncode == 0
    assert home.command.exists()


def test_without_either_it_names_both(home):
    said = home.fail(PATH=home.only("curl", "wget"))
    assert said == "neither curl nor wget is there: install one of them and try again."


@pytest.mark.parametrize("system, machine", [("Darwin", "arm64"), ("Linux", "riscv64")])
def test_another_system_is_named(home, system, machine):
    path = home.only("uname")
    uname = home.commands / "uname"
    uname.write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {machine}\n')
    uname.chmod(0o755)
    said = home.fail(PATH=path)
    assert said.startswith(f"there is no release for {system} on {machine}, only for Linux on")


def test_a_wrong_sum_is_refused(tmp_path, release):
    folder = tmp_path / "release"
    shutil.copytree(release, folder)
    with open(folder / TARBALL, "ab") as tarball:
        tarball.write(b"\0")
    with releases(folder) as url:
        said = Home(tmp_path, url).fail()
    assert said.startswith(f"the sum of {TARBALL} is not that of the release: try again")


def test_a_release_without_its_sum_is_refused(tmp_path, release):
    folder = tmp_path / "release"
    shutil.copytree(release, folder)
    (folder / "SHA256SUMS").write_text("0 install.sh\n", encoding="utf-8")
    with releases(folder) as url:
        assert f"the sum of {TARBALL} is not" in Home(tmp_path, url).fail()


def test_a_version_that_there_is_not_is_named(home):
    said = home.fail(LOADLINE_VERSION="99.0.0")
    assert f"/download/v99.0.0/{TARBALL} can't be downloaded: look at the version" in said


def test_a_folder_that_can_not_be_made_is_named(home):
    taken = home.home / "file"
    taken.write_text("", encoding="utf-8")
    said = home.fail(LOADLINE_TO=f"{taken}/bin")
    assert said.startswith(f"{taken}/bin can't be written to: make room there, or name a folder")


@pytest.mark.parametrize("place, room, sentence", [
    ("home", 1, "can't be written to: make room there, or name a folder of yours in LOADLINE_TO."),
    ("tmp", 1, "can't hold the download: make room there, or name another folder in TMPDIR."),
    ("tmp", 2, "can't hold the unpacked command: make room there, or name another folder in "
               "TMPDIR."),
])
def test_where_there_is_no_space_it_says_so(home, tmp_path, release, place, room, sentence):
    # Less than the tarball, or a little more than that.
    size = (release / TARBALL).stat().st_size * room * 2 // 3
    mount = f"mount -t tmpfs -o size={size} none '{tmp_path / place}'"
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*alone, mount], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here, not even in a namespace")
    look = f"'{tmp_path / place}' -mindepth 1"
    script = f'{mount}; sh; code=$?; find {look} >&2; exit $code'
    assert home.fail([*alone, script]).endswith(sentence)


def test_it_is_short_and_asks_for_no_rights():
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert "sudo" not in text and "su " not in text
