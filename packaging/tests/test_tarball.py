"""The tarball, and what finds it by its name and sum: Homebrew's formula, `cargo binstall`."""

import hashlib
import re
import shutil
import tarfile

import pytest
from machines import MANIFEST, RELEASES, ROOT, SITE, TARBALL, TARGET, VERSION, pack, succeed

try:
    import tomllib
except ImportError:
    import tomli as tomllib

NAME = f"loadline-{TARGET}"


def test_it_has_the_command_its_manual_completions_and_licences(release):
    with tarfile.open(release / TARBALL) as tarball:
        files = {file.name: file for file in tarball if file.isfile()}
        text = tarball.extractfile(f"{NAME}/THIRD-PARTY-LICENCES.txt").read().decode()
    assert sorted(files) == [f"{NAME}/{file}" for file in (
        "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENCES.txt",
        "completions/_loadline", "completions/loadline.bash", "completions/loadline.fish",
        "loadline", "man/loadline.1")]
    assert files[f"{NAME}/loadline"].mode == 0o755
    assert {(file.uid, file.gid, file.mtime) for file in files.values()} == {(0, 0, 1700000000)}
    assert all(file.size for file in files.values())
    for one in ("rustls", "luajit-src", "rquickjs-sys", "libsqlite3-sys", "preact", "The GNU C"):
        assert f"{one} " in text, one
    assert "proptest " not in text


def test_the_sums_are_those_of_the_files(release):
    lines = (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = dict(reversed(line.split()) for line in lines)
    assert set(sums) == {TARBALL, "install.sh", "loadline.rb"}
    for name, sum in sums.items():
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == sum


def test_the_formula_names_the_tarball_and_its_sum(release):
    formula = (release / "loadline.rb").read_text(encoding="utf-8")
    field = dict(re.findall(r'^  (\w+) "(.*)"$', formula, re.MULTILINE))
    assert field["url"] == f"{RELEASES}/download/v{VERSION}/{TARBALL}"
    assert (field["version"], field["homepage"]) == (VERSION, SITE)
    assert field["sha256"] == hashlib.sha256((release / TARBALL).read_bytes()).hexdigest()
    with tarfile.open(release / TARBALL) as tarball:
        names = tarball.getnames()
    for file in re.findall(r'\.install "([^"]+)"', formula):
        assert f"{NAME}/{file}" in names
    assert "@" not in formula


def test_the_formula_is_ruby(release):
    if not shutil.which("ruby"):
        pytest.skip("ruby is not installed; make test-package installs it")
    assert succeed(["ruby", "-c", release / "loadline.rb"]) == "Syntax OK\n"


def test_cargo_binstall_is_told_where_the_tarball_and_the_command_are(release):
    manifest = tomllib.loads((ROOT / "crates/loadline/Cargo.toml").read_text(encoding="utf-8"))
    told = manifest["package"]["metadata"]["binstall"]
    words = {"repo": MANIFEST["workspace"]["package"]["repository"], "version": VERSION,
             "name": manifest["package"]["name"], "target": TARGET, "bin": "loadline",
             "binary-ext": ""}

    def filled(template):
        return re.sub(r"\{ (.+?) \}", lambda found: words[found[1]], template)

    assert filled(told["pkg-url"]) == f"{RELEASES}/download/v{VERSION}/{TARBALL}"
    with tarfile.open(release / TARBALL) as tarball:
        assert tarball.getmember(filled(told["bin-dir"])).mode & 0o111
    assert told["pkg-fmt"] == "tgz"


@pytest.mark.parametrize("words, sentence", [
    (["nonsense"], "package: nonsense is no kind of artefact: "),
    ([], "package FOLDER COMMAND KIND ...: makes release artefacts"),
])
def test_a_kind_that_there_is_not_is_refused(tmp_path, words, sentence):
    with pytest.raises(AssertionError, match=re.escape(sentence)):
        pack(tmp_path, *words)
