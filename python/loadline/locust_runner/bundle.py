"""The files that a locustfile needs on another machine: which they are, and how they travel.

They are the locustfiles, the modules that these have imported from their own folder or from the
current one, with all of a package's modules, and the files there that were read meanwhile. On the
other machine they lie as they do here, below the current folder.
"""

import base64
import os
import sys
import sysconfig

# The most that travels.
_MOST_BYTES = 64 << 20
_MOST_FILES = 10_000

_OWN_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Where the folders lie of locustfiles that are not below the current one.
_OUTSIDE = "outside-%d"


class TooMuch(Exception):
    """More than travels; the text says how much that is."""


class Bundle:
    """Notes which files are read, until `close`."""

    def __init__(self):
        self._read = set()
        self._notes = True
        sys.addaudithook(self._on_event)

    def _on_event(self, event, arguments):
        if event != "open" or not self._notes:
            return
        path, _mode, flags = arguments
        if isinstance(path, (str, os.PathLike)) and not (flags or 0) & os.O_ACCMODE:
            self._read.add(os.path.abspath(path))

    def close(self):
        """Note no more."""
        self._notes = False

    def pack(self, locustfiles):
        """`(files, names)`: contents by name as JSON has them, and the names of the locustfiles.

        Raises TooMuch.
        """
        locustfiles = [os.path.abspath(path) for path in locustfiles]
        roots = [os.getcwd(), *(os.path.dirname(path) for path in locustfiles)]
        paths = {path for path in self._read | _imported() if _is_local(path, roots)}
        files, size = {}, 0
        for path in sorted(paths | set(locustfiles)):
            try:
                with open(path, "rb") as file:
                    contents = file.read(_MOST_BYTES + 1)
            except OSError:
                # It was removed since, or is a folder.
                continue
            size += len(contents)
            if size > _MOST_BYTES or len(files) == _MOST_FILES:
                raise TooMuch(
                    f"The locustfile reads more than {_MOST_BYTES >> 20} MiB or {_MOST_FILES} "
                    "files while it is loaded, which is more than agents are sent. Put large "
                    "files on the agents, and open them by an absolute path in a listener of init."
                )
            files[_name(path, roots)] = base64.b64encode(contents).decode()
        return files, [_name(path, roots) for path in locustfiles]


def unpack(files, folder):
    """Write files into a folder.

    ValueError with a sentence if these are no files that `pack` returns; then none is written.
    """
    if len(files) > _MOST_FILES:
        raise ValueError(
            f"The test comes with {len(files)} files, and an agent takes at most {_MOST_FILES}: "
            "put data on the agents, and open it by an absolute path in a listener of init"
        )
    folder = os.path.realpath(folder)
    places = {name: _place(name, folder) for name in files}
    _refuse_files_as_folders(places, folder)
    contents = _decoded(files)
    for name, path in places.items():
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # Nothing is there that could lead elsewhere.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(path, flags, 0o600), "wb") as file:
                file.write(contents[name])
        except OSError as e:
            raise ValueError(
                f"The file '{name}' of the test can't be written on the agent ({e.strerror}): "
                "rename it, or make room there"
            ) from None


def _place(name, folder):
    """Where a file of this name lies. ValueError if that is not in the folder itself."""
    path = os.path.normpath(os.path.join(folder, name))
    is_plain = name and "\0" not in name and not os.path.isabs(name)
    if not is_plain or path == folder or not _is_below(path, folder):
        raise ValueError(
            f"The file '{_shown(name)}' of the test would lie outside of the folder of its part: "
            "begin the test with 'loadline locust', which sends none"
        )
    if os.path.realpath(path) != path:
        raise ValueError(
            f"The file '{_shown(name)}' of the test would lie behind a symlink: "
            "begin the test again, so that its folder is a new one"
        )
    return path


def _refuse_files_as_folders(places, folder):
    paths = set(places.values())
    if len(paths) < len(places):
        raise ValueError(
            "Two files of the test would lie at one place: "
            "begin the test with 'loadline locust', which sends each once"
        )
    for name, path in places.items():
        above = os.path.dirname(path)
        while above != folder:
            if above in paths:
                raise ValueError(
                    f"The file '{_shown(name)}' of the test would lie in another file: "
                    "begin the test with 'loadline locust', which sends none"
                )
            above = os.path.dirname(above)


def _decoded(files):
    """The contents of files, by name. ValueError if they are too long, or none."""
    contents, size = {}, 0
    for name, text in files.items():
        text = text if isinstance(text, str) else "?"
        # Four characters have three bytes.
        size += len(text) // 4 * 3 - text[-2:].count("=")
        if size > _MOST_BYTES:
            raise ValueError(
                f"The files of the test have more than {_MOST_BYTES >> 20} MiB, which is more than "
                "an agent takes: put large files on the agents, and open them by an absolute path "
                "in a listener of init"
            )
        try:
            contents[name] = base64.b64decode(text, validate=True)
        except ValueError:
            raise ValueError(
                f"The file '{_shown(name)}' of the test is not in base64: "
                "begin the test with 'loadline locust', which sends no other"
            ) from None
    return contents


def _shown(name):
    return repr(name)[1:-1]


def _imported():
    """The files of all modules, and of all in their packages."""
    found = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        found.add(os.path.abspath(file))
        if os.path.basename(file) == "__init__.py":
            found |= _modules_below(os.path.dirname(os.path.abspath(file)))
    return found


def _modules_below(folder):
    if _is_installed(folder):
        return set()
    return {
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    }


def _is_local(path, roots):
    return not _is_installed(path) and any(_is_below(path, root) for root in roots)


def _is_installed(path):
    """Whether a file belongs to Python, or to what is installed for it."""
    parts = path.split(os.sep)
    if not {"site-packages", "dist-packages", "__pycache__"}.isdisjoint(parts):
        return True
    places = (_OWN_PACKAGE, sysconfig.get_path("stdlib"), "/proc", "/dev", "/sys", "/etc")
    return any(_is_below(path, place) for place in places)


def _is_below(path, folder):
    return os.path.commonpath((path, folder)) == folder


def _name(path, roots):
    """The name of a file below the folder of a part."""
    here, *others = roots
    if _is_below(path, here):
        return os.path.relpath(path, here)
    for number, folder in enumerate(others):
        if _is_below(path, folder):
            return os.path.join(_OUTSIDE % number, os.path.relpath(path, folder))
    raise ValueError(path)
