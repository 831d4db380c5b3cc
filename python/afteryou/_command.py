"""The command ``afteryou``."""

import signal
import sys

from afteryou._afteryou import command


def run() -> int:
    """Runs the command line and returns its exit code."""
    # The command handles Ctrl-C by itself; Python's handler would wait for it to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["afteryou", *sys.argv[1:]])
