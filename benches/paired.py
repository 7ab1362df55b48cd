"""CPU per request of two builds of Loadline, in turn, in one run.

Each round runs the old build and the new one, in an order that alternates; the ratio new / old is
taken in each round. Reported are the median of the ratios and the interval between the ranks that
hold the median with a confidence of at least 95 % (binomial: of nine rounds the second and the
eighth, of twelve the third and the tenth). A row is slower when its median is above the bar and its
interval lies above 1. The server runs on core 0, the client on core 1.

Usage: python3 benches/paired.py OLD [NEW] [--rounds N] [--seconds N] [--only WORD]
"""

import argparse
import contextlib
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from speed import (CLIENT_CORE, LOADLINE, SERVER_CORE, WRK_SCRIPTS, WRK_SCRIPTS_FOLDERS, Bench,
                   free_port, machine, of_loadline, of_wrk, pinned, run_client, wait_for)

BAR = 1.02
# Fewer rounds have no interval of 95 %.
FEWEST_ROUNDS = 6


def rows(url, tls_url, big_url, seconds, scripts):
    """Name, arguments and the reader of the output for each row of the speed table."""
    native = ["-q", "-t", "1", "--allow-invalid", "-o", "json", "-d", f"{seconds}s"]
    for connections in [100, 1000]:
        for clock in ["kernel", "user"]:
            yield (f"{connections} connections, {clock} clock",
                   [*native, "-c", connections, "--clock", clock, url], of_loadline)
    yield "pipelined by 16", [*native, "-c", "100", "--pipeline", "16", url], of_loadline
    yield "1 MB body", [*native, "-c", "10", big_url], of_loadline
    yield "no keep-alive", [*native, "-c", "50", "--no-keepalive", url], of_loadline
    yield "TLS", [*native, "-c", "100", "--insecure", tls_url], of_loadline
    yield "20 000/s", [*native, "-c", "100", "-r", "20k", url], of_loadline
    yield "ab -k", ["ab", "-k", "-q", "-c", "100", "-t", seconds, "-n", "100000000", url], of_ab
    words = ["-t1", "-c100", "-d", f"{seconds}s"]
    yield "wrk", ["wrk", *words, url], of_wrk
    yield "wrk2 -R 20000", ["wrk2", *words, "-R20000", url], of_wrk
    for script in scripts:
        yield f"wrk script {script.stem}", ["wrk", *words, "-s", script, url], of_wrk


def of_ab(text):
    for line in text.splitlines():
        if line.startswith("Complete requests:"):
            return {"requests": int(line.split()[-1])}
    sys.exit(f"no count of requests in:\n{text}")


@contextlib.contextmanager
def nginx(folder):
    """One worker that answers 60 bytes in clear text and over TLS, and a megabyte."""
    port, tls_port = free_port(), free_port()
    (folder / "big").write_bytes(bytes(1 << 20))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, stderr=subprocess.DEVNULL)
    config = folder / "nginx.conf"
    config.write_text(f"""
        worker_processes 1; daemon off; user root; pid {folder}/nginx.pid;
        error_log {folder}/error.log; worker_rlimit_nofile 20000;
        events {{ worker_connections 15000; }}
        http {{
          access_log off; default_type text/plain;
          keepalive_requests 1000000000; keepalive_timeout 600; client_max_body_size 0;
          client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
          fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
          server {{
            listen 127.0.0.1:{port} backlog=4096;
            listen 127.0.0.1:{tls_port} ssl backlog=4096;
            ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
            location / {{ return 200 "{'x' * 60}"; }}
            location = /big {{ root {folder}; }}
            location = /authenticate {{ add_header X-Token secret; return 200 "in"; }}
          }}
        }}
    """)
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    server = subprocess.Popen(pinned(SERVER_CORE, [binary, "-c", config]))
    try:
        wait_for(port)
        clear = f"http://127.0.0.1:{port}/"
        yield clear, f"https://127.0.0.1:{tls_port}/", f"{clear}big"
    finally:
        server.terminate()
        server.wait()


def example_scripts(folder):
    """wrk's own example scripts, as a package installs them."""
    bench = Bench(None, folder)
    places = [pathlib.Path(place) for place in WRK_SCRIPTS_FOLDERS if os.path.isdir(place)]
    found = [bench.unpacked(places[0] / f"{name}.lua") for name in WRK_SCRIPTS] if places else []
    return [script for script in found if script]


def outer_rank(rounds):
    """How many of the smallest and of the largest ratios lie outside of the interval."""
    below, chance = 0, 0.0
    while True:
        chance += math.comb(rounds, below) / 2**rounds
        if 2 * chance > 0.05:
            return below - 1
        below += 1


def compare(old, new, words, parse, rounds):
    """The ratio new / old of the CPU per request in each round, after one that is not counted."""
    ratios = []
    for round_ in range(rounds + 1):
        new_first = round_ % 2 == 0
        first, second = [run_client([binary, *words], parse).cpu_us
                         for binary in ([new, old] if new_first else [old, new])]
        if round_:
            ratios.append(first / second if new_first else second / first)
    return sorted(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="the build that is the measure")
    parser.add_argument("new", nargs="?", default=str(LOADLINE), help="the build in question")
    parser.add_argument("--rounds", type=int, default=9, help=f"at least {FEWEST_ROUNDS}")
    parser.add_argument("--seconds", type=int, default=2, help="the length of each run")
    parser.add_argument("--only", default="", help="rows whose name has this word")
    options = parser.parse_args()
    if options.rounds < FEWEST_ROUNDS:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}")
    slower = 0
    print(f"{machine()}; client on core {CLIENT_CORE}; {options.rounds} rounds\n")
    print("| row | new / old, CPU per request | 95 % interval | |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="loadline-paired-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with nginx(folder) as urls:
            for row, words, parse in rows(*urls, options.seconds, example_scripts(folder)):
                if options.only not in row:
                    continue
                ratios = compare(options.old, options.new, words, parse, options.rounds)
                middle, cut = statistics.median(ratios), outer_rank(len(ratios))
                low, high = ratios[cut], ratios[-1 - cut]
                is_slower = middle > BAR and low > 1
                slower += is_slower
                mark = "**slower**" if is_slower else "✓"
                print(f"| {row} | {middle:.3f} | {low:.3f} – {high:.3f} | {mark} |", flush=True)
    print(f"\n{slower} rows are slower." if slower else "\nNo row is slower.")


if __name__ == "__main__":
    main()
