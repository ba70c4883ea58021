"""``python -m reproductions NAME``: experiments of the papers, with everything that commands of holdfast share."""

from holdfast.cli import run
from reproductions.command import app

run(app)
