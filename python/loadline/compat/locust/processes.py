"""Spreads the users of a test over several processes of this machine."""

import os
import sys


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


def _refuse(sentence):
    sys.stderr.write(sentence)
    sys.exit(1)
