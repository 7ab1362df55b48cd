"""What the tests share does not wait for ever."""

import os
import signal
import sys

import pytest
from command_support import HELD, Ended, await_line, begin, kill

TELLS = "import sys, time; print('why', file=sys.stderr, flush=True); print('one', flush=True); "


def python(folder, program):
    return begin(["-c", program], folder, command=[sys.executable])


def test_a_line_is_awaited_and_the_rest_is_left_to_read(tmp_path):
    process = python(tmp_path, TELLS + "print('line 7'); print('rest')")
    assert await_line(process, r"line (\d)")[1] == "7"
    ended = Ended(process)
    assert (ended.out, ended.err) == ("rest\n", "why\n")


@pytest.mark.parametrize("then", ["", "time.sleep(60)", "sys.stderr.write('x' * 1_000_000)"])
def test_a_process_without_the_line_is_ended_with_what_it_said(tmp_path, then):
    process = python(tmp_path, TELLS + then)
    with pytest.raises(AssertionError, match=r"no 'line \\d' within 2 s .*\none\nwhy"):
        await_line(process, r"line \d", seconds=2)
    assert process.poll() is not None


def test_pipes_that_another_process_holds_are_named(tmp_path):
    process = python(tmp_path, """if True:
        import subprocess, sys
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(other.pid, flush=True)
        other.wait()
    """)
    other = int(await_line(process, r"\d+")[0])
    try:
        assert kill(process, 1) == ("", HELD)
    finally:
        os.kill(other, signal.SIGKILL)
