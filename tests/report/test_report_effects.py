"""Direction, effect and box plots of features in a report: told by the store alone, with rows only where asked."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.report import Summary, render, summarize
from study_parts import anova, small_data

X, Y = small_data(n=120)
LABELS = np.where(Y == 1, "relapse", "none")
STUDY = hf.Study(selectors={"anova": anova(k=3)}, perturbation=hf.Bootstrap(25), estimator=KNeighborsClassifier(3))
HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(2)>',
    "{{ 7 * 7 }}",
    "=cmd()|' /C calc'!A0",
    "\u202egnp.exe",
]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.handlers = [], []

    def handle_starttag(self, tag, attributes):
        self.scripts += [tag] * (tag == "script")
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


@pytest.fixture(scope="module")
def result():
    return STUDY.run(X, LABELS)


def test_the_report_tells_direction_and_effect(result):
    summary = summarize(result)
    first = summary.features.shown[0]
    expected = result.features().frame.iloc[0]
    assert (first.direction, first.effect) == ("higher in relapse", expected["effect"])
    assert (summary.features.effect, summary.features.no_effects) == ("AUC", None)
    assert [box.group for box in first.boxes] == ["none", "relapse"]
    assert first.boxes[0].quantiles[2] < first.boxes[1].quantiles[2]
    page, text = render(summary, "html"), render(summary, "md")
    assert "higher in relapse" in page
    assert '<svg class="boxes"' in page
    assert f"| higher in relapse | {first.effect:.2f} (" in text
    assert Summary.from_dict(summary.to_dict()).to_dict() == summary.to_dict()
    assert any("Yekutieli" in reference.text for reference in summary.references)


def test_an_auc_is_told_of_the_class_that_is_named():
    turned = summarize(STUDY.run(-X, LABELS)).features.shown[0]
    assert turned.direction == "higher in none"
    assert 0.5 < turned.effect_low < turned.effect < turned.effect_high


def test_rows_are_drawn_only_with_the_data_and_a_note(result):
    without, given = render(summarize(result)), render(summarize(result, X=X, y=LABELS))
    assert "Single rows of the data are visible" not in without
    assert "Single rows of the data are visible" in given
    assert not any(box.rows for feature in summarize(result).features.shown for box in feature.boxes)
    boxes = summarize(result, X=X, y=LABELS).features.shown[0].boxes
    assert sum(len(box.rows) for box in boxes) == 120
    assert not summarize(result, X=X).features.rows_visible


def test_the_command_reads_the_data_again(tmp_path):
    X.assign(status=LABELS).to_csv(tmp_path / "d.csv", index=False)
    STUDY.run(X, pd.Series(LABELS, name="status"), store=tmp_path / "s.db")
    page = tmp_path / "r.html"
    done = CliRunner().invoke(
        app,
        ["report", str(tmp_path / "s.db"), "-o", str(page), "--data", str(tmp_path / "d.csv"), "--target", "status"],
    )
    assert done.exit_code == 0, done.output
    assert "Single rows of the data are visible" in page.read_text(encoding="utf-8")


def test_hostile_names_of_features_and_classes_are_shown_as_they_are():
    names = dict(zip(X.columns, HOSTILE, strict=False))
    labels = np.where(Y == 1, HOSTILE[0], HOSTILE[1])
    result = STUDY.run(X.rename(columns=names), pd.Series(labels, name=HOSTILE[2]))
    quiet = Tags()
    quiet.feed(render(summarize(STUDY.run(X, LABELS))))
    page = render(summarize(result))
    told = Tags()
    told.feed(page)
    assert told.scripts == quiet.scripts
    assert told.handlers == quiet.handlers
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page
    shown = CliRunner().invoke(app, ["check", HOSTILE[0], "--store", "absent.db"])
    assert shown.exit_code != 0


def test_numbers_and_several_classes_are_drawn_too():
    many, three = small_data(n=150, classes=3)
    several = summarize(hf.Study(selectors={"anova": anova(k=2)}, perturbation=hf.Bootstrap(20)).run(many, three))
    assert [box.group for box in several.features.shown[0].boxes] == ["0", "1", "2"]
    assert re.search(r"(higher|lower) in class [02]", several.features.shown[0].direction)
    from sklearn.feature_selection import SelectKBest, f_regression

    study = hf.Study(selectors={"s": SelectKBest(f_regression, k=2)}, perturbation=hf.Bootstrap(20))
    numbers = summarize(study.run(X, pd.Series(X["f0"] + 0.2 * X["f5"], name="age")))
    assert numbers.features.shown[0].direction == "rises with age"
    assert [box.group for box in numbers.features.shown[0].boxes] == ["lowest third", "middle third", "highest third"]
    assert "rank correlation" in render(numbers)


def test_without_held_out_rows_a_reason_is_given():
    result = hf.Study(selectors={"anova": anova(k=2)}, perturbation=hf.NewSeeds(5)).run(X, LABELS)
    summary = summarize(result)
    assert summary.features.no_effects == "no rows were held out"
    assert summary.features.shown[0].direction is None
    for format in ("html", "md"):
        assert "Directions and effects are unknown: no rows were held out." in render(summary, format)


def test_a_class_of_few_rows_has_no_box():
    labels = LABELS.copy()
    labels[:7] = "rare"
    result = hf.Study(selectors={"anova": anova(k=2)}, perturbation=hf.Bootstrap(20)).run(X, labels)
    boxes = {box.group: box.quantiles for box in summarize(result).features.shown[0].boxes}
    assert boxes["rare"] == ()
    assert len(boxes["none"]) == 5
