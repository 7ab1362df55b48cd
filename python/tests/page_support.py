"""The API of Loadline's live page, for tests of locustfiles that are shown on it."""

import json
import threading
import time
import urllib.error
import urllib.request

from command_support import await_line

SECONDS = 60


class Page:
    """The API of a page."""

    def __init__(self, address):
        self.address = address

    def ask(self, path, body=None):
        """The status and the JSON of an answer; with a body it is sent by POST."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(self.address + path, data, SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def report(self):
        """The JSON report."""
        return self.ask("report.json")[1]

    def await_that(self, holds):
        """Wait until this holds of the state."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            _, state = self.ask("api/v1/state")
            if holds(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"not in {SECONDS} s: {state['phase']}, {state['figures']}")


def open_page(process, says):
    """The page whose address a process prints; the rest of what it prints is read elsewhere."""
    address = await_line(process, says + r" (http://\S+)", "stderr", SECONDS)[1]
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return Page(address)


def rest_of(process):
    """What a process still prints on stdout until its end."""
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.read()), daemon=True)
    reader.start()
    reader.join(SECONDS)
    assert said, f"it goes on after {SECONDS} s"
    return said[0]
