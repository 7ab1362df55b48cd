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


@pytest.mark.parametrize("name", ["../a", "/tmp/a", "b/../../a"])
def test_files_that_would_lie_elsewhere_are_refused(tmp_path, name):
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(ValueError, match="does not lie below its folder"):
        unpack({name: base64.b64encode(b"x").decode()}, str(place))
    assert os.listdir(place) == []


def test_messages_of_agents_are_plain_data():
    data = {"a": [1, 2.5, None, True, "é", b"x", (1,), {2}, frozenset({3})]}
    assert plain(pickle.dumps(data)) == data
    for harmful in (os.system, Pipe, ValueError("x")):
        with pytest.raises(pickle.UnpicklingError, match="it has an object of"):
            plain(pickle.dumps(harmful))
