"""What viewers of the live page cost the generator: CPU of its core, and lateness.

Runs of 50 000 requests/s are made without a page, with a page that one browser watches, and with
one that ten watch, in an order that alternates, after a turn that is not counted. The whole
command, its page's thread included, has one core; its CPU is the kernel's account of the process,
user and system time from its start to its end. A viewer reads the page and then its events, as a
browser does, on the server's core.

The bars: the median of what one viewer adds is at most 1 % of a core; lateness p99 is not longer
beyond the noise (the interval of 95 % of its ratios has 1 in it or lies below, or the medians
differ by less than 50 µs); the median of what ten add is at most 1.2 times what one adds, or they
differ by less than a thousandth of a core. One line says whether they hold; the exit code is 1 if
they don't. A viewer that misses events ends it.

Usage: python3 benches/viewers.py [--rounds N] [--seconds N] [--rate N]
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

from exporters import LEAST_LATENESS_US, cpu_s, interval
from paired import FEWEST_ROUNDS, nginx
from speed import CLIENT_CORE, LOADLINE, SERVER_CORE, free_port, machine, run_client

VIEWERS = [0, 1, 10]
# The share of a core that one viewer may take.
BAR = 0.01
# What ten may take, as a multiple of what one takes, and a share of a core that is no difference.
BAR_OF_TEN, LEAST_SHARE = 1.2, 0.001
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


def watch(port, seen, place):
    """Watches one run to its end; seen[place] becomes the number of its events."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.request("GET", "/api/v1/events")
            break
        except OSError:
            time.sleep(0.05)
    # The end of a run may cut the stream off.
    with contextlib.suppress(OSError, http.client.HTTPException):
        for line in connection.getresponse():
            seen[place] += line.startswith(b"event:")


def run(url, viewers, options):
    """One run that so many watch."""
    port, seen = free_port(), [0] * viewers
    threads = [threading.Thread(target=watch, args=(port, seen, place)) for place in range(viewers)]
    for thread in threads:
        thread.start()
    words = words_of(url, port, options.rate, options.seconds, viewers)
    sample = run_client(words, of_loadline)
    for thread in threads:
        thread.join()
    if viewers and min(seen) < options.seconds - MAY_MISS:
        sys.exit(f"viewers missed events: {seen} in {options.seconds} s")
    if sample.figures["rate"] < 0.99 * options.rate:
        sys.exit(f"the rate was {sample.figures['rate']:.0f}/s: the machine is too slow; "
                 "give a lower one (--rate)")
    return sample


def turns(url, options):
    """The runs of each turn, by the number of viewers."""
    for round_ in range(options.rounds + 1):
        order = VIEWERS if round_ % 2 == 0 else VIEWERS[::-1]
        found = {viewers: run(url, viewers, options) for viewers in order}
        if round_:
            yield found


def report(found, seconds):
    """Prints what was found; true if all bars hold."""
    added = {viewers: [(cpu_s(turn[viewers]) - cpu_s(turn[0])) / seconds for turn in found]
             for viewers in VIEWERS[1:]}
    late = {viewers: [turn[viewers].figures["lateness_us"] for turn in found]
            for viewers in VIEWERS}
    ratios = [one / max(none, 1e-3) for none, one in zip(late[0], late[1])]
    print("| figure | median | 95 % interval | bar |")
    print("|---|---|---|---|")
    for name, values, form, bar in [
        ("CPU that one viewer adds, of a core", added[1], "{:.2%}", f"≤ {BAR:.0%}"),
        ("CPU that ten add, of a core", added[10], "{:.2%}", f"≤ {BAR_OF_TEN} × one"),
        ("lateness p99 with one / without", ratios, "{:.2f}", "1 within noise"),
    ]:
        middle, low, high = map(form.format, interval(values))
        print(f"| {name} | {middle} | {low} – {high} | {bar} |")
    medians = {viewers: statistics.median(values) for viewers, values in late.items()}
    print("\nLateness p99, medians: "
          + ", ".join(f"{value:.1f} µs with {viewers}" for viewers, value in medians.items()) + ".")
    one, ten = statistics.median(added[1]), statistics.median(added[10])
    is_cheap = one <= BAR
    is_shared = ten <= max(BAR_OF_TEN * one, one + LEAST_SHARE)
    is_punctual = interval(ratios)[1] <= 1 or medians[1] - medians[0] < LEAST_LATENESS_US
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
    return 0 if report(found, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
