"""Set-up shared by all tests."""

import os
import shutil
import signal
import sys

if "PYTEST_XDIST_WORKER" in os.environ:  # else threads of two workers wait for each other, longer than they compute
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job; what tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
import sklearn
from hypothesis import settings

# The same examples every time, so that a change is judged by itself; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("more", deadline=None, derandomize=True, max_examples=100)  # make test-rest
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

NEEDS_L1_RATIO = (  # LogisticRegression(l1_ratio=1), which scikit-learn takes for the lasso since 1.8
    "test_docs.py::test_python_examples[study.md]",
    "test_docs.py::test_python_examples[tradeoff.md]",
    "test_elastic_net_path.py::test_logistic_solutions_are_those_of_scikit_learn",
)


def pytest_collection_modifyitems(items):
    """Skip, under the lowest versions (``make test-lowest``), what shows or compares with a newer scikit-learn."""
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
        for item in items:
            if any(name in item.nodeid for name in NEEDS_L1_RATIO):
                item.add_marker(pytest.mark.skip(reason="shows a parameter of scikit-learn 1.8"))


@pytest.fixture(scope="module")
def browser():
    """Chromium, for tests marked ``browser``."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pages are not opened")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed: pages are not opened")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


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


@pytest.fixture(autouse=True)
def end_studies_of_pages(request):
    """End the studies that a test of the page started, which outlive its servers, also if the test failed."""
    of_page = getattr(request.module, "__name__", "").startswith("test_web") and "tmp_path" in request.fixturenames
    folder = request.getfixturevalue("tmp_path") if of_page else None
    yield
    if folder is not None:
        from serving import end_studies

        end_studies(folder)
