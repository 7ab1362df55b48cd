"""Loadline beside wrk and ab at 1, 10 and 100 connections, client and server on a core each or with
nothing pinned, and beside wrk with more threads than cores. `speed.py` runs it.

With nothing pinned the scheduler decides who shares a core with the server, and so what a wake-up
costs; published comparisons are mostly made so.
"""

import re
import shutil

CONNECTIONS = [1, 10, 100]
# Threads and connections of wrk's words.
CROWDED = [(8, 100), (30, 1000)]


def of_ab(text):
    """Requests that were answered, and how many a second, by ab's report."""
    return {"requests": int(re.search(r"Complete requests:\s+(\d+)", text)[1]),
            "rate": float(re.search(r"Requests per second:\s+([\d.]+)", text)[1])}


class ConnectionRows:
    """The rows of the table with few connections, and with many threads."""

    def __init__(self, bench, loadline, compared, of_wrk):
        self.bench, self.loadline, self.compared = bench, loadline, compared
        self.parsers = {"wrk": of_wrk, "ab": of_ab}

    def run(self, wanted):
        """Both tools in turn, with a server that is pinned as they are."""
        for is_pinned in [True, False]:
            rows = [row for row in self.rows(is_pinned) if wanted(row[0])]
            if rows:
                with self.bench.nginx(is_pinned):
                    for row in rows:
                        self.compare(*row, is_pinned)

    def rows(self, is_pinned):
        """Name, tool, words and the bar of CPU of each row."""
        place = "a core each" if is_pinned else "nothing pinned"
        seconds = str(self.bench.options.seconds)
        for connections in CONNECTIONS:
            yield (f"wrk -c{connections}, {place}", "wrk",
                   ["-t1", "-c", connections, "-d", seconds], 1.0)
            yield (f"ab -k -c{connections}, {place}", "ab",
                   ["-k", "-q", "-c", connections, "-t", seconds, "-n", "100000000"], 1.0)
        for threads, connections in [] if is_pinned else CROWDED:
            yield (f"wrk -c{connections} -t{threads}, {place}", "wrk",
                   ["-t", threads, "-c", connections, "-d", seconds], None)

    def compare(self, name, tool, words, cpu_bar, is_pinned):
        """Lets the tool and Loadline take turns, and holds the ratios against the bars."""
        if not shutil.which(tool):
            self.bench.add(name, f"requests/s, ours / {tool}", f"{tool} is not installed",
                           "≥ 1.00", None)
            return
        words = [*words, f"http://127.0.0.1:{self.bench.http}/"]
        parse = self.parsers[tool]
        mine, theirs = self.bench.take_turns(
            ([self.loadline, tool, *words], parse), ([tool, *words], parse), is_pinned)
        self.bench.judge(self.compared(name, {}, {"tool": tool}, cpu_bar, 1.0), mine, theirs)
