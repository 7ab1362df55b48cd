"""Keys that change the number of users while a test runs in a terminal, or open its page."""

import atexit
import logging
import sys

import gevent

logger = logging.getLogger(__name__)

_STEPS = {"w": 1, "W": 10, "s": -1, "S": -10}
_KEY_RATE = 100


def listen_to_keys(runner, url=None):
    """Follow the keys w, W, s and S, if stdin is a terminal; and Enter, if there is a page."""
    if not sys.stdin or not sys.stdin.isatty():
        return
    try:
        import termios
        import tty
    except ImportError:
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    atexit.register(termios.tcsetattr, descriptor, termios.TCSANOW, before)
    tty.setcbreak(descriptor)
    gevent.spawn(_follow_keys, descriptor, runner, url)


def _follow_keys(descriptor, runner, url):
    import os

    from gevent.socket import wait_read

    while True:
        wait_read(descriptor)
        key = os.read(descriptor, 1).decode("utf-8", "replace")
        if not key:
            return
        if key in "\r\n" and url:
            # A browser in the terminal would wait.
            import webbrowser

            gevent.get_hub().threadpool.spawn(webbrowser.open_new_tab, url)
        press(key, runner)


def press(key, runner):
    """Change the number of users as a key says."""
    step = _STEPS.get(key)
    if step is None:
        return
    if runner.state == "spawning":
        logging.warning(
            "Already spawning users, can't spawn more right now"
            if step > 0
            else "Spawning users, can't stop right now"
        )
        return
    runner.start(max(0, runner.user_count + step), _KEY_RATE)
