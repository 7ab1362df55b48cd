"""What all exporters at once cost the generator: CPU of its core, and lateness.

Runs of 20 000 requests/s with 100 names are made with every exporter and with none, in an order
that alternates, after a pair that is not counted. The whole command, its exporters' threads
included, has one core, which is the worst case for lateness; its CPU is the kernel's account of the
process, user and system time from its start to its end. The receivers answer at once: nginx on the
server's core takes what is posted, a socket takes the datagrams, and the endpoint is scraped every
three seconds. gRPC and InfluxDB by UDP are left out: their messages are those over HTTP.

The bar: the median of what the exporters add is at most 2 % of a core, and lateness p99 is not
longer beyond the noise: the interval of 95 % of its ratios has 1 in it or lies below, or the
medians differ by less than 50 µs. One line says whether both hold; the exit code is 1 if they
don't. A run whose metrics were not all taken, or whose endpoint was not scraped, ends it.

Usage: python3 benches/exporters.py [--rounds N] [--seconds N] [--rate N] [--names N]
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import threading
import urllib.request

from paired import FEWEST_ROUNDS, nginx, outer_rank
from speed import CLIENT_CORE, LOADLINE, SERVER_CORE, free_port, machine, run_client

# The share of a core that all exporters may take.
BAR = 0.02
# What differs by less than this is no difference in lateness, in µs.
LEAST_LATENESS_US = 50
# Every run is scraped more than once.
SCRAPE_INTERVAL_S = 3
SHORTEST_RUN_S = 2 * SCRAPE_INTERVAL_S


def of_loadline(text):
    # What is said beside the report stands before it: a receiver that refused something.
    if not text.startswith("{"):
        sys.exit(f"this is no report:\n{text[:1_000]}")
    summary = json.loads(text)["summary"]
    return {
        "requests": summary["answered"],
        "rate": summary["rate"],
        "lateness_us": summary["lateness_us"]["p99"],
        "warnings": [one["text"] for one in summary["warnings"] if one["kind"] == "not_delivered"],
    }


def words_of(urls, rate, seconds):
    """The words of a run without exporters."""
    return [LOADLINE, "-q", "-t", "1", "--allow-invalid", "--no-watch", "-o", "json", "-c", "100",
            "-r", rate, "-d", f"{seconds}s", "--urls", urls]


def exporters(receiver, datagrams, scraped):
    """The words that ask for every exporter."""
    outputs = [
        f"prometheus-rw={receiver}api/v1/write",
        f"influxdb={receiver}runs",
        f"otlp={receiver}",
        f"statsd=127.0.0.1:{datagrams}",
        f"dogstatsd=127.0.0.1:{datagrams}",
        f"scrape=127.0.0.1:{scraped}",
        f"webhook={receiver}done",
    ]
    return [word for output in outputs for word in ("-o", output)]


def list_of(folder, url, names):
    path = folder / "urls"
    lines = [json.dumps({"url": f"{url}{number}", "name": f"name {number}"})
             for number in range(names)]
    path.write_text("\n".join(lines) + "\n")
    return path


@contextlib.contextmanager
def datagram_socket():
    """A port that takes datagrams; what finds no room is dropped by the kernel."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taking:
        taking.bind(("127.0.0.1", 0))
        yield taking.getsockname()[1]


@contextlib.contextmanager
def scraper(port):
    """Scrapes an endpoint from time to time, while it is there; yields what was read."""
    over, pages = threading.Event(), []

    def scrape():
        while not over.wait(SCRAPE_INTERVAL_S):
            # Between two runs nothing listens, and the end of a run may cut an answer off.
            with contextlib.suppress(OSError, http.client.HTTPException):
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=2).read()
                pages.append(len(page))

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield pages
    finally:
        over.set()
        thread.join()


def cpu_s(sample):
    return sample.cpu_us * sample.requests / 1e6


def pairs(without, more, pages, options):
    """Pairs of runs without and with exporters."""
    for round_ in range(options.rounds + 1):
        both = {}
        for has in [False, True] if round_ % 2 == 0 else [True, False]:
            pages.clear()
            both[has] = run_client(without + (more if has else []), of_loadline)
            if has and not any(pages):
                sys.exit("the endpoint was not scraped")
            if warnings := both[has].figures["warnings"]:
                sys.exit(f"the receivers did not take everything: {warnings}")
            if both[has].figures["rate"] < 0.99 * options.rate:
                sys.exit(f"the rate was {both[has].figures['rate']:.0f}/s: the machine is too slow")
        if round_:
            yield both[False], both[True]


def interval(values):
    """Median and interval of at least 95 % of these values."""
    values = sorted(values)
    cut = outer_rank(len(values))
    return statistics.median(values), values[cut], values[-1 - cut]


def report(found, seconds):
    """Prints what was found; true if both bars hold."""
    shares = [(cpu_s(own) - cpu_s(bare)) / seconds for bare, own in found]
    ratios = [cpu_s(own) / cpu_s(bare) for bare, own in found]
    late = [(bare.figures["lateness_us"], own.figures["lateness_us"]) for bare, own in found]
    late_ratios = [own / max(bare, 1e-3) for bare, own in late]
    print("| figure | median | 95 % interval | bar |")
    print("|---|---|---|---|")
    for name, values, form, bar in [
        ("CPU added, of a core", shares, "{:.2%}", f"≤ {BAR:.0%}"),
        ("CPU with / without", ratios, "{:.3f}", ""),
        ("lateness p99 with / without", late_ratios, "{:.2f}", "1 within noise"),
    ]:
        middle, low, high = map(form.format, interval(values))
        print(f"| {name} | {middle} | {low} – {high} | {bar} |")
    bare, own = (statistics.median(side) for side in zip(*late))
    print(f"\nLateness p99: {bare:.1f} µs without, {own:.1f} µs with (medians).")
    _, low, _ = interval(late_ratios)
    is_cheap = statistics.median(shares) <= BAR
    is_punctual = low <= 1 or own - bare < LEAST_LATENESS_US
    print(f"CPU: {'holds' if is_cheap else 'TOO MUCH'}; "
          f"lateness: {'holds' if is_punctual else 'WORSE'}.")
    return is_cheap and is_punctual


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help=f"at least {FEWEST_ROUNDS}")
    parser.add_argument("--seconds", type=int, default=10,
                        help=f"the length of each run, at least {SHORTEST_RUN_S}")
    parser.add_argument("--rate", type=int, default=20_000, help="requests per second")
    parser.add_argument("--names", type=int, default=100, help="names of requests")
    options = parser.parse_args()
    if options.rounds < FEWEST_ROUNDS:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}")
    if options.seconds < SHORTEST_RUN_S:
        parser.error(f"--seconds must be at least {SHORTEST_RUN_S}")
    os.sched_setaffinity(0, {int(SERVER_CORE)})
    print(f"{machine()}; client on core {CLIENT_CORE}; {options.rounds} rounds of "
          f"{options.seconds} s at {options.rate}/s with {options.names} names\n")
    scraped = free_port()
    with (tempfile.TemporaryDirectory(prefix="loadline-exporters-") as name,
          datagram_socket() as datagrams):
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with nginx(folder) as (url, _, _), scraper(scraped) as pages:
            urls = list_of(folder, url, options.names)
            without = words_of(urls, options.rate, options.seconds)
            more = exporters(url, datagrams, scraped)
            found = list(pairs(without, more, pages, options))
    return 0 if report(found, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
