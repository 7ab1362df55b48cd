"""The files of a locustfile, as they travel to agents."""

import base64
import os
import pickle

import command_support  # noqa: F401  our package comes first
import pytest
from locust.rpc.pipe import Pipe, plain

from loadline.locust_runner import bundle
from loadline.locust_runner.bundle import Bundle, TooMuch, unpack


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def packed(folder, locustfiles, read=()):
    one = Bundle()
    for name in read:
        (folder / name).read_text()
    one.close()
    (folder / "unread.txt").read_text()
    return one.pack([str(folder / name) for name in locustfiles])


def test_files_that_were_read_lie_elsewhere_as_they_do_here(tmp_path, monkeypatch):
    here = tmp_path / "here"
    make(tmp_path, "here/sub/locustfile.py", "here/data/a.txt", "here/unread.txt", "there/b.py",
         "there/c.txt", "else/d.txt")
    monkeypatch.chdir(here)
    files, names = packed(here, ["sub/locustfile.py", "../there/b.py"],
                          ["data/a.txt", "../there/c.txt", "../else/d.txt"])
    assert names == ["sub/locustfile.py", "outside-1/b.py"]
    assert sorted(files) == ["data/a.txt", "outside-1/b.py", "outside-1/c.txt",
                             "sub/locustfile.py"]
    place = tmp_path / "place"
    place.mkdir()
    unpack(files, str(place))
    assert (place / "data" / "a.txt").read_text() == "here/data/a.txt"
    assert (place / "outside-1" / "c.txt").read_text() == "there/c.txt"


def test_more_than_travels_is_refused(tmp_path, monkeypatch):
    make(tmp_path, "locustfile.py", "a.txt", "unread.txt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bundle, "_MOST_FILES", 1)
    with pytest.raises(TooMuch, match="more than agents are sent"):
        packed(tmp_path, ["locustfile.py"], ["a.txt"])
    monkeypatch.setattr(bundle, "_MOST_FILES", 10)
    monkeypatch.setattr(bundle, "_MOST_BYTES", 15)
    with pytest.raises(TooMuch, match="Put large files on the agents"):
        packed(tmp_path, ["locustfile.py"], ["a.txt"])


def encoded(*names):
    return {name: base64.b64encode(b"x").decode() for name in names}


@pytest.fixture
def place(tmp_path):
    """A folder of a part, beside which nothing else may come to lie."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def refused(files, place, sentence):
    """Whether files are refused with one sentence, and nothing of them is written."""
    before = sorted(os.listdir(place))
    with pytest.raises(ValueError) as refusal:
        unpack(files, str(place))
    said = str(refusal.value)
    assert sentence in said, said
    assert "\n" not in said and ": " in said, said
    assert sorted(os.listdir(place)) == before
    return sorted(os.listdir(place.parent)) == ["place"]


@pytest.mark.parametrize(
    "name", ["../a", "/tmp/a", "b/../../a", "..", ".", "", "a/..", "a\0b", "../place-b/a"]
)
def test_files_that_would_lie_elsewhere_are_refused(place, name):
    assert refused(encoded("good.py", name), place, "outside of the folder of its part")


def test_files_behind_a_symlink_are_refused(place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (place / "link").symlink_to(elsewhere)
    (place / "to_file").symlink_to(elsewhere / "made")
    assert refused(encoded("link/a"), place, "'link/a' of the test would lie behind a symlink")
    assert refused(encoded("to_file"), place, "'to_file' of the test would lie behind a symlink")
    assert os.listdir(elsewhere) == []


def test_files_in_files_and_twice_at_one_place_are_refused(place):
    assert refused(encoded("a", "b/c", "a/b/c"), place, "'a/b/c' of the test would lie in another")
    assert refused(encoded("a/b", "a/./b"), place, "would lie at one place")


def test_more_files_and_bytes_than_travel_are_refused(place, monkeypatch):
    many = encoded(*(f"f{number}" for number in range(100_000)))
    assert refused(many, place, "comes with 100000 files, and an agent takes at most 10000")
    monkeypatch.setattr(bundle, "_MOST_BYTES", 1 << 20)
    half = base64.b64encode(bytes((1 << 19) + 1)).decode()
    assert refused({"a": half, "b": half}, place, "more than 1 MiB")
    unpack({"a": half}, str(place))
    assert (place / "a").stat().st_size == (1 << 19) + 1
    assert (place / "a").stat().st_mode & 0o077 == 0


def test_contents_that_are_none_are_refused(place):
    for text in ("?", "YQ", "YQ==\n!"):
        assert refused({"good.py": "", "a": text}, place, "'a' of the test is not in base64")
    assert refused(encoded("x" * 300), place, "can't be written")


def test_messages_of_agents_are_plain_data():
    data = {"a": [1, 2.5, None, True, "é", b"x", (1,), {2}, frozenset({3})]}
    assert plain(pickle.dumps(data)) == data
    for harmful in (os.system, Pipe, ValueError("x")):
        with pytest.raises(pickle.UnpicklingError, match="it has an object of"):
            plain(pickle.dumps(harmful))
