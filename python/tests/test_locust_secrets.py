"""No page and no other file of a locustfile's test has a password."""

import pytest
from command_support import Ended, Server, begin, native_command, write

SECRET = "hunter2-hunter2"
# `me:hunter2-hunter2`, as basic authentication sends it.
BASIC = "bWU6aHVudGVyMi1odW50ZXIy"

VISITOR = """
    from locust import FastHttpUser, constant, task

    class Visitor(FastHttpUser):
        wait_time = constant(0.05)

        @task
        def front(self):
            self.client.get("/front")
"""


@pytest.mark.parametrize("page", [True, False])
def test_a_password_in_the_host_is_in_no_file(tmp_path, page):
    native_command()
    write(tmp_path, VISITOR)
    with Server() as server:
        host = server.url.replace("://", f"://me:{SECRET}@")
        ended = Ended(begin(
            ["--headless", "-u", "2", "-r", "2", "-t", "1", "-H", host, "--only-summary",
             "--allow-invalid", "--html", "page.html", "--json-file", "tables", "--csv", "rows",
             "--logfile", "log", "--out", "loadline=a.run", "--out", "json=a.json", "--out",
             "csv=a.csv", "--out", "sqlite=a.db", "--out", "text=a.txt"] if page else
            ["--headless", "-u", "2", "-r", "2", "-t", "1", "-H", host, "--only-summary",
             "--html", "page.html"],
            tmp_path, None if page else {"LOADLINE_PROGRAM": "/nowhere"}))
    assert ended.code == 0, ended.err
    assert (tmp_path / "page.html").exists()
    for path in tmp_path.iterdir():
        content = path.read_bytes() if path.is_file() else b""
        for form in (SECRET, BASIC):
            assert form.encode() not in content, f"{form} is in {path.name}"
