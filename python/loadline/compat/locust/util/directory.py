"""Python files below a folder."""

import os


def get_abspaths_in(directory, extension=None):
    """Absolute paths below `directory`; names that begin with `_` are left out."""
    found = []
    for folder, _, names in os.walk(directory):
        found += [
            os.path.abspath(os.path.join(folder, name))
            for name in names
            if not name.startswith("_") and (extension is None or name.endswith(extension))
        ]
    return sorted(found)
