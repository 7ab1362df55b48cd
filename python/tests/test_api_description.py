"""The API of the live page answers as its description says, whatever it is asked.

Schemathesis makes requests of the description (OpenAPI), among them many that it forbids.
"""

import json
import os
import subprocess
import sys
import urllib.request

import pytest
from command_support import await_line, begin, native_command
from page_support import open_page

# No server error, and the status, the type, the fields and the JSON are those that are described;
# what the description forbids is refused. What it allows may be refused as well: a check that is
# none, a run that is not there.
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,"
          "response_headers_conformance,response_schema_conformance,negative_data_rejection,"
          "unsupported_method,allow_header_conformance")
# Streams, which have no end, and what begins or ends a run.
LEFT_OUT = "(events|/start|/stop|/abort|/end)$"
# Far more than a slow machine needs for the requests of so many seconds.
PATIENCE = 300


def assert_described(address, folder, seconds, *more):
    """Have requests made for a while, and each answer compared with the description."""
    tool = os.path.join(os.path.dirname(sys.executable), "schemathesis")
    said = subprocess.run(
        [tool, "run", f"{address}api/v1/openapi.json", "--url", address.rstrip("/"),
         "--checks", CHECKS, "--exclude-path-regex", LEFT_OUT,
         "--phases", "examples,coverage,fuzzing", "--seed", "1", "--max-time", str(seconds),
         "--continue-on-failure", "--no-color", *more],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert said.returncode == 0, said.stdout[-10_000:] + said.stderr[-2_000:]
    assert " passed" in said.stdout, said.stdout


def post(address, name, body):
    """Send a command."""
    request = urllib.request.Request(f"{address}api/v1/{name}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


@pytest.fixture
def target():
    """The address of a server that takes its time."""
    words = ["serve", "--listen", "127.0.0.1:0", "--delay", "50ms"]
    with subprocess.Popen([native_command(), *words], stdout=subprocess.PIPE, text=True) as server:
        yield await_line(server, r"http://\S+")[0]
        server.kill()


# Two connections: to whatever level the load is brought, the machine remains free.
PLAN = """
url = "{target}"
rate = 20
connections = 2
max_connections = 2
duration = "10m"
"""


def test_the_api_answers_as_it_is_described(target, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.format(target=target))
    process = begin(["web", "--listen", "127.0.0.1:0"], tmp_path, None, [native_command()])
    try:
        page = open_page(process, "Start runs at")
        assert post(page.address, "start", {"target": "plan.toml"})["message"]
        page.await_that(lambda state: state["figures"]["answered"] > 0)
        assert_described(page.address, tmp_path, 20)
        post(page.address, "abort", {})
        page.await_that(lambda state: state["can_start"])
        # There is a run now to be listed, compared and downloaded.
        assert_described(page.address, tmp_path, 10, "--include-method", "GET")
    finally:
        process.kill()
        process.wait()
