"""What all exporters at once cost the generator: CPU of its core, and lateness.

Runs of 20 000 requests/s with 100 names are made with every exporter and with none, in an order
that alternates, after a pair that is not counted. The receivers answer at once: nginx on the
server's core takes what is posted, a socket takes the datagrams, and the endpoint is scraped every
five seconds. gRPC is left out: its messages are those of OpenTelemetry over HTTP.

The bar: the median of what the exporters add is at most 2 % of a core, and the median of the
ratios of lateness p99 lies within the noise: its interval of 95 % has 1 in it, or the times differ
by less than 50 µs. One line says whether both hold; the exit code is 1 if they don't.

Usage: python3 benches/exporters.py [--rounds N] [--seconds N] [--rate N] [--names N]
"""

import argparse
import contextlib
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
SCRAPE_INTERVAL_S = 5


def of_loadline(text):
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
    """Scrapes an endpoint from time to time, while it is there."""
    over = threading.Event()

    def scrape():
        while not over.wait(SCRAPE_INTERVAL_S):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cpu_s(sample):
    return sample.cpu_us * sample.requests / 1e6


def pairs(without, more, options):
    """Pairs of runs without and with exporters."""
    for round_ in range(options.rounds + 1):
        both = {}
        for has in [False, True] if round_ % 2 == 0 else [True, False]:
            both[has] = run_client(without + (more if has else []), of_loadline)
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
    parser.add_argument("--seconds", type=int, default=10, help="the length of each run")
    parser.add_argument("--rate", type=int, default=20_000, help="requests per second")
    parser.add_argument("--names", type=int, default=100, help="names of requests")
    options = parser.parse_args()
    if options.rounds < FEWEST_ROUNDS:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}")
    os.sched_setaffinity(0, {int(SERVER_CORE)})
    print(f"{machine()}; client on core {CLIENT_CORE}; {options.rounds} rounds of "
          f"{options.seconds} s at {options.rate}/s with {options.names} names\n")
    scraped = free_port()
    with (tempfile.TemporaryDirectory(prefix="loadline-exporters-") as name,
          datagram_socket() as datagrams):
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with nginx(folder) as (url, _, _), scraper(scraped):
            urls = list_of(folder, url, options.names)
            without = words_of(urls, options.rate, options.seconds)
            found = list(pairs(without, exporters(url, datagrams, scraped), options))
    return 0 if report(found, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
