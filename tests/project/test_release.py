"""What a release says of itself: versions, citation, and the jobs that try it, each fact equal wherever it stands."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import holdfast
from holdfast.references import REFERENCES

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOWEST = ("app", "web", "anndata", "r", "dask", "search", "test")
"""Extras that ``make test-lowest`` installs."""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def requirements(*texts):
    """Requirements by the name of their package, without those on holdfast itself."""
    parsed = [Requirement(text) for text in texts]
    return {canonicalize_name(package.name): package for package in parsed if package.name != PROJECT["name"]}


def pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(package): version for package, version in pairs}


def loaded(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


# Versions


def test_the_lowest_versions_are_the_bounds():
    tested = requirements(*PROJECT["dependencies"], *(text for name in LOWEST for text in EXTRAS[name]))
    assert {name: str(package.specifier) for name, package in tested.items()} == {
        name: f">={version}" for name, version in pins("constraints-lowest.txt").items()
    }


def test_everything_named_is_pinned_within_its_bounds():
    pinned, optional = pins("constraints.txt"), [text for extra in EXTRAS.values() for text in extra]
    for name, package in requirements(*PROJECT["dependencies"], *optional).items():
        assert package.specifier.contains(pinned[name]), f"{package} is pinned to {pinned[name]}"


def test_the_version_is_the_same_everywhere():
    description = (ROOT / "r" / "DESCRIPTION").read_text(encoding="utf-8")
    assert re.search(r"^Version: (.*)$", description, re.MULTILINE)[1] == holdfast.__version__
    assert re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1] == (
        holdfast.__version__
    )


def test_every_system_that_is_named_is_tested():
    systems = loaded(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]["system"]
    named = {"Linux": "ubuntu-latest", "MacOS": "macos-latest", "Windows": "windows-latest"}
    found = [re.split(" :: ", text)[-1] for text in PROJECT["classifiers"] if text.startswith("Operating System")]
    assert sorted(named[system] for system in found) == sorted(systems)


def test_every_python_that_is_named_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert loaded(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


# Citation


def test_the_citation_is_of_this_version():
    citation = loaded("CITATION.cff")
    assert Version(citation["version"]) == Version(holdfast.__version__)
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert {"cff-version", "message", "title", "type", "abstract"} <= set(citation)


@pytest.mark.parametrize("reference", loaded("CITATION.cff")["references"], ids=lambda reference: reference["title"])
def test_papers_are_cited_as_in_a_report(reference):
    (bibtex,) = (found.bibtex for found in REFERENCES.values() if f"{{{reference['title']}}}" in found.bibtex)
    authors = " and ".join("{family-names}, {given-names}".format(**author) for author in reference["authors"])
    pages = f"{reference['start']}--{reference['end']}" if "start" in reference else ""
    for fact in (authors, reference["year"], reference.get("doi", ""), reference.get("url", ""), pages):
        assert str(fact) in bibtex


def test_the_paper_cites_what_its_bibliography_has_and_shows_figures_that_exist():
    paper, bibliography = ((ROOT / "paper" / f"paper.{ending}").read_text(encoding="utf-8") for ending in ("md", "bib"))
    cited = set(re.findall(r"@(\w+\d{4})", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE))
    figures = re.findall(r"\]\(([^)]+)\)", paper)
    assert len(figures) == 2
    assert all((ROOT / "paper" / figure).is_file() for figure in figures)
    assert "".join(author["name"] for author in loaded("CITATION.cff")["authors"]) in paper


# Jobs


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_what_a_person_calls(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"]
    targets = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        runs = [step["run"] for step in job["steps"] if "run" in step]
        assert runs
        assert all(command in [f"make {target}" for target in targets] for command in runs)
        uses = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in uses)


def test_hooks_are_the_checks():
    (source,) = loaded(".pre-commit-config.yaml")["repos"]
    assert source["repo"] == "local"
    hooks = [re.sub(r"^\.venv/bin/| --.*$", "", hook["entry"]) for hook in source["hooks"]]
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    assert hooks == [re.sub(r"^\t\$\(BIN\)/| --.*$| \.$", "", line) for line in recipe.splitlines()]
