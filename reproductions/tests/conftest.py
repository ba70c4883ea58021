"""Set-up shared by the tests of the reproductions."""

import sys

import pytest

from holdfast.cli import run
from reproductions.command import app


@pytest.fixture
def printed_by(monkeypatch, capsys):
    """What ``python -m reproductions`` prints, as a pair of stdout and stderr, after it was checked how it ended."""

    def call(*arguments, code):
        monkeypatch.setattr(sys, "argv", ["reproductions", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(app)
        assert (ended.value.code or 0) == code
        return capsys.readouterr()

    return call
