"""Spreads the users of a test over several processes of this machine."""

import gc
import os
import signal
import socket
import sys
import traceback

import gevent

from loadline import native

from locust import log
from locust.rpc.pipe import Pipe
from locust.runners.child import ChildRunner
from locust.runners.coordinator import ProcessesRunner
from locust.runners.remotes import Child


def check_count(options):
    """Make --processes -1 the number of cores; end with a sentence if it has no meaning."""
    if not options.processes:
        return
    if options.processes == -1:
        options.processes = os.cpu_count() or 1
    if options.processes < -1:
        _refuse(f"Invalid --processes count {options.processes}\n")
    if options.master:
        _refuse(
            "--master cannot be combined with --processes. Remove --master, as it is implicit as "
            "long as --worker is not set.\n"
        )


def create_runner(environment, options, outputs):
    """Fork the children, and return the runner of this process. Children end in here."""
    gc.collect()
    gc.freeze()
    children, own_pid = [], os.getpid()
    for index in range(options.processes):
        ours, theirs = socket.socketpair()
        line = native.ReportLine()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = gevent.fork()
        if pid == 0:
            if not native.load().end_with_parent(own_pid):
                os._exit(1)
            ours.close()
            line.keep_sending()
            for _, *others in children:
                for one in others:
                    one.close()
            _be_copy(environment, Pipe(theirs), index, outputs, line)
        theirs.close()
        line.keep_receiving()
        children.append((Child(index, options.processes, pid), Pipe(ours), line))
    return lead(environment, ProcessesRunner(environment, children, options.enable_rebalancing))


def lead(environment, runner):
    """Make a runner the one of the test; returns it."""
    environment.runner = runner
    if environment.shape_class:
        environment.shape_class.runner = runner
    return runner


def _be_copy(environment, pipe, index, outputs, line):
    """All of a child's life."""
    # A terminal sends Ctrl-C to all processes; it is the parent that ends the test.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log.forget_lines()
    code = 1
    try:
        runner = environment.runner = ChildRunner(environment, pipe, index, f"process_{index}")
        outputs.record_part(environment, line)
        code = have_users(runner, outputs.finish_part)
    except BaseException:
        traceback.print_exc()
    finally:
        pipe.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def have_users(runner, finish_part):
    """Have users as the coordinator says, until the end of the test; returns the exit code.

    `finish_part` waits until what is recorded of them is sent.
    """
    environment = runner.environment
    events, options = environment.events, environment.parsed_options
    if options.equal_weights:
        environment.assign_equal_weights()
    events.init.fire(environment=environment, runner=runner, web_ui=None)
    runner.serve()
    finish_part()
    events.quitting.fire(environment=environment, reverse=True)
    code = 2 if log.unhandled_greenlet_exception else 0
    events.quit.fire(exit_code=code)
    sys.stdout.flush()
    runner.send_end(code)
    return code


def _refuse(sentence):
    sys.stderr.write(sentence)
    sys.exit(1)
