"""Locust beside `loadline locust`: the same locustfiles and server, in turn. `speed.py` runs it.
One row compares with Loadline itself, whose users do the same without a locustfile.

Both write their counts with `--json-file`. CPU is that of the whole process, its start included.
Memory per user is the difference between the peaks of many users and of a hundred, divided by the
difference of the users.
"""

import json
import os
import pathlib
import shutil
import statistics

HEAD = "from locust import {user}, constant, task\n\n\nclass Bench({user}):\n"
GET = """
    @task
    def get(self):
        self.client.get("/")
"""
WAITS = "    wait_time = constant({seconds})\n"
BUSY = """
    number = 0

    @task
    def get(self):
        self.number += 1
        url = f"/json?page={self.number % 100}"
        with self.client.get(url, name="/json", catch_response=True) as response:
            if response.json()["a"]["b"] != 1:
                response.failure("the wrong page")
"""

# Users beside whom many are counted, and those many.
FEW, MANY = 100, 5_000


def locust():
    """The real Locust; None where it is not installed."""
    named = os.environ.get("LOCUST") or shutil.which("locust")
    if named and pathlib.Path(named).resolve().name != "loadline":
        return named
    return None


def median_of(result):
    """Counts and median of a run, from the file that `--out json=` wrote."""
    summary = json.loads(result.read_text())["summary"]
    return {"requests": summary["answered"], "p50_us": summary["response_time_us"]["p50"]}


class LocustRows:
    """The rows of the table that Locust is in."""

    def __init__(self, bench, loadline, run_client):
        self.bench, self.loadline, self.run_client = bench, loadline, run_client
        self.peer = locust()
        self.folder = bench.folder
        self.seconds = bench.options.seconds

    def run(self, wanted):
        """All rows whose scenario is wanted; `nginx` has to run."""
        rows = [
            ("Locust: get, 100 users", self.get),
            ("Locust: get, constant(0.05), 1 000 users", self.waits),
            ("Locust: catch_response, f-string, json", self.busy),
            ("Locust: get, constant(0.05), 1 000 users, median", self.median),
            ("Locust: memory", self.memory),
        ]
        rows = [(name, row) for name, row in rows if wanted(name)]
        if rows and not self.peer:
            print("      Locust is not installed, so its rows have no peer: scripts/peers "
                  "installs it")
        for name, row in rows:
            row(name)

    def client(self, tool, user, body, users, seconds=None):
        """A command and what reads its counts."""
        path, counts = self.folder / "locustfile.py", self.folder / "counts"
        path.write_text(HEAD.format(user=user) + body)
        program = [self.loadline, "locust"] if tool == "loadline" else [tool]
        words = ["-f", path, "--headless", "--only-summary", "-H",
                 f"http://127.0.0.1:{self.bench.http}", "-u", users, "-r", users, "-t",
                 f"{seconds or self.seconds}s", "--json-file", counts, "--exit-code-on-error", 9]

        def figures(_):
            rows = json.loads(counts.with_name("counts.json").read_text())
            return {"requests": sum(row["num_requests"] for row in rows)}

        return [str(word) for word in [*program, *words]], figures

    def turns(self, user, body, users):
        """CPU per request of both in some rounds, in turn; the first round is left out."""
        mine, theirs = [], []
        for _ in range(self.bench.options.rounds + 1):
            mine.append(self.run_client(*self.client("loadline", user, body, users)))
            if self.peer:
                theirs.append(self.run_client(*self.client(self.peer, user, body, users)))
        return mine[1:], theirs[1:]

    def add_cpu(self, name, mine, theirs, bar):
        ours = statistics.median(one.cpu_us for one in mine)
        if not theirs:
            self.bench.add(name, "CPU per request, ours / Locust",
                           f"{ours:,.1f} µs; Locust is not installed", f"≤ {bar:.3f}", None)
            return
        found = statistics.median(a.cpu_us / b.cpu_us for a, b in zip(mine, theirs))
        other = statistics.median(one.cpu_us for one in theirs)
        self.bench.add(name, "CPU per request, ours / Locust",
                       f"{ours:,.1f} / {other:,.1f} µs = {found:.3f}", f"≤ {bar:.3f}", found <= bar)

    def get(self, name):
        for user, bar in [("FastHttpUser", 1 / 10), ("HttpUser", 1 / 30)]:
            mine, theirs = self.turns(user, GET, 100)
            self.add_cpu(f"{name}, {user}", mine, theirs, bar)
            rate = statistics.median(one.requests / one.seconds for one in mine)
            self.bench.add(f"{name}, {user}", "requests/s of one process", f"{rate:,.0f}",
                           "80 000 where wrk has 120 000", None)

    def waits(self, name):
        body = WAITS.format(seconds=0.05) + GET
        self.add_cpu(name, *self.turns("FastHttpUser", body, 1_000), 1 / 6)

    def median(self, name):
        """Against the native engine, whose users wait as long: their requests come in waves too."""
        body = WAITS.format(seconds=0.05) + GET
        result = self.folder / "result.json"
        differences = []
        for _ in range(self.bench.options.rounds):
            command, _ = self.client("loadline", "FastHttpUser", body, 1_000)
            command += ["--out", f"json={result}"]
            mine = self.run_client(command, lambda _: median_of(result))
            native = self.run_client(*self.bench.loadline(
                "-c", "1000", "--think", "50ms", "-d", f"{self.seconds}s",
                f"http://127.0.0.1:{self.bench.http}/"))
            differences.append(mine.figures["p50_us"] - native.figures["p50_us"])
        value = statistics.median(differences)
        self.bench.add(name, "median response − that of the native engine",
                       f"{value:+.0f} µs", "≤ 50 µs", value <= 50)

    def busy(self, name):
        self.add_cpu(name, *self.turns("FastHttpUser", BUSY, 100), 1 / 6)

    def memory(self, name):
        body = WAITS.format(seconds=1) + GET
        for user in ["FastHttpUser", "HttpUser"]:
            few, many = (self.run_client(*self.client("loadline", user, body, users, 12))
                         for users in (FEW, MANY))
            each = (many.rss_mb - few.rss_mb) * 1024 / (MANY - FEW)
            self.bench.add(f"{name}, {user}", "per user", f"{each:.1f} KB", "≤ 10 KB", each <= 10)
