"""`python -m loadline.part AGENT`: some of the users of a locustfile, for an agent that starts it.

Stdin and stdout have the frames of its line to the process that leads the test. Before the
extension is there, which reads and writes them, one of them can be written here: why there is none.
"""

import json
import sys

from loadline.__main__ import run


def fail(reason):
    """Say why this part can't begin, and end."""
    message = b"m" + json.dumps({"failed": {"reason": reason}}).encode()
    sys.stdout.buffer.write(len(message).to_bytes(4, "big") + message)
    sys.stdout.buffer.flush()
    sys.exit(1)


if __name__ == "__main__":
    run("loadline.locust_runner.part", fail)
