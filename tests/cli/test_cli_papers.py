"""Commands for papers and their reviewers: verify --refit, plot, checklist, and the command that made a study."""

import html
import re
import shlex

import docx
import pytest

import holdfast as hf
from holdfast.datasets import load
from holdfast.report import render_checklist, summarize, write_checklist
from holdfast.report.checklists import CHECKLISTS, find_evidence


def unescape(line):
    """The text that a piece of Markdown shows."""
    return html.unescape(re.sub(r"\\(.)", r"\1", line.strip("*")))


@pytest.fixture(scope="module")
def studied(tmp_path_factory, request):
    """A folder with a data file and the store of a study on it."""
    folder = tmp_path_factory.mktemp("papers")
    data = load("breast_cancer")
    table = data.X.iloc[:150, :8].assign(diagnosis=data.y[:150])
    table.to_csv(folder / "my data.csv", index=False)
    return folder


@pytest.fixture
def folder(studied, monkeypatch, printed_by):
    monkeypatch.chdir(studied)
    if not (studied / "study.db").exists():
        printed_by(
            "study", "my data.csv", "--target", "diagnosis", "-s", "anova:k=2|4", "--estimator", "knn", "-n", "8",
            "--no-replicability", "--store", "study.db", "-q", code=0,
        )  # fmt: skip
    return studied


# verify


def test_fits_are_repeated_from_the_command_alone(folder, printed_by):
    out = printed_by("verify", "study.db", "--refit", "3", "-q", code=0).out
    assert "6 fits on 3 splits repeated: all results are the same, to the last bit." in " ".join(out.split())


def test_other_data_end_with_code_3(folder, printed_by):
    text = (folder / "my data.csv").read_text(encoding="utf-8")
    (folder / "other.csv").write_text(text.replace("benign", "benigm"), encoding="utf-8")
    out = printed_by("verify", "study.db", "--data", "other.csv", "--refit", "3", "-q", code=3).out
    assert "The study differs in the data (other target)." in " ".join(out.split())
    out = printed_by("verify", "study.db", "--data", "my data.csv", "-q", code=0).out
    assert "Plan and data are the same." in out
    out = printed_by("verify", "study.db", "--data", "other.csv", "--json", "-q", code=3).out
    assert '"same": false' in out


def test_a_damaged_store_is_not_fitted_again(folder, printed_by, tmp_path):
    broken = tmp_path / "broken.db"
    content = bytearray((folder / "study.db").read_bytes())
    content[-3000:-2000] = bytes(1000)
    broken.write_bytes(content)
    out = printed_by("verify", str(broken), "--refit", "3", "-q", code=1).out
    assert "repeated" not in out


# plot


@pytest.mark.parametrize("picture", ["frequencies", "front", "map", "profile"])
def test_pictures_are_drawn_into_files(folder, printed_by, picture):
    assert printed_by("plot", "study.db", picture, code=0).out.strip() == f"{picture}.svg"
    assert (folder / f"{picture}.svg").read_text(encoding="utf-8").startswith("<svg")


def test_replicability_is_drawn_once_it_is_known(folder, printed_by, tmp_path):
    store = tmp_path / "halves.db"
    store.write_bytes((folder / "study.db").read_bytes())
    error = printed_by("plot", str(store), "replicability", code=2).err
    assert f"holdfast replicate {store} estimates it" in error
    printed_by("replicate", str(store), "--pairs", "12", "--shuffles", "0", "-q", code=0)
    printed_by("plot", str(store), "replicability", "-o", "r.png", "-q", code=0)
    assert (folder / "r.png").read_bytes()[1:4] == b"PNG"


def test_an_unknown_picture_is_refused(folder, printed_by):
    assert (
        "frequencies, front, replicability, map, profile, got pie" in printed_by("plot", "study.db", "pie", code=2).err
    )


# checklist


@pytest.mark.parametrize(("guideline", "n_items"), [("tripod-ai", 52), ("remark", 20)])
def test_a_checklist_has_every_item_once_and_evidence_where_it_is_known(folder, printed_by, guideline, n_items):
    text = printed_by("checklist", "study.db", f"--{guideline}", code=0).out
    rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]
    numbers = [row.split(" | ")[0] for row in rows]
    assert len(rows) == len(set(numbers)) == n_items
    filled = [row for row in rows if "*For the authors.*" not in row]
    assert f"Of {n_items} items, the study has evidence for {len(filled)}," in text
    sections = {re.search(r"\| report, ([\w -]+) \|$", row)[1] for row in filled}
    assert sections <= {"Method", "Verdict", "Features", "Trade-off", "For the analyst"}
    assert "150 samples" in text


def test_every_key_of_a_checklist_names_evidence(folder):
    found = find_evidence(summarize(hf.load_study(folder / "study.db")))
    asked = {item[2] for known in CHECKLISTS.values() for item in known["items"] if len(item) > 2}
    assert asked == set(found)


def test_hostile_names_stay_text_in_a_checklist(folder):
    result = hf.load_study(folder / "study.db")
    text = render_checklist(summarize(result, title="<script>|x|\n# y"), "remark")
    assert "<script>" not in text
    assert text.splitlines()[0].startswith("# REMARK: ")
    with pytest.raises(ValueError, match="tripod-ai, remark, got 'strobe'"):
        render_checklist(summarize(result), "strobe")


def test_a_guideline_must_be_named(folder, printed_by):
    for flags in ((), ("--remark", "--tripod-ai")):
        assert "Expected --tripod-ai or --remark" in printed_by("checklist", "study.db", *flags, code=2).err


def test_a_checklist_for_word_says_what_the_one_in_markdown_says(folder, printed_by, tmp_path):
    for ending in ("md", "docx"):
        out = printed_by("checklist", "study.db", "--tripod-ai", "-o", str(tmp_path / f"c.{ending}"), code=0).out
        assert out.strip() == str(tmp_path / f"c.{ending}")
    lines = [line for line in (tmp_path / "c.md").read_text(encoding="utf-8").splitlines() if line]
    written = docx.Document(str(tmp_path / "c.docx"))
    paragraphs = [paragraph.text for paragraph in written.paragraphs]
    assert [f"# {paragraphs[0]}", *paragraphs[1:]] == [unescape(line) for line in lines[:3]]
    (table,) = written.tables
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    assert rows == [
        [unescape(cell) for cell in re.split(r" ?(?<!\\)\| ?", line)[1:-1]] for line in (lines[3], *lines[5:])
    ]
    assert written.core_properties.title == paragraphs[0]


def test_hostile_names_stay_text_in_word(folder, tmp_path):
    summary = summarize(hf.load_study(folder / "study.db"), title="<b>&amp;\x00\x1b[31m\ud800" + 300 * "x")
    path = write_checklist(summary, tmp_path / "c.docx", "remark")
    assert docx.Document(str(path)).paragraphs[0].text.startswith("REMARK: <b>&amp;\ufffd")


def test_the_ending_of_the_file_decides_the_format(folder, printed_by):
    error = printed_by("checklist", "study.db", "--remark", "-o", "r.pdf", code=2).err
    assert "Expected a file that ends in .docx or .md, got 'r.pdf'." in error


# The command, and where the data are


def test_the_command_of_a_study_makes_the_same_study_again(folder, printed_by):
    facts = {fact.name: fact.value for fact in summarize(hf.load_study("study.db")).method.facts}
    program, *words = shlex.split(facts["Command"])
    assert program == "holdfast"
    assert "my data.csv" in words  # without its folder
    assert str(folder) not in facts["Command"]
    printed_by(*words, "--store", "again.db", "-q", code=0)
    first, second = (hf.load_study(name) for name in ("study.db", "again.db"))
    assert first.plan == second.plan
    assert first.selectors == second.selectors
    assert first.n_splits == second.n_splits
    assert "is for the authors to say" in facts["Data availability"]
    assert first.plan["data"]["features"][:12] in facts["Data availability"]


def test_a_known_data_set_says_where_it_is_from():
    data = load("breast_cancer")
    result = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(4)).run(data.X, data.y)
    facts = {fact.name: fact.value for fact in summarize(result).method.facts}
    assert "Command" not in facts  # a program began it
    assert "for the authors" in facts["Data availability"]  # which gave arrays without a name
