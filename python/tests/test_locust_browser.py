"""The page in a browser: what somebody does who starts a test there, and whether everybody can."""

import pytest
from browser_support import BROWSER, Tab
from command_support import Server, write
from web_support import Page

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed")

LOCUSTFILE = """
    from locust import HttpUser, constant, events, task

    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--kind", choices=["a", "b"], default="a", help="which one")
        parser.add_argument("--fast", type=bool, default=True)

    class Visitor(HttpUser):
        wait_time = constant(0.05)

        @task(3)
        def front(self):
            self.client.get("/")

        @task
        def away(self):
            self.client.get("/missing", name="/away")

        @task
        def throws(self):
            raise ValueError("thrown")
"""


def press(tab, name):
    """Press the button that is called so."""
    tab.value("[...document.querySelectorAll('button')]"
              f".find((one) => one.textContent === '{name}' && !one.hidden).click()")


def test_a_test_is_started_watched_noted_and_stopped_in_a_browser(tmp_path):
    write(tmp_path, LOCUSTFILE)
    with Server() as server, Page(tmp_path, "-H", server.url, "--class-picker") as page, \
            Tab(tmp_path / "profile", page.base + "/") as tab:
        tab.await_that("document.querySelector('#swarm button.main') !== null")
        tab.assert_accessible()
        tab.assert_fits()
        tab.value("document.querySelector('#swarm [name=user_count]').value = '3'; "
                  "document.querySelector('#swarm [name=spawn_rate]').value = '10'")
        press(tab, "Start")
        tab.await_that("document.querySelector('tr.total td:nth-child(4)')?.textContent > 0")
        for name in ("Failures", "Exceptions", "Current Ratio", "Download Data", "Logs",
                     "Statistics", "Charts"):
            press(tab, name)
            tab.await_that("document.querySelector('#tabs [aria-selected=true]').textContent === "
                           f"'{name}' && document.querySelector('#panel').children.length > 0")
            tab.assert_accessible()
            tab.assert_fits()
        tab.await_that("document.querySelectorAll('#panel polyline').length >= 3")
        write_note(tab, "deployed")
        tab.await_that("document.querySelectorAll('#panel line.note').length === 3")
        assert tab.value("document.querySelector('ol.notes').textContent").endswith("deployed")
        tab.assert_accessible()
        press(tab, "Edit")
        tab.await_that("document.querySelector('#editor').open")
        tab.assert_accessible()
        press(tab, "Cancel")
        press(tab, "Stop")
        tab.await_that("document.querySelector('#head').textContent.includes('stopped')")
        assert tab.errors == []
        for theme in ("light", "dark"):
            tab.open(f"{page.base}/stats/report?theme={theme}")
            tab.await_that(f"document.body.className === '{theme}'")
            tab.assert_accessible()
            tab.assert_fits()
        assert page.end()[0] == 1, "tasks failed"


def write_note(tab, text):
    """Write a note on an instant that is pressed on the axis of a chart."""
    tab.value(
        "const { left, bottom, width } = document.querySelector('#panel svg')"
        ".getBoundingClientRect(); "
        "document.querySelector('#panel svg').dispatchEvent(new MouseEvent('click', "
        "{ bubbles: true, clientX: left + width / 2, clientY: bottom - 3 }));")
    tab.await_that("document.querySelector('#when').textContent.startsWith('Note on ') && "
                   "document.querySelector('#when').textContent !== 'Note on now'")
    tab.value(f"document.querySelector('#note input').value = '{text}'")
    press(tab, "Write")
