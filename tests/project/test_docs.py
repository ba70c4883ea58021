"""Every example in the documentation runs and prints what the page says."""

import doctest
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import plots

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONG_PAGES = ("pictures.md", "serve.md", "several.md", "tradeoff.md")
"""Pages whose examples take seconds; ``make test-all`` runs them."""
by_page = pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.name in LONG_PAGES else page for page in PAGES],
    ids=lambda page: page.name,
)


def blocks(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


@by_page
def test_python_examples(page):
    source = "\n".join(blocks(page, "python"))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    assert source.count(">>>") == len(test.examples)
    report = []
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def commands(text):
    """Each command of a console block with the output shown for it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def words_of_lines(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def run_in_a_process(arguments):
    """What the command prints, as a reader runs it."""
    done = subprocess.run([sys.executable, "-m", "holdfast", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@by_page
def test_console_examples(page, tmp_path, monkeypatch, printed_by):
    monkeypatch.chdir(tmp_path)
    check_console(page, tmp_path, lambda arguments: printed_by(*arguments, code=0).out)


@pytest.mark.slow  # starting a process takes longer than its work
def test_the_front_page_as_a_reader_runs_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_console(PAGES[0], tmp_path, run_in_a_process)


def check_console(page, folder, run):
    """Run each command that a page shows, and compare what it prints."""
    for text in blocks(page, "console"):
        for command, output in commands(text):
            program, *arguments = command.split()
            if program == "cat":  # the page shows a file that its next commands use
                (folder / arguments[0]).write_text(output, encoding="utf-8")
            elif program == "holdfast":
                out = run(arguments)
                printed, shown = words_of_lines(out), words_of_lines(output)
                assert len(printed) == len(shown), out
                for line, expected in zip(printed, shown, strict=True):  # … stands for what changes, such as times
                    assert re.fullmatch(re.escape(expected).replace("…", ".*"), line), (command, line)
            else:
                assert command in ("make demo", "make test"), f"{command} is not checked"
                assert shutil.which("make")


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                found = any((page.parent / (target + ending)).exists() for ending in ("", ".md"))
                assert found, f"{page.name}: {target}"


def test_the_documentation_names_every_page():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem == "index" or f"\n{page.stem}\n" in index, f"{page.name} is in no table of contents"


@pytest.mark.slow  # the build of the documentation runs them too
@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "gallery").glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_of_the_gallery_run_and_draw(example, tmp_path):
    variables = runpy.run_path(str(example))
    plots.save(variables["chart"], tmp_path / "chart.svg")
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 85  # one screen, or little more
