"""How a process ends that has used the engine: by its own exit code, however long its end takes."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from command_support import PACKAGES, environment

pytest.importorskip("loadline._native", reason="the extension is not built")

# The loop stands still for so long that the engine looks where. While it looks, work in C begins at
# the very end, and the interpreter takes a while to free what there is: more than half of such
# processes aborted while the look was not over.
PROGRAM = """
import atexit
atexit.register(pow, 7, {digits})
from gevent import monkey
monkey.patch_all()
from loadline import native
freed_late = [[] for _ in range(500_000)]
native.load().sleep(0.05)
pow(7, 1_000_000)
{end}
"""


def end(digits, end="", arguments=()):
    words = [sys.executable, "-c", PROGRAM.format(digits=digits, end=end), *arguments]
    ended = subprocess.run(words, cwd=PACKAGES, env=environment(), capture_output=True, text=True,
                           timeout=120)
    return ended.returncode, ended.stderr


def test_long_work_at_the_very_end_does_not_abort_the_process():
    for code in (0, 3) * 4:
        assert end(1_500_000, f"raise SystemExit({code})") == (code, "")


def test_fifty_ends_on_a_busy_machine_have_their_own_exit_code():
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        with ThreadPoolExecutor(5) as beside:
            codes = list(beside.map(lambda i: end(400_000, f"raise SystemExit({i % 2})"),
                                    range(50)))
    finally:
        busy.kill()
        busy.wait()
    assert codes == [(i % 2, "") for i in range(50)]


def test_no_thread_of_the_extension_is_left_when_the_interpreter_ends():
    # What was registered first is called last: what it sees is there while the interpreter ends.
    program = """
import atexit, os
def tell():
    names = [open(f"/proc/self/task/{one}/comm").read().strip()
             for one in os.listdir("/proc/self/task")]
    os.write(1, " ".join(sorted(names)).encode())
atexit.register(tell)
from gevent import monkey
monkey.patch_all()
from loadline import native
native.load().sleep(0.01)
tell()
os.write(1, b"|")
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=PACKAGES, env=environment(),
                           capture_output=True, text=True)
    before, _, after = ended.stdout.partition("|")
    assert ("hub-lag" in before, "hub-lag" in after) == (True, False), ended.stderr


def test_a_forked_child_ends_by_its_own_code():
    code = "pid = os.fork()\nif pid == 0:\n    native.load().sleep(0.01)\n    raise SystemExit(5)\n"
    code += "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    assert end(1_000_000, "import os\n" + code) == (5, "")
