"""``python -m reproductions NAME``: the command ``reproduce``, with everything that commands of holdfast share."""

import sys

import reproductions.command  # noqa: F401  registers it
from holdfast.cli import run

sys.argv.insert(1, "reproduce")
run()
