"""What the tests of the sessions share: our package first on the path, and a running service."""

import contextlib
import importlib.metadata
import os
import select
import subprocess
import sys
from pathlib import Path

from gevent import monkey

HERE = Path(__file__).parent
OURS = [str(HERE.parent), str(HERE.parent / "loadline" / "compat")]


def use_ours():
    """Put our `locust` first. The real one's plugin of pytest imports the real: it is forgotten."""
    monkey.patch_all()  # before anything imports ssl
    _forget_the_real_one()
    for place in reversed(OURS):
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)


def _forget_the_real_one():
    file = getattr(sys.modules.get("locust"), "__file__", None) or ""
    if not file.startswith(OURS[1]):
        for name in [n for n in sys.modules if n.partition(".")[0] == "locust"]:
            del sys.modules[name]


@contextlib.contextmanager
def service(*certificate):
    """The port of a service that runs for the block, with TLS if there is a certificate."""
    command = [sys.executable, str(HERE / "http_service.py"), *map(str, certificate)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert select.select([process.stdout], [], [], 60)[0], "the service does not listen"
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def run_cases(kind, port, ours):
    """The cases of a kind with our package or with the real one: what it printed."""
    return run_script("http_cases.py", [kind, port], ours)


def run_script(script, arguments, ours):
    """What a script of this directory prints, with our package or with the real one."""
    start = "import http_support; http_support.use_ours(); " if ours else ""
    argv = [script, *map(str, arguments)]
    code = f"{start}import sys, runpy; sys.argv = {argv}; runpy.run_path({str(HERE / script)!r}, "
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [sys.executable, "-c", code + "run_name='__main__')"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def has_real_locust():
    """Whether the Locust that we are compared with is installed too."""
    try:
        return importlib.metadata.version("locust").startswith("2.47.")
    except importlib.metadata.PackageNotFoundError:
        return False
