"""Spreads the users of a test over agents on other machines, as `processes` does over children.

The command says which agents these are. Each starts a process (`part`), which gets the locustfile
with what it needs, and the options; from then on it is one more child, whose messages and reports
come over the bus.
"""

import json
import logging
import os
import socket
import sys

import gevent

from loadline import native

from locust.rpc.pipe import Pipe, plain
from locust.runners.coordinator import ProcessesRunner
from locust.runners.remotes import FarChild

from .bundle import Bundle, TooMuch
from .processes import lead

logger = logging.getLogger("locust.main")

# The command's exit code for agents that can't be used.
_UNUSABLE = 2
_INTERRUPTED = 130
# Agents that are named in the log.
_MOST_NAMES = 8


def agents_of(options):
    """The machines that have the users of this test; None if this one has them."""
    text = os.environ.pop(native.Agents.VARIABLE, None)
    if text:
        return Agents(text)
    if not options.master:
        return None
    from .master import Master

    return Master()


def bus_of(host, port, token):
    """What the extension is told of a bus."""
    shown = f"[{host}]" if ":" in host else host
    user = f"{token}@" if token else ""
    return json.dumps({"bus": {"url": f"nats://{user}{shown}:{port}"}})


_RECORDED = (
    "--elastic has agents join while the test lasts, and one that is recorded has those with which "
    "it begins: leave out --elastic, or --out, --check and --html."
)


class Agents:
    """The agents of a test. To be made before the locustfile is loaded, whose files they get."""

    def __init__(self, text):
        self._text = text
        self.bundle = Bundle()
        self._parts = []
        # The search for agents that come while the test lasts, once it has begun, and what it does.
        self._search = self._begin_search = None
        # What follows the losses of the test.
        self._losses = None

    def check(self, options):
        """End the process where options contradict agents."""
        self.bundle.close()
        if options.processes:
            refuse("Each agent has one process: leave out --processes, or --agents.")
        if options.master or options.worker:
            refuse("--agents makes this the master: leave out --master and --worker.")

    def create_runner(self, environment, options, outputs, paths):
        """Gather the agents, and return the runner of this process."""
        try:
            self._fleet = native.Agents(self._text)
            if self._fleet.is_elastic and outputs.records and options.headless:
                refuse(_RECORDED)
            files, names = self.bundle.pack(paths)
            self._parts = aside(self._fleet.gather)
        except (ConnectionError, TooMuch, ValueError) as e:
            refuse(str(e))
        self._log_agents()
        job = job_of(files, names, outputs.records)
        ids = _ids(self._parts)
        children = [
            begin(part, job, {"index": index, "client_id": ids[index]}, options)
            for index, part in enumerate(self._parts)
        ]
        replaces_users = not self._fleet.keeps_losses
        runner = lead(environment, ProcessesRunner(environment, children, replaces_users))
        if self._fleet.is_elastic:
            from .search import Search

            runner.rebalances = True
            self._begin_search = lambda: Search(self._fleet, runner, job, options)
        return runner

    def _log_agents(self):
        names = [part.name for part in self._parts]
        more = ", …" if len(names) > _MOST_NAMES else ""
        shown = ", ".join(names[:_MOST_NAMES])
        agents = "1 agent" if len(names) == 1 else f"{len(names)} agents"
        logger.info(f"The users are on {agents}: {shown}{more}.")

    def await_ready(self, runner):
        """Wait until all agents have loaded the locustfile; ends the process if one can't."""
        try:
            unready = runner.await_ready()
        except KeyboardInterrupt:
            unready = None
        if unready == []:
            from .losses import Losses

            self._losses = Losses(self._fleet, runner)
            if self._begin_search:
                self._search = self._begin_search()
            return
        for part in self._parts:
            part.kill()
        if unready is None:
            os._exit(_INTERRUPTED)
        refuse(*unready)

    def end(self):
        """End what looks for agents."""
        for looking in (self._losses, self._search):
            if looking is not None:
                looking.end()


def job_of(files, names, records):
    """What all parts of a test get: a locustfile's files with the names of locustfiles in them."""
    return {
        "version": native.load().__version__,
        "files": files,
        "locustfiles": names,
        "words": sys.argv[1:],
        "records": records,
    }


def begin(part, job, own, options):
    """Have an agent's part begin, with what it alone gets; returns what the runner needs of it."""
    descriptor, line = part.begin(json.dumps(job), json.dumps(own))
    pipe = Pipe(socket.socket(fileno=descriptor), plain)
    pipe.send("options", vars(options) if options else {})
    return FarChild(part, own["client_id"]), pipe, line


def aside(function, *arguments):
    """Call a function that waits for machines, on another thread: the loop runs meanwhile.

    Ends the process at Ctrl-C: that thread must not come back to an interpreter that ends.
    """

    def call():
        # The pool would log what is raised there.
        try:
            return function(*arguments), None
        except (ConnectionError, PermissionError) as e:
            return None, e

    try:
        result, error = gevent.get_hub().threadpool.apply(call)
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)
    if error is not None:
        raise error
    return result


def _ids(parts):
    """A name for each part that no other one has."""
    names = [part.name for part in parts]
    return [
        name if names.count(name) == 1 else f"{name}_{number}" for number, name in enumerate(names)
    ]


def refuse(*sentences):
    """End the process because of what sentences say."""
    for sentence in sentences:
        logger.error(sentence)
    sys.exit(_UNUSABLE)
