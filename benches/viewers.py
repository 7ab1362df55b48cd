"""What viewers of the live page cost the generator: CPU of its core, and lateness.

Runs of 50 000 requests/s are made without a page, with a page that one browser watches, and with
one that ten watch, in an order that alternates, after a turn that is not counted. The whole
command, its page's threads included, has one core. A viewer reads the page and then its events, as
a browser does, on the server's core; one thread has all viewers, and only counts events, so that
they take little from the server.

Two costs are measured. The *CPU of the page* is what the kernel accounts to the threads of the page
alone, by their names, from the time when all viewers have the page to the end of the load: what is
made once a second, and the writes to each viewer, with the kernel's work for both ends of a
connection over loopback. The *CPU of the process* is that of all its threads to the end of the
load: it varies by some percent from run to run, because the load itself does, so that its
difference says whether a viewer disturbs the load, and no more. The reports of the run, the page's
for download among them, are made after the load, and are in neither.

The bars: the CPU of the page with one viewer is at most 1 % of a core; with ten it is at most 1.2
times that with one; the process has at most 1 % of a core more with one than without, and 1.2 %
more with ten, within the noise; lateness p99 is not longer beyond the noise with one or with ten
(the interval of 95 % of its ratios has 1 in it or lies below, or the medians differ by less than
50 µs). One line says whether they hold; the exit code is 1 if they don't. A viewer that misses
events ends it.

Usage: python3 benches/viewers.py [--rounds N] [--seconds N] [--rate N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import selectors
import socket
import statistics
import sys
import tempfile
import threading
import time

from exporters import LEAST_LATENESS_US, interval
from paired import FEWEST_ROUNDS, nginx
from speed import CLIENT_CORE, LOADLINE, SERVER_CORE, free_port, machine, run_client

VIEWERS = [0, 1, 10]
# The share of a core that one viewer may take.
BAR = 0.01
# What ten may take, as a multiple of what one takes.
BAR_OF_TEN = 1.2
# Events come once a second; the first and the last second have none for certain.
MAY_MISS = 2


def of_loadline(text):
    # The page's address stands before the report.
    summary = json.loads(text[text.index("{"):])["summary"]
    return {
        "requests": summary["answered"],
        "rate": summary["rate"],
        "lateness_us": summary["lateness_us"]["p99"],
    }


def words_of(url, port, rate, seconds, viewers):
    page = [f"--web=127.0.0.1:{port}"] if viewers else []
    return [LOADLINE, *page, "-q", "-t", "1", "--allow-invalid", "--no-watch", "-o", "json",
            "-c", "100", "-r", rate, "-d", f"{seconds}s", url]


def connected(port, deadline):
    """A viewer that has read the page, and waits for its events."""
    while True:
        try:
            viewer = socket.create_connection(("127.0.0.1", port), timeout=5)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    viewer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += viewer.recv(1 << 20)
    head, _, body = answer.partition(b"\r\n\r\n")
    left = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(body)
    while left > 0:
        left -= len(viewer.recv(left))
    viewer.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return viewer


def watch(port, seen, have_page):
    """Watches one run to its end by so many viewers; seen becomes the numbers of their events."""
    deadline = time.monotonic() + 5
    with selectors.DefaultSelector() as ready:
        for place in range(len(seen)):
            ready.register(connected(port, deadline), selectors.EVENT_READ, place)
        have_page.set()
        while ready.get_map():
            for key, _ in ready.select():
                try:
                    came = key.fileobj.recv(1 << 20)
                except ConnectionResetError:
                    came = b""
                if came:
                    seen[key.data] += len(re.findall(rb"^event:", came, re.MULTILINE))
                else:
                    ready.unregister(key.fileobj)
                    key.fileobj.close()


def cpu_ms(thread):
    """The CPU of a thread, by the folder of it in /proc: the kernel has one of these files."""
    with contextlib.suppress(FileNotFoundError):
        return int((thread / "schedstat").read_text().split()[0]) / 1e6
    found = re.search(r"se.sum_exec_runtime +: +([\d.]+)", (thread / "sched").read_text())
    return float(found[1])


def process_cpu_s(pid):
    """The CPU of all threads of a process, those included that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    # The fields 14 and 15 of proc(5), of which the first two stand before.
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class CpuOfLoad:
    """The CPU until the load ends: of the process, and of the page's threads as a share of a core,
    since all viewers have the page."""

    NAMES = ("live page", "web", "web pool")

    def __init__(self, have_page, seconds):
        self.have_page, self.begun, self.latest = have_page, None, None
        # The load begins a little later than the process.
        self.until = time.monotonic() + seconds
        self.process_s, self.ms = 0, {}

    def look(self, pid):
        if time.monotonic() > self.until:
            return
        with contextlib.suppress(OSError):
            self.process_s = process_cpu_s(pid)
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            # A thread may end meanwhile: what it had counts.
            with contextlib.suppress(OSError):
                if (thread / "comm").read_text().strip() in self.NAMES:
                    self.ms[thread.name] = cpu_ms(thread)
        self.latest = time.monotonic(), sum(self.ms.values()) / 1e3
        if self.begun is None and self.have_page.is_set():
            self.begun = self.latest

    def share_of_page(self):
        if self.begun is None:
            return 0.0
        (begin, before), (end, now) = self.begun, self.latest
        return (now - before) / (end - begin)


def run(url, viewers, options):
    """One run that so many watch."""
    port, seen, have_page = free_port(), [0] * viewers, threading.Event()
    cpu = CpuOfLoad(have_page, options.seconds)
    watching = threading.Thread(target=watch, args=(port, seen, have_page))
    if viewers:
        watching.start()
    words = words_of(url, port, options.rate, options.seconds, viewers)
    sample = run_client(words, of_loadline, look=cpu.look)
    if viewers:
        watching.join()
    if viewers and min(seen) < options.seconds - MAY_MISS:
        sys.exit(f"viewers missed events: {seen} in {options.seconds} s")
    if sample.figures["rate"] < 0.99 * options.rate:
        sys.exit(f"the rate was {sample.figures['rate']:.0f}/s: the machine is too slow; "
                 "give a lower one (--rate)")
    sample.figures |= {"page": cpu.share_of_page(), "process": cpu.process_s / options.seconds}
    return sample


def turns(url, options):
    """The runs of each turn, by the number of viewers."""
    for round_ in range(options.rounds + 1):
        order = VIEWERS if round_ % 2 == 0 else VIEWERS[::-1]
        found = {viewers: run(url, viewers, options) for viewers in order}
        if round_:
            yield found


def report(found):
    """Prints what was found; true if all bars hold."""
    added = {viewers: [turn[viewers].figures["process"] - turn[0].figures["process"]
                       for turn in found]
             for viewers in VIEWERS[1:]}
    page = {viewers: [turn[viewers].figures["page"] for turn in found]
            for viewers in VIEWERS[1:]}
    late = {viewers: [turn[viewers].figures["lateness_us"] for turn in found]
            for viewers in VIEWERS}
    late_ratios = {viewers: [some / max(none, 1e-3) for none, some in zip(late[0], late[viewers])]
                   for viewers in VIEWERS[1:]}
    print("| figure | median | 95 % interval | bar |")
    print("|---|---|---|---|")
    ratios = [ten / one for one, ten in zip(page[1], page[10])]
    for name, values, form, bar in [
        ("CPU of the page with one viewer, of a core", page[1], "{:.2%}", f"≤ {BAR:.0%}"),
        ("the same with ten viewers", page[10], "{:.2%}", ""),
        ("the same with ten / with one", ratios, "{:.2f}", f"≤ {BAR_OF_TEN}"),
        ("CPU that one adds to the process", added[1], "{:.2%}", f"≤ {BAR:.0%} or noise"),
        ("CPU that ten add to the process", added[10], "{:.2%}",
         f"≤ {BAR_OF_TEN * BAR:.1%} or noise"),
        ("lateness p99 with one / without", late_ratios[1], "{:.2f}", "1 or noise"),
        ("lateness p99 with ten / without", late_ratios[10], "{:.2f}", "1 or noise"),
    ]:
        middle, low, high = map(form.format, interval(values))
        print(f"| {name} | {middle} | {low} – {high} | {bar} |")
    medians = {viewers: statistics.median(values) for viewers, values in late.items()}
    each = [f"{value:.1f} µs with {viewers}" for viewers, value in medians.items()]
    print(f"\nLateness p99, medians: {', '.join(each)}.")
    is_cheap = statistics.median(page[1]) <= BAR and interval(added[1])[1] <= BAR
    is_shared = (statistics.median(ratios) <= BAR_OF_TEN
                 and interval(added[10])[1] <= BAR_OF_TEN * BAR)
    is_punctual = all(interval(late_ratios[viewers])[1] <= 1
                      or medians[viewers] - medians[0] < LEAST_LATENESS_US
                      for viewers in VIEWERS[1:])
    print(f"One viewer: {'holds' if is_cheap else 'TOO MUCH'}; "
          f"ten: {'holds' if is_shared else 'TOO MUCH'}; "
          f"lateness: {'holds' if is_punctual else 'WORSE'}.")
    return is_cheap and is_shared and is_punctual


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help=f"at least {FEWEST_ROUNDS}")
    parser.add_argument("--seconds", type=int, default=10, help="the length of each run")
    parser.add_argument("--rate", type=int, default=50_000, help="requests per second")
    options = parser.parse_args()
    if options.rounds < FEWEST_ROUNDS:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}")
    os.sched_setaffinity(0, {int(SERVER_CORE)})
    print(f"{machine()}; client on core {CLIENT_CORE}; {options.rounds} rounds of "
          f"{options.seconds} s at {options.rate}/s\n")
    with tempfile.TemporaryDirectory(prefix="loadline-viewers-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with nginx(folder) as (url, _, _):
            found = list(turns(url, options))
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
