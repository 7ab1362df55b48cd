"""A browser without a window, driven by its own protocol over a pipe (Chrome DevTools Protocol)."""

import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
# What says whether a page can be used by everybody; `npm ci` in web/ installs it.
AXE = pathlib.Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
_HANGS_SECONDS = 60


def _pipe():
    """The ends of a pipe, with numbers that are neither 3 nor 4."""
    ends = os.pipe()
    far = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
    for end in ends:
        os.close(end)
    return far


class Tab:
    """A page in a browser, which ends with the block."""

    def __init__(self, folder, url):
        ours, theirs = _pipe(), _pipe()
        words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--no-first-run", "--disable-sync", "--disable-background-networking",
                 "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        # The browser takes messages at 3 and answers at 4. dash knows no numbers of two digits.
        line = f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", line, "bash", *words], pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self._to = os.fdopen(ours[1], "wb")
        # Nothing that has come waits in a buffer of ours, where no select sees it.
        self._from = os.fdopen(theirs[0], "rb", buffering=0)
        self._rest = b""
        self._number, self._session = 0, None
        # The loads of a document that have ended.
        self._loaded = set()
        # What went wrong in the page.
        self.errors = []
        made = self._call("Target.createTarget", url="about:blank")
        attached = self._call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self._call(f"{domain}.enable")
        self._call("Page.setLifecycleEventsEnabled", enabled=True)
        self.open(url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._to.close()
        self._from.close()

    def open(self, url):
        """Open an address, and wait until all of its page is there."""
        opened = self._call("Page.navigate", url=url)
        assert "errorText" not in opened, opened
        until = time.monotonic() + _HANGS_SECONDS
        while opened["loaderId"] not in self._loaded:
            assert time.monotonic() < until, f"never loaded: {url}"
            self._note(self._receive())

    def value(self, expression):
        """The value of an expression in the page."""
        found = self._call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def await_that(self, expression):
        """Wait until an expression is true."""
        until = time.monotonic() + _HANGS_SECONDS
        while self.value(expression) is not True:
            assert time.monotonic() < until, f"never true: {expression}"
            time.sleep(0.05)

    def resize(self, width, height=900):
        """Show the page in a window of this width, in pixels."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, theme):
        """Have the system prefer `light` or `dark`."""
        self._call("Emulation.setEmulatedMedia",
                   features=[{"name": "prefers-color-scheme", "value": theme}])

    def assert_accessible(self):
        """Have axe look at the page, in both themes; it must find nothing serious."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: npm ci in web/")
        self.value(AXE.read_text() + "; true")
        for theme in ("light", "dark"):
            self.prefer(theme)
            found = self.value(
                "axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations"
                ".filter((one) => ['serious', 'critical'].includes(one.impact))"
                ".map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ')))")
            assert found == [], theme

    def assert_fits(self):
        """No part of the page is beyond the edge of a phone or of a screen."""
        for width in (390, 1440):
            self.resize(width)
            beyond = self.value("document.documentElement.scrollWidth - innerWidth")
            assert beyond <= 0, width

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            told = self._receive()
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _receive(self):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], _HANGS_SECONDS)
            assert ready, f"the browser says nothing for {_HANGS_SECONDS} s"
            more = self._from.read(65536)
            assert more, "the browser has ended"
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def _note(self, told):
        given = told.get("params", {})
        if told.get("method") == "Page.lifecycleEvent" and given["name"] == "load":
            self._loaded.add(given["loaderId"])
        is_wrong = {
            "Runtime.exceptionThrown": True,
            "Runtime.consoleAPICalled": given.get("type") == "error",
            "Log.entryAdded": given.get("entry", {}).get("level") == "error",
        }.get(told.get("method"), False)
        if is_wrong:
            self.errors.append(given)
