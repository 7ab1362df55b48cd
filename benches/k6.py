"""k6 beside `loadline k6`: the same scripts, the same server, in turn. `speed.py` runs it.

Both export a summary, from which iterations, rates and percentiles are taken. CPU is that of the
whole process, its start included. Memory per user is the difference between the peaks of many users
and of a hundred, divided by the difference of the users.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess

# What scripts have in common: percentiles that k6's summary leaves out.
OPTIONS = "export const options = { summaryTrendStats: ['med', 'p(99)', 'max'] };"
IMPORTS = "import http from 'k6/http'; import { check, sleep } from 'k6';"

GET_AND_CHECK = """
export default function () {
  check(http.get('URL'), { ok: (r) => r.status === 200 });
}"""
CHECKS_JSON_TREND = """
import { Trend } from 'k6/metrics';
const own = new Trend('own', true);
export default function () {
  const r = http.get('URLjson');
  check(r, {
    status: (r) => r.status === 200,
    body: (r) => r.body.includes('a'),
    json: (r) => r.json('a.b') === 1,
  });
  own.add(r.timings.waiting, { kind: 'json' });
}"""
GET_AND_SLEEP = """
export default function () {
  http.get('URL');
  sleep(1);
}"""
GET = """
export default function () { http.get('URL'); }"""
NAMED_URLS = """
export default function () {
  http.get(`URL${__VU * 10 + __ITER % 10}`, { tags: { name: 'one' } });
}"""

# Users beside whom many are counted, and those many.
FEW, MANY = 100, 5_000


def k6():
    """The real k6; None where it is not installed."""
    named = os.environ.get("K6") or shutil.which("k6")
    if named and pathlib.Path(named).resolve().name != "loadline":
        return named
    built = pathlib.Path.home() / "go" / "bin" / "k6"
    return str(built) if built.exists() else None


class K6Rows:
    """The rows of the table that k6 is in."""

    def __init__(self, bench, loadline, run_client, test_server):
        self.bench, self.loadline = bench, loadline
        self.run_client, self.test_server = run_client, test_server
        self.peer = k6()
        self.folder = bench.folder
        self.seconds = bench.options.seconds

    def run(self, wanted):
        """All rows whose scenario is wanted; `nginx` has to run."""
        rows = [
            ("k6: get, one check, 100 users", self.get_and_check),
            ("k6: get, three checks, json, Trend", self.checks_json_trend),
            ("k6: get, sleep(1), 5 000 users", self.many_users),
            ("k6: 5 000/s, 50 users", self.arrivals),
            ("k6: a stall of 1 s", self.stall),
            ("k6: memory over time", self.memory_over_time),
        ]
        rows = [(name, row) for name, row in rows if wanted(name)]
        if rows and not self.has_scripts():
            print("      k6: this build of loadline runs no k6 scripts; build it with "
                  "--features k6")
            return
        if rows and not self.peer:
            print("      k6 is not installed, so its rows have no peer: scripts/peers installs it")
        for name, row in rows:
            row(name)

    def has_scripts(self):
        found = subprocess.run([self.loadline, "k6", "version"], capture_output=True, text=True)
        return found.returncode == 0

    def client(self, tool, script, words, url=None, summary="summary.json"):
        """A command and what reads its figures."""
        path = self.folder / "script.js"
        url = url or f"http://127.0.0.1:{self.bench.http}/"
        path.write_text(IMPORTS + OPTIONS + script.replace("URL", url))
        exported = self.folder / summary
        program = [self.loadline, "k6"] if tool == "loadline" else [tool]
        command = [*program, "run", "--quiet", "--address", "", "--no-usage-report",
                   "--summary-export", exported, *words, path]

        def figures(_):
            metrics = json.loads(exported.read_text())["metrics"]
            iterations = metrics["iterations"]
            return {"requests": iterations["count"], "rate": iterations["rate"],
                    "dropped": metrics.get("dropped_iterations", {}).get("count", 0),
                    "p99_ms": metrics["http_req_duration"]["p(99)"]}

        return command, figures

    def turns(self, script, words, own_words=()):
        """What both measured in some rounds, in turn; the first round is left out."""
        mine, theirs = [], []
        for _ in range(self.bench.options.rounds + 1):
            mine.append(self.run_client(*self.client("loadline", script, [*words, *own_words])))
            if self.peer:
                theirs.append(self.run_client(*self.client(self.peer, script, words)))
        return mine[1:], theirs[1:]

    def add_ratio(self, name, figure, mine, theirs, bar, unit="µs", is_most=True):
        """A row of a ratio, round by round; without a peer, what we measured alone."""
        ours = statistics.median(mine)
        sign = "≤" if is_most else "≥"
        if not theirs:
            self.bench.add(name, f"{figure}, ours / k6", f"{ours:,.1f} {unit}; k6 is not installed",
                           f"{sign} {bar:.2f}", None)
            return
        found = statistics.median(a / b for a, b in zip(mine, theirs))
        value = f"{ours:,.1f} / {statistics.median(theirs):,.1f} {unit} = {found:.3f}"
        holds = found <= bar if is_most else found >= bar
        self.bench.add(name, f"{figure}, ours / k6", value, f"{sign} {bar:.2f}", holds)

    def add_cpu(self, name, mine, theirs, bar):
        self.add_ratio(name, "CPU per iteration", [one.cpu_us for one in mine],
                       [one.cpu_us for one in theirs], bar)

    def get_and_check(self, name):
        mine, theirs = self.turns(GET_AND_CHECK, ["-u", "100", "-d", f"{self.seconds}s"])
        self.add_cpu(name, mine, theirs, 1 / 6)
        self.add_ratio(name, "iterations/s", [one.figures["rate"] for one in mine],
                       [one.figures["rate"] for one in theirs], 5.0, "/s", is_most=False)

    def checks_json_trend(self, name):
        mine, theirs = self.turns(CHECKS_JSON_TREND, ["-u", "100", "-d", f"{self.seconds}s"])
        self.add_cpu(name, mine, theirs, 1 / 5)

    def many_users(self, name):
        seconds = 3 if self.bench.options.quick else 12
        words = lambda users: ["-u", str(users), "-d", f"{seconds}s"]
        peers = [self.peer] if self.peer else []
        found = {}
        for tool, mode in [("loadline", "isolated"), ("loadline", "shared"),
                           *[(peer, None) for peer in peers]]:
            own = ["--vu-mode", mode] if mode else []
            few, many = (self.run_client(*self.client(tool, GET_AND_SLEEP, [*words(users), *own]))
                         for users in (FEW, MANY))
            found[mode or "k6"] = (many, (many.rss_mb - few.rss_mb) * 1024 / (MANY - FEW))
        theirs = [found["k6"]] if "k6" in found else []
        for mode, bar in [("isolated", 1.0), ("shared", 1 / 8)]:
            many, each = found[mode]
            scenario = f"{name}, {mode}"
            # Each user begins its last one before the end, and a moment later than the others.
            planned = MANY * seconds
            share = many.requests / planned
            self.bench.add(scenario, f"iterations of {planned:,} in {seconds} s", f"{share:.3f}",
                           "≥ 0.99", share >= 0.99)
            self.add_cpu(scenario, [many], [peer for peer, _ in theirs], 1 / 5)
            self.add_ratio(scenario, "memory per user", [each], [one for _, one in theirs], bar,
                           "KB")

    def arrivals(self, name):
        script = GET + self.rate(5_000, self.seconds)
        found = {}
        for _ in range(self.bench.options.rounds):
            for tool in ["loadline", *([self.peer] if self.peer else [])]:
                with self.test_server() as (url, report):
                    ran = self.run_client(*self.client(tool, script, [], url))
                found.setdefault(tool, []).append((report(), ran.figures["dropped"]))
        mine, theirs = found["loadline"], found.get(self.peer, [])
        self.add_ratio(name, "p99 stray from the even schedule", [one for one, _ in mine],
                       [one for one, _ in theirs], 1 / 20)
        dropped = sum(count for _, count in mine)
        self.bench.add(name, "dropped iterations", f"{dropped}", "0", dropped == 0)

    def rate(self, per_second, seconds):
        """Options of a constant arrival rate, over those that all scripts have."""
        return f"""
options.scenarios = {{ load: {{ executor: 'constant-arrival-rate', rate: {per_second},
  timeUnit: '1s', duration: '{seconds}s', preAllocatedVUs: 50, maxVUs: 50 }} }};"""

    def stall(self, name):
        """2 000/s for 10 s; the server stalls for a second when three quarters are over."""
        script, stall = GET + self.rate(2_000, 10), "?freeze-now=1s&every=15000"
        script = script.replace("'URL'", f"'URL{stall}'")
        saved, theirs = self.folder / "stall.run", ""
        with self.test_server(2_000) as (url, _):
            self.run_client(*self.client("loadline", script, [
                "--late-iterations", "wait", "--out", f"loadline={saved}"], url))
        if self.peer:
            with self.test_server(2_000) as (url, _):
                figures = self.run_client(*self.client(self.peer, script, [], url)).figures
            theirs = f" (k6: {figures['p99_ms']:.1f} ms, {figures['dropped']} dropped)"
        report = subprocess.run([self.loadline, "report", "-o", "json", saved],
                                capture_output=True, text=True)
        p99_ms = json.loads(report.stdout)["summary"]["response_time_us"]["p99"] / 1e3
        self.bench.add(name, "p99 response time with --late-iterations wait",
                       f"{p99_ms:.0f} ms{theirs}", "900 ms ± 2 %", abs(p99_ms - 900) <= 18)

    def memory_over_time(self, name):
        """The same load for longer must need no more; URLs have one name."""
        short, long = (1, 3) if self.bench.options.quick else (10, 60)
        few, many = (self.run_client(*self.client("loadline", NAMED_URLS, [
            "-u", "100", "-d", f"{seconds}s"])) for seconds in (short, long))
        more = many.rss_mb - few.rss_mb
        self.bench.add(name, f"peak RSS of {long} s − of {short} s, 1 000 URLs",
                       f"{many.rss_mb:.1f} − {few.rss_mb:.1f} MB", "≤ 4 MB", more <= 4)
