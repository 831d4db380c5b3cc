"""``python -m afteryou`` is the command."""

import sys

from afteryou._command import run

sys.exit(run())
