"""The command ``afteryou``."""

import os
import signal
import sys

from afteryou._afteryou import command


def run() -> int:
    """Runs the command line and returns its exit code."""
    # A part of the command comes back to this package.
    os.environ.setdefault("AFTERYOU_PYTHON", sys.executable)
    # The command handles Ctrl-C by itself; Python's handler would wait for it to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["afteryou", *sys.argv[1:]])
