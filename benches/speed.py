"""Speed and memory of Loadline against wrk, wrk2, ab, oha, h2load, k6 and Locust, in one run.

What is a tool with its settings against nginx is the study `studies/speed.toml`: it makes the runs,
and COMPARED below says which of them are held against each other, and by which bar. The two runs of
a round follow each other at once; the ratio is taken round by round, the first round left out, and
its median counts. CPU is user and system time of the client's process, as the kernel accounts it,
divided by the requests that were answered.

What a study file cannot say is measured here, in the same way: how long connections take to open,
peaks and growth of memory, how evenly requests arrive at the server, differences of medians, the
time of a process that measures nothing, and wrk's own example scripts, which a package installs,
sometimes compressed; k6's scripts, in `k6.py`, and locustfiles, in `locustfiles.py`. The server
runs on core 0, the client on core 1, but for the rows of `connections.py` that pin nothing.

Usage: python3 benches/speed.py [--quick] [--only WORD] [--markdown FILE]
"""

import argparse
import contextlib
import csv
import dataclasses
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from connections import ConnectionRows
from k6 import K6Rows
from locustfiles import LocustRows

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADLINE = ROOT / "target" / "release" / "loadline"
SERVER_CORE, CLIENT_CORE = "0", "1"
# wrk's own example scripts that make requests without waiting between them.
WRK_SCRIPTS = ["counter", "post", "auth", "pipeline", "report"]
WRK_SCRIPTS_FOLDERS = ["/usr/share/doc/wrk/examples/scripts", "/usr/share/doc/wrk/scripts",
                       "/usr/share/wrk/scripts", "/usr/local/share/wrk/scripts"]
STUDY = ROOT / "studies" / "speed.toml"
RESULTS = ROOT / "target" / "speed"
# How the table is to be read: both columns are of one round each, and vary together.
RATIOS = ("Both values are medians over the rounds. The ratio is the median of the rounds' own "
          "ratios, since both tools of a round have the same conditions; so it need not be the "
          "quotient of the two values.")


@dataclasses.dataclass
class Compared:
    """Two tools of the study, which of their runs are meant, and the bars."""

    scenario: str
    ours: dict
    peer: dict
    cpu_bar: float | None
    rate_bar: float | None = None


def run_of(tool, connections, target="nginx", **more):
    """What stands in a run's row of the study's results; empty where nothing was set."""
    return {"tool": tool, "target": target, "connections": str(connections), "keep_alive": "",
            "script": "", "flags": "", **more}


def over_http2(streams, tls=False):
    """The flags of a run of ours over HTTP/2, as the study's results have them."""
    return f"--http 2 --streams {streams}" + (" -k" if tls else "")


def compared():
    """The scenarios of the study, in the order of the table."""
    for connections in [100, 1000]:
        for clock, bar in [("kernel", 0.95), ("user", 0.90)]:
            yield Compared(f"{connections} connections, {clock} clock",
                           run_of("loadline", connections, flags=f"--clock {clock}"),
                           run_of("wrk", connections), bar, 1.0)
    yield Compared("pipelined by 16", run_of("loadline", 100, flags="--pipeline 16"),
                   run_of("wrk", 100, script="speed/pipeline.lua"), 0.60)
    yield Compared("1 MB body", run_of("loadline", 10, "megabyte"),
                   run_of("wrk", 10, "megabyte"), 0.60)
    yield Compared("no keep-alive", run_of("loadline", 50, keep_alive="false"),
                   run_of("ab", 50, keep_alive="false"), 0.90, 1.0)
    yield Compared("TLS", run_of("loadline", 100, "tls", flags="-k"),
                   run_of("wrk", 100, "tls"), 1.0)
    for connections, streams, bar, rate in [(10, 10, 0.60, 1.1), (1, 100, 0.60, 1.1),
                                            (100, 1, 0.65, 1.0)]:
        yield Compared(f"HTTP/2, TLS, {connections} × {streams} streams",
                       run_of("loadline", connections, "http2-tls",
                              flags=over_http2(streams, tls=True)),
                       run_of("h2load", connections, "http2-tls", flags=f"-m {streams}"), bar, rate)
    yield Compared("HTTP/2, clear text, 10 × 10 streams",
                   run_of("loadline", 10, "http2", flags=over_http2(10)),
                   run_of("h2load", 10, "http2", flags="-m 10"), 0.60, 1.1)
    yield Compared("HTTP/2, TLS, 10 × 10 streams, 16 KiB body",
                   run_of("loadline", 10, "http2-16k", flags=over_http2(10, tls=True)),
                   run_of("h2load", 10, "http2-16k", flags="-m 10"), 0.75, 1.0)
    yield Compared("ab -k", run_of("loadline-ab", 100, keep_alive="true"),
                   run_of("ab", 100, keep_alive="true"), 0.90)
    yield Compared("wrk2 -R 20000", run_of("loadline-wrk2", 100), run_of("wrk2", 100), 1.0)


@dataclasses.dataclass
class Sample:
    """One run of one client."""

    requests: int
    seconds: float
    cpu_us: float
    rss_mb: float
    figures: dict


@dataclasses.dataclass
class Row:
    """One line of the result: what was measured, what it must be, and whether it is."""

    scenario: str
    figure: str
    value: str
    bar: str
    holds: bool | None  # None where there is nothing to hold it against.


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned(core, command):
    return ["taskset", "-c", core, *map(str, command)]


def on_core(core, command, is_pinned):
    """The command on its core, or wherever the scheduler puts it."""
    return pinned(core, command) if is_pinned else list(map(str, command))


def run_client(command, parse, is_pinned=True, look=None):
    """Runs a client to its end and says what it did and what it cost. `look` is called with its
    process id some ten times a second."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        client = subprocess.Popen(
            on_core(CLIENT_CORE, command, is_pinned), stdout=out, stderr=subprocess.STDOUT
        )
        # The kernel's own account of a child's peak begins with that of the process that forked
        # it, which is larger than any client.
        rss_mb = 0.0
        while not (ended := os.wait4(client.pid, os.WNOHANG))[0]:
            rss_mb = max(rss_mb, memory_mb(client.pid, "VmHWM"))
            if look:
                look(client.pid)
            time.sleep(0.1)
        _, status, usage = ended
        client.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        out.seek(0)
        text = out.read()
    if client.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {client.returncode}:\n{text}")
    figures = parse(text)
    requests = figures["requests"]
    cpu = (usage.ru_utime + usage.ru_stime) * 1e6 / max(requests, 1)
    return Sample(requests, seconds, cpu, rss_mb, figures)


def of_loadline(text):
    summary = json.loads(text)["summary"]
    return {
        "requests": summary["answered"],
        "rate": summary["rate"],
        "p50_us": summary["response_time_us"]["p50"],
        "failed": summary["failed"],
    }


def of_wrk(text):
    return {
        "requests": int(re.search(r"(\d+) requests in", text)[1]),
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
    }


def of_wrk2(text):
    """What wrk2 prints with --latency: times are those from the intended start."""
    value, unit = re.search(r"50\.000%\s+([\d.]+)(us|ms|s)", text).groups()
    return {**of_wrk(text), "p50_us": float(value) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]}


def of_h2load(text):
    return {"requests": int(re.search(r"requests: .* (\d+) succeeded", text)[1])}


def of_oha(text):
    found = json.loads(text)
    counts = found["statusCodeDistribution"].values()
    return {"requests": sum(counts), "rate": found["summary"]["requestsPerSec"]}


class Bench:
    """Runs scenarios and keeps their rows."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.rows = []
        self.http, self.http2 = free_port(), free_port()

    @contextlib.contextmanager
    def nginx(self, is_pinned=True):
        config = self.folder / "nginx.conf"
        config.write_text(f"""
            worker_processes 1; daemon off; pid {self.folder}/nginx.pid;
            error_log {self.folder}/error.log; worker_rlimit_nofile 20000;
            events {{ worker_connections 15000; }}
            http {{
              access_log off; default_type text/plain; keepalive_requests 1000000000;
              keepalive_timeout 600;
              client_body_temp_path {self.folder}/t1; proxy_temp_path {self.folder}/t2;
              fastcgi_temp_path {self.folder}/t3; uwsgi_temp_path {self.folder}/t4;
              scgi_temp_path {self.folder}/t5;
              server {{
                listen 127.0.0.1:{self.http} backlog=4096;
                location / {{ return 200 "{'x' * 60}"; }}
                location = /json {{ default_type application/json;
                                    return 200 '{{"a":{{"b":1}}}}'; }}
                location = /authenticate {{ add_header X-Token secret; return 200 "in"; }}
              }}
              server {{
                listen 127.0.0.1:{self.http2} http2 backlog=4096;
                location / {{ return 200 "{'x' * 13}"; }}
              }}
            }}
        """)
        binary = shutil.which("nginx") or "/usr/sbin/nginx"
        self.folder.chmod(0o755)
        server = subprocess.Popen(on_core(SERVER_CORE, [binary, "-c", config], is_pinned))
        try:
            wait_for(self.http)
            yield
        finally:
            server.terminate()
            server.wait()

    def take_turns(self, ours, theirs, is_pinned=True):
        """Lets two clients take turns, one unmeasured round first."""
        pairs = []
        for round_ in range(self.options.rounds + 1):
            pair = [run_client(*client, is_pinned) for client in (ours, theirs)]
            if round_ > 0:
                pairs.append(pair)
        return [list(samples) for samples in zip(*pairs)]

    def compare(self, name, ours, theirs, peer, cpu_bar):
        if self.options.only and self.options.only not in name:
            return
        self.judge(Compared(name, {}, {"tool": peer}, cpu_bar), *self.take_turns(ours, theirs))

    def judge(self, scenario, mine, peers):
        """Holds what was measured in some rounds against the bars."""
        name, peer = scenario.scenario, scenario.peer["tool"]
        if bar := scenario.cpu_bar:
            cpu = ratio(mine, peers, lambda sample: sample.cpu_us)
            values = f"{median(mine, 'cpu_us'):.2f} / {median(peers, 'cpu_us'):.2f} µs = {cpu:.2f}"
            self.add(name, f"CPU per request, ours / {peer}", values, f"≤ {bar:.2f}", cpu <= bar)
        if bar := scenario.rate_bar:
            rate = ratio(mine, peers, lambda sample: sample.figures["rate"])
            values = f"{median_rate(mine):,.0f} / {median_rate(peers):,.0f} = {rate:.2f}"
            self.add(name, f"requests/s, ours / {peer}", values, f"≥ {bar:.2f}", rate >= bar)

    def study(self):
        """Makes the study, and holds its scenarios against their bars."""
        wanted = [scenario for scenario in compared()
                  if not self.options.only or self.options.only in scenario.scenario]
        if not wanted:
            return
        quick = ["--quick"] if self.options.quick else []
        shutil.rmtree(RESULTS, ignore_errors=True)
        command = [LOADLINE, "study", STUDY, "--results", RESULTS, *quick]
        # It says itself which run failed; the others are results all the same.
        subprocess.run(command, stdout=subprocess.DEVNULL)
        with open(RESULTS / "results.csv", newline="") as table:
            rows = list(csv.DictReader(table))
        for scenario in wanted:
            self.held_against_bars(scenario, rows)
        print(f"      The study's report is {RESULTS}/report.html.")

    def held_against_bars(self, scenario, rows):
        mine, peers = rounds(rows, scenario.ours), rounds(rows, scenario.peer)
        if both := sorted(mine.keys() & peers.keys()):
            self.judge(scenario, [mine[round_] for round_ in both],
                       [peers[round_] for round_ in both])
            return
        peer = scenario.peer["tool"]
        alone = f"{median(mine.values(), 'cpu_us'):.2f} µs; " if mine else ""
        if mine:
            why = f"{peer} has no results" if shutil.which(peer) else f"{peer} is not installed"
        else:
            why = "loadline has no results"
        self.add(scenario.scenario, f"CPU per request, ours / {peer}",
                 f"{alone}{why}", f"≤ {scenario.cpu_bar:.2f}", None)

    def add(self, scenario, figure, value, bar, holds):
        self.rows.append(Row(scenario, figure, value, bar, holds))
        mark = {True: "ok  ", False: "MISS", None: "    "}[holds]
        print(f"{mark}  {scenario}: {figure}: {value} (must be {bar})", flush=True)

    def loadline(self, *flags):
        return [LOADLINE, "-q", "-t", "1", "-o", "json", *flags], of_loadline

    def seconds(self):
        return f"{self.options.seconds}s"

    def peak_rss(self):
        """The most memory that each client had; the study looks once a second."""
        url = f"http://127.0.0.1:{self.http}/"
        words = ["-c", "1000", "-d", self.seconds()]
        theirs = run_client(["wrk", "-t1", *words, url], of_wrk)
        for clock in ["kernel", "user"]:
            mine = run_client(*self.loadline(*words, "--clock", clock, url))
            self.add(f"1000 connections, {clock} clock", "peak RSS",
                     f"{mine.rss_mb:.1f} MB (wrk {theirs.rss_mb:.1f})", "≤ 12 MB",
                     mine.rss_mb <= 12)

    def http2_peak_rss(self):
        """The same over HTTP/2, with 100 connections of 10 streams."""
        scenario, figure, bar = "HTTP/2, 100 × 10 streams", "peak RSS, ours / h2load", 0.5
        url = f"http://127.0.0.1:{self.http2}/"
        mine = run_client(*self.loadline("--http", "2", "--streams", "10", "-c", "100",
                                         "-d", self.seconds(), url))
        if not shutil.which("h2load"):
            self.add(scenario, figure, f"{mine.rss_mb:.1f} MB; h2load is not installed",
                     f"≤ {bar:.2f}", None)
            return
        theirs = run_client(["h2load", "-t1", "-c100", "-m10", "-D", str(self.options.seconds),
                             url], of_h2load)
        found = mine.rss_mb / theirs.rss_mb
        self.add(scenario, figure, f"{mine.rss_mb:.1f} / {theirs.rss_mb:.1f} MB = {found:.2f}",
                 f"≤ {bar:.2f}", found <= bar)

    def http2_pacing(self):
        """How evenly requests arrive at 20 000/s over 10 connections of HTTP/2, as against as many
        connections of HTTP/1.1 as there are streams."""
        words = ["-r", "20000", "-d", self.seconds()]
        versions = {"HTTP/2": ["--http", "2", "--streams", "10", "-c", "10",
                               "--max-connections", "10"],
                    "HTTP/1.1": ["-c", "100", "--max-connections", "100"]}
        found = {version: [] for version in versions}
        for _ in range(self.options.rounds):
            for version, flags in versions.items():
                with test_server(20000) as (url, report):
                    run_client(*self.loadline(*words, *flags, url))
                found[version].append(report())
        http2, http1 = (statistics.median(values) for values in found.values())
        self.add("HTTP/2, 20 000/s", "p99 stray from the even schedule, HTTP/2 / HTTP/1.1",
                 f"{http2:.0f} / {http1:.0f} µs = {http2 / http1:.2f}", "≤ 1.20",
                 http2 / http1 <= 1.2)

    def spoken(self, dialect, *words):
        return [LOADLINE, dialect, *words]

    def scripts(self):
        """wrk's example scripts, each by the real wrk and by ours."""
        url = f"http://127.0.0.1:{self.http}/"
        folder = next(filter(os.path.isdir, WRK_SCRIPTS_FOLDERS), None)
        for name in WRK_SCRIPTS:
            scenario = f"wrk script {name}"
            if self.options.only and self.options.only not in scenario:
                continue
            script = folder and self.unpacked(pathlib.Path(folder) / f"{name}.lua")
            if not script:
                self.add(scenario, "CPU per request, ours / wrk",
                         "wrk's examples are not installed", "≤ 1.00", None)
                continue
            words = ["-t1", "-c100", "-d", self.seconds(), "-s", script, url]
            self.compare(scenario, (self.spoken("wrk", *words), of_wrk),
                         (["wrk", *words], of_wrk), "wrk", 1.0)

    def unpacked(self, script):
        """A script as it is installed, or as it was before a packager compressed it."""
        packed = script.with_name(script.name + ".gz")
        if not script.exists() and packed.exists():
            script = self.folder / script.name
            script.write_bytes(gzip.decompress(packed.read_bytes()))
        return script if script.exists() else None

    def many_connections(self):
        url = f"http://127.0.0.1:{self.http}/"
        samples = []
        for _ in range(self.options.rounds):
            command = self.loadline("-c", "10000", "-d", "2s", "-r", "5k", url)
            samples.append(run_client(*command))
        up = statistics.median(sample.seconds for sample in samples) - 2
        self.add("10 000 connections", "all up", f"{up:.2f} s", "≤ 3 s", up <= 3)
        rss = max(sample.rss_mb for sample in samples)
        self.add("10 000 connections", "peak RSS", f"{rss:.1f} MB", "≤ 60 MB", rss <= 60)

    def memory_over_time(self):
        url = f"http://127.0.0.1:{self.http}/"
        command, _ = self.loadline("-c", "100", "-d", "62s", url)
        client = subprocess.Popen(pinned(CLIENT_CORE, command), stdout=subprocess.DEVNULL)
        time.sleep(5)
        early = memory_mb(client.pid, "VmRSS")
        time.sleep(55)
        late = memory_mb(client.pid, "VmRSS")
        client.wait()
        self.add("memory over time", "RSS at 60 s − at 5 s", f"{late:.2f} − {early:.2f} MB",
                 "≤ 1 MB", late - early <= 1)

    def version(self):
        times = []
        for _ in range(21):
            begin = time.monotonic()
            subprocess.run([LOADLINE, "--version"], check=True, stdout=subprocess.DEVNULL)
            times.append((time.monotonic() - begin) * 1e3)
        value = statistics.median(times)
        self.add("loadline --version", "wall time", f"{value:.1f} ms", "≤ 5 ms", value <= 5)

    def pacing(self):
        """How evenly requests arrive at 5 000/s, as the server sees it."""
        seconds, found = self.seconds(), {}
        clients = {"loadline": lambda url: self.loadline(
            "-r", "5000", "-c", "50", "-d", seconds, url)}
        if oha := shutil.which("oha") or installed("oha"):
            clients["oha"] = lambda url: ([oha, "--no-tui", "--output-format", "json", "-q", "5000",
                                           "-c", "50", "-z", seconds, url], of_oha)
        if wrk2 := shutil.which("wrk2"):
            clients["wrk2"] = lambda url: ([wrk2, "-t1", "-c50", "-R5000", "-d", seconds, url],
                                           of_wrk)
        for _ in range(self.options.rounds):
            for name, client in clients.items():
                with test_server() as (url, report):
                    run_client(*client(url))
                found.setdefault(name, []).append(report())
        medians = {name: statistics.median(values) for name, values in found.items()}
        for name in medians.keys() - {"loadline"}:
            ratio = medians["loadline"] / medians[name]
            self.add("5 000/s", f"p99 stray from the even schedule, ours / {name}",
                     f"{medians['loadline']:.0f} / {medians[name]:.0f} µs = {ratio:.2f}",
                     "≤ 0.20", ratio <= 0.2)
        if len(medians) == 1:
            print(f"      5 000/s: p99 stray {medians['loadline']:.0f} µs; no peer is installed "
                  "(cargo install --locked oha)")

    def open_against_closed(self):
        """The median at a rate against that of one connection in a closed loop."""
        seconds = self.seconds()
        self.against_single("5 000/s", lambda url: self.loadline(
            "-r", "5000", "-c", "50", "-d", seconds, url))

    def wrk2_against_closed(self):
        """The same for wrk2's words, at a rate that it is asked for."""
        words = ["-t1", "-c50", "-R20000", "-L", "-d", self.seconds()]
        self.against_single("wrk2 -R 20000", lambda url: (
            self.spoken("wrk2", *words, url), of_wrk2))

    def against_single(self, scenario, paced_client):
        """Holds a median at a rate against that of one connection in a closed loop."""
        with test_server() as (url, _):
            differences = []
            for _ in range(self.options.rounds):
                paced = run_client(*paced_client(url))
                single = run_client(*self.loadline("-c", "1", "-d", self.seconds(), url))
                differences.append(paced.figures["p50_us"] - single.figures["p50_us"])
        value = statistics.median(differences)
        self.add(scenario, "median response − closed-loop median at one connection",
                 f"{value:+.1f} µs", "≤ 20 µs", value <= 20)

    def run(self):
        wanted = lambda name: not self.options.only or self.options.only in name
        self.study()
        with self.nginx():
            if wanted("1000 connections"):
                self.peak_rss()
            if wanted("HTTP/2, 100 × 10 streams"):
                self.http2_peak_rss()
            self.scripts()
            if wanted("10 000 connections"):
                self.many_connections()
            if wanted("memory over time"):
                self.memory_over_time()
            K6Rows(self, LOADLINE, run_client, test_server).run(wanted)
            LocustRows(self, LOADLINE, run_client).run(wanted)
        ConnectionRows(self, LOADLINE, Compared, of_wrk).run(wanted)
        if wanted("5 000/s"):
            self.pacing()
            self.open_against_closed()
        if wanted("HTTP/2, 20 000/s"):
            self.http2_pacing()
        if wanted("wrk2 -R 20000"):
            self.wrk2_against_closed()
        if wanted("loadline --version"):
            self.version()

    def markdown(self):
        lines = [RATIOS, "",
                 "| scenario | figure | measured | must be | |", "|---|---|---|---|---|"]
        for row in self.rows:
            mark = {True: "✓", False: "**missed**", None: "not compared"}[row.holds]
            lines.append(f"| {row.scenario} | {row.figure} | {row.value} | {row.bar} | {mark} |")
        return "\n".join([machine(), "", *lines, ""])


@contextlib.contextmanager
def test_server(rate=5000):
    """`loadline serve` that measures arrivals at this rate; its report comes at its end."""
    port = free_port()
    command = [LOADLINE, "serve", "--listen", f"127.0.0.1:{port}", "--arrivals", str(rate)]
    server = subprocess.Popen(pinned(SERVER_CORE, command), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    text = []

    def p99_us():
        found = re.search(r"p99 ([\d.]+) (ns|µs|ms|s)\b", text[0])
        return float(found[1]) * {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}[found[2]]

    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/", p99_us
    finally:
        server.send_signal(signal.SIGINT)
        text.append(server.communicate(timeout=10)[0])


def wait_for(port):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    sys.exit(f"the server does not listen on port {port}")


def rounds(rows, run):
    """What the study measured of a run in each round but the first, by the round's number."""
    mine = [row for row in rows if run.items() <= row.items()
            and row["repeat"] != "1" and not row["failure"]]
    return {int(row["repeat"]): Sample(
        int(row["answers"]), float(row["elapsed_s"]), float(row["cpu_us_per_request"]),
        float(row["max_memory"]) / 1024, {"rate": float(row["rps"])}) for row in mine}


def installed(name):
    path = pathlib.Path.home() / ".cargo" / "bin" / name
    return str(path) if path.exists() else None


def ratio(ours, theirs, figure):
    """The median over the rounds of the ratio in each."""
    return statistics.median(figure(a) / figure(b) for a, b in zip(ours, theirs))


def median(samples, figure):
    return statistics.median(getattr(sample, figure) for sample in samples)


def median_rate(samples):
    return statistics.median(sample.figures["rate"] for sample in samples)


def memory_mb(pid, figure):
    """A figure of a process's memory; 0 when it has ended."""
    with contextlib.suppress(OSError):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        if found := re.search(rf"{figure}:\s+(\d+)", status):
            return int(found[1]) / 1024
    return 0.0


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    model = cpu[1] if cpu else "unknown CPU"
    return f"{model}, {os.cpu_count()} cores, Linux {os.uname().release.split('-')[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="one short round, to see that it works")
    parser.add_argument("--only", help="scenarios whose name has this word")
    parser.add_argument("--markdown", help="write the table to this file")
    options = parser.parse_args()
    options.rounds, options.seconds = (1, 1) if options.quick else (3, 4)
    if (os.cpu_count() or 1) < 2:
        sys.exit("The comparison needs two cores: one for the server, one for the client.")
    with tempfile.TemporaryDirectory(prefix="loadline-bench-") as folder:
        bench = Bench(options, folder)
        bench.run()
    if options.markdown:
        pathlib.Path(options.markdown).write_text(bench.markdown())
    compared = [row.holds for row in bench.rows if row.holds is not None]
    print(f"\n{machine()}: {sum(compared)} of {len(compared)} bars hold.")


if __name__ == "__main__":
    main()
