"""Set-up shared by all tests."""

import os
import sys

import pytest
from hypothesis import settings

# The same examples every time, so that a change is judged by itself; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def printed_by(monkeypatch, capsys):
    """What the command prints, as a pair of stdout and stderr, after it was checked how it ended."""
    from holdfast.cli import run

    def call(*arguments, code=2):
        monkeypatch.setattr(sys, "argv", ["holdfast", *map(str, arguments)])
        capsys.readouterr()
        try:
            run()
            ended = 0
        except SystemExit as error:
            ended = error.code or 0
        printed = capsys.readouterr()
        assert ended == code, printed.err
        return printed

    return call
