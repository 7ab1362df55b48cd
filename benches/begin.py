"""How closely four agents begin together, over plain links and over links that delay.

In each round four agents on this host send one request each, to a server that notes when it came:
the *skew* is the time from the first to the last, by the instants that the kernel gives to what it
receives. Rounds over plain links take turns with rounds whose links to
the bus delay each piece by 20 ± 5 ms, each way for itself: links of user space, as netem is not in
every kernel. Requests themselves are not delayed, so that the begin is measured and not the link.

The bars: the skew's p99 is at most 2 ms over plain links and 5 ms over those that delay; no round
has a skew above twice the error that the run has printed and 2 ms. One line says whether they
hold; the exit code is 1 if they don't. A machine that has other work to do delays agents: measure
in quiet.

Usage: python3 benches/begin.py [--rounds N]
"""

import argparse
import contextlib
import math
import queue
import random
import re
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

from agents import agent, bus
from speed import LOADLINE, machine

AGENTS = 4
# The kernel's own instant of each piece (socket(7)), however late it is read.
SO_TIMESTAMPNS = 35
DELAY_S, JITTER_S = 0.020, 0.005
# The bars for p99, in ms.
BARS = {"plain links": 2, "links of 20 ± 5 ms": 5}
# What a quiet machine may add to the begin that is known, in ms.
SCHEDULING_MS = 2
UNITS_MS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


class Meter(threading.Thread):
    """A server that answers each request; the instants of the first one of each connection."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.instants = queue.SimpleQueue()

    def run(self):
        ready = selectors.DefaultSelector()
        ready.register(self.listener, selectors.EVENT_READ)
        heard = set()
        while True:
            for key, _ in ready.select():
                if key.fileobj is self.listener:
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                    ready.register(connection, selectors.EVENT_READ)
                    continue
                piece, notes, _, _ = key.fileobj.recvmsg(65_536, 256)
                if not piece:
                    heard.discard(key.fileobj)
                    ready.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                if key.fileobj not in heard:
                    heard.add(key.fileobj)
                    [stamp] = [data for _, kind, data in notes if kind == SO_TIMESTAMPNS]
                    seconds, ns = struct.unpack("qq", stamp)
                    self.instants.put(seconds * 1_000_000_000 + ns)
                key.fileobj.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def skew_ms(self):
        """The time between the first and the last request since the last call."""
        instants = []
        while not self.instants.empty():
            instants.append(self.instants.get())
        if len(instants) != AGENTS:
            sys.exit(f"{len(instants)} first requests of {AGENTS} agents")
        return (max(instants) - min(instants)) / 1e6


def passed_on(source, to, seed):
    """Passes on what comes from one socket to another one, each piece some time later."""
    pieces, chance = queue.SimpleQueue(), random.Random(seed)

    def receive():
        last, piece = 0.0, b"-"
        while piece:
            try:
                piece = source.recv(65_536)
            except OSError:
                piece = b""
            # Nothing overtakes what came before.
            last = max(last, time.monotonic() + chance.uniform(DELAY_S - JITTER_S,
                                                               DELAY_S + JITTER_S))
            pieces.put((last, piece))

    def send():
        with contextlib.suppress(OSError):
            while True:
                at, piece = pieces.get()
                time.sleep(max(at - time.monotonic(), 0))
                if not piece:
                    return to.shutdown(socket.SHUT_WR)
                to.sendall(piece)

    for work in [receive, send]:
        threading.Thread(target=work, daemon=True).start()


def slow_link(nats):
    """The URL of the same bus over links that delay."""
    port = int(nats.rpartition(":")[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept():
        for number in range(1_000_000):
            near, _ = listener.accept()
            far = socket.create_connection(("127.0.0.1", port))
            for one in [near, far]:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            passed_on(near, far, 2 * number)
            passed_on(far, near, 2 * number + 1)

    threading.Thread(target=accept, daemon=True).start()
    return f"nats://127.0.0.1:{listener.getsockname()[1]}"


def run(nats, selector, meter):
    """One run of four agents: its skew, and the error of the clocks that it has printed, in ms."""
    words = [LOADLINE, "--nats", nats, "--agents", selector, "--allow-invalid", "--no-watch",
             "-t", str(AGENTS), "-c", str(AGENTS), "-n", str(AGENTS), meter.url]
    found = subprocess.run(words, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    if found.returncode != 0:
        sys.exit(f"a run ended with {found.returncode}:\n{found.stderr}")
    number, unit = re.search(r"known to within ([\d.]+) (\S+),", found.stderr).groups()
    return meter.skew_ms(), float(number) * UNITS_MS[unit]


def quantile(values, share):
    """The smallest value that this share of all does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def report(found):
    """Prints what was found; true if all bars hold."""
    print("| | skew, median | p99 | most | error printed, median | bar of p99 |")
    print("|---|---|---|---|---|---|")
    verdicts = {}
    for name, runs in found.items():
        skews, errors = zip(*runs)
        p99 = quantile(skews, 0.99)
        print(f"| {name} | {statistics.median(skews):.2f} ms | {p99:.2f} ms | "
              f"{max(skews):.2f} ms | {statistics.median(errors):.2f} ms | ≤ {BARS[name]} ms |")
        as_known = all(skew <= 2 * error + SCHEDULING_MS for skew, error in runs)
        verdicts[name] = p99 <= BARS[name] and as_known
    print("\n" + "; ".join(f"{name}: {'holds' if holds else 'TOO MUCH'}"
                           for name, holds in verdicts.items()) + ".")
    return all(verdicts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100, help="runs over each kind of link")
    options = parser.parse_args()
    print(f"{machine()}; {AGENTS} agents on this host; {options.rounds} rounds\n")
    meter = Meter()
    meter.start()
    with bus(is_pinned=False) as nats, contextlib.ExitStack() as running:
        slow = slow_link(nats)
        for place, url in [("plain", nats), ("slow", slow)]:
            for number in range(AGENTS):
                name = f"{place}-{number}"
                running.enter_context(agent(url, name, "--label", f"link={place}",
                                            is_pinned=False))
        found = {name: [] for name in BARS}
        for _ in range(options.rounds):
            for name, place in zip(BARS, ["plain", "slow"]):
                found[name].append(run(nats, f"{AGENTS},link={place}", meter))
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
