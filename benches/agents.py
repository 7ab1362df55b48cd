"""What an agent costs beside the plain command: CPU of the generator's core.

Runs of 20 000 requests/s are made by the plain command and by one agent, in an order that
alternates, after a pair that is not counted. The plain command has the client's core; so has the
agent, with the process of its part, while coordinator and bus have the server's. All CPU is the
kernel's account.

Two costs are measured. The *CPU of the agent* is that of its own process from the offer of the run
to its end: it passes on what the process of the part sends, and answers the coordinator. The *CPU
of agent and part* is that of both, beside that of the plain command, which also prints a report: it
varies by some percent from run to run, because the load itself does, so that its difference says
whether agents disturb the load, and no more.

The bars: the CPU of the agent is at most 1 % of a core; agent and part have at most 1 % of a core
more than the plain command, within the noise. One line says whether they hold; the exit code is 1
if they don't.

Usage: python3 benches/agents.py [--rounds N] [--seconds N] [--rate N]
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from exporters import cpu_s, interval
from paired import FEWEST_ROUNDS, nginx
from speed import (CLIENT_CORE, LOADLINE, SERVER_CORE, free_port, machine, of_loadline, on_core,
                   pinned, run_client, wait_for)

# The share of a core that an agent may take.
BAR = 0.01
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def bus(is_pinned=True):
    """A bus, on the server's core or wherever it is put; its URL."""
    port = free_port()
    words = ["nats-server", "-a", "127.0.0.1", "-p", port]
    server = subprocess.Popen(on_core(SERVER_CORE, words, is_pinned),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield f"nats://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def agent(nats, name, *more, is_pinned=True):
    """An agent that waits on a bus, on the client's core or wherever it is put; its process."""
    words = [LOADLINE, "agent", "--nats", nats, "--name", name, *more]
    words = on_core(CLIENT_CORE, words, is_pinned)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if "waits for runs" not in (line := process.stdout.readline()):
            sys.exit(f"the agent does not wait: {line}")
        yield process
    finally:
        process.kill()
        process.wait()


def own_cpu_s(process):
    """The CPU of a process, threads that have ended included."""
    # The clock of another process, by its number (man 3 clock_getcpuclockid).
    return time.clock_gettime((~process.pid << 3) | 2)


def part_cpu_s(process):
    """The CPU of all processes that this one has started and that have ended."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[13:15])) * TICK_S


def words_of(url, options):
    return ["-q", "-t", "1", "--allow-invalid", "--no-watch", "-o", "json", "-c", "100",
            "-r", options.rate, "-d", f"{options.seconds}s", url]


def checked(figures, options):
    if figures["rate"] < 0.99 * options.rate:
        sys.exit(f"the rate was {figures['rate']:.0f}/s: the machine is too slow; give a lower one "
                 "(--rate)")


def plain(words, options):
    """The CPU of the plain command, in seconds."""
    sample = run_client([LOADLINE, *words], of_loadline)
    checked(sample.figures, options)
    return cpu_s(sample)


def on_agent(nats, process, words, options):
    """The CPU of an agent and of its part, in seconds."""
    own, part = own_cpu_s(process), part_cpu_s(process)
    front = [LOADLINE, "--nats", nats, "--agents", "1"]
    command = pinned(SERVER_CORE, [*front, *words])
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if found.returncode != 0:
        sys.exit(f"the run on the agent ended with {found.returncode}:\n{found.stderr}")
    checked(of_loadline(found.stdout), options)
    # The process of the part may end a moment after the report.
    until = time.monotonic() + 5
    while part_cpu_s(process) == part and time.monotonic() < until:
        time.sleep(0.01)
    return own_cpu_s(process) - own, part_cpu_s(process) - part


def turns(url, nats, process, options):
    """Of each round the CPU of the plain command, of the agent and of its part, in seconds."""
    words = words_of(url, options)
    for round_ in range(options.rounds + 1):
        if round_ % 2:
            own, part = on_agent(nats, process, words, options)
            bare = plain(words, options)
        else:
            bare = plain(words, options)
            own, part = on_agent(nats, process, words, options)
        if round_:
            yield bare, own, part


def report(found, seconds):
    """Prints what was found; true if both bars hold."""
    own = [own / seconds for _, own, _ in found]
    added = [(own + part - bare) / seconds for bare, own, part in found]
    both = [(own + part) / bare for bare, own, part in found]
    print("| figure | median | 95 % interval | bar |")
    print("|---|---|---|---|")
    for name, values, form, bar in [
        ("CPU of the agent, of a core", own, "{:.2%}", f"≤ {BAR:.0%}"),
        ("CPU that agent and part have more than the command", added, "{:.2%}",
         f"≤ {BAR:.0%} or noise"),
        ("agent and part / command", both, "{:.3f}", ""),
    ]:
        middle, low, high = map(form.format, interval(values))
        print(f"| {name} | {middle} | {low} – {high} | {bar} |")
    is_cheap = statistics.median(own) <= BAR
    is_alike = interval(added)[1] <= BAR
    print(f"\nAgent: {'holds' if is_cheap else 'TOO MUCH'}; "
          f"agent and part: {'holds' if is_alike else 'TOO MUCH'}.")
    return is_cheap and is_alike


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help=f"at least {FEWEST_ROUNDS}")
    parser.add_argument("--seconds", type=int, default=10, help="the length of each run")
    parser.add_argument("--rate", type=int, default=20_000, help="requests per second")
    options = parser.parse_args()
    if options.rounds < FEWEST_ROUNDS:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}")
    os.sched_setaffinity(0, {int(SERVER_CORE)})
    print(f"{machine()}; client on core {CLIENT_CORE}; {options.rounds} rounds of "
          f"{options.seconds} s at {options.rate}/s\n")
    with tempfile.TemporaryDirectory(prefix="loadline-agents-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with nginx(folder) as (url, _, _), bus() as nats, agent(nats, "one") as process:
            found = list(turns(url, nats, process, options))
    return 0 if report(found, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
