"""How far a study has come, counted from its store without reading what it found."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.study.store import StoreProgress, find_writer, open_to_write, opening, read_progress
from study_parts import Raising, X, Y, anova, robust_study, run_with_failures, start_paused_study, wait_until

NOTHING = StoreProgress(0, 0, 0, 0, 0, None, None)


class ModelThatFails(KNeighborsClassifier):
    """Refuses some training sets, so that fits have a selection and a failure."""

    def fit(self, X, y):
        if float(X[:, 0].mean()) > 0.8:
            raise ValueError("too large")
        return super().fit(X, y)


def count_from_tables(path):
    """The same numbers from everything that a store holds."""
    result = hf.load_study(path)
    fits = pd.concat([result.stored.outcomes, result.stored.failures])[["candidate", "split"]].drop_duplicates()
    last = result.stored.sessions.iloc[-1]
    return StoreProgress(
        len(fits), len(result.failures), result.n_splits * len(result.candidates), result.n_splits,
        len(result.candidates), last["started"], last["ended"],
    )  # fmt: skip


def test_counts_are_those_of_the_tables(tmp_path):
    store, told = tmp_path / "s.db", []
    study = hf.Study(
        selectors={"anova": anova(), "raising": Raising()}, perturbation=hf.Bootstrap(12), estimator=ModelThatFails(3)
    )
    result = run_with_failures(study, X.to_numpy(), Y, store=store, progress=told.append)
    assert set(result.failures["stage"]) == {"select", "score"}
    assert (told[0].failures, told[-1].failures) == (0, len(result.failures))
    progress = read_progress(store)
    assert progress == count_from_tables(store)
    assert progress.done == progress.total == 24
    assert 0 < progress.failed < 24


@pytest.mark.slow
def test_a_running_study_is_counted_while_it_is_written(tmp_path):
    store, seen = tmp_path / "s.db", []
    with start_paused_study(store, tmp_path / "go on") as process:
        assert wait_until(store.exists, 60)

        def look():
            seen.append(read_progress(store))
            if seen[-1].done:
                (tmp_path / "go on").touch()
            return seen[-1].ended is not None

        assert wait_until(look, 120), process.communicate()
        process.communicate()
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert any(0 < number < 80 for number in done)
    assert {(progress.total, progress.n_splits) for progress in seen} <= {(0, 0), (80, 20)}
    assert seen[-1] == read_progress(store) == count_from_tables(store)
    assert find_writer(store) is None


def test_a_session_that_was_cut_short_has_no_end(tmp_path):
    store = tmp_path / "s.db"
    with start_paused_study(store, tmp_path / "go on") as process:
        assert wait_until(lambda: store.exists() and read_progress(store).done > 0, 60)
        process.kill()
        process.communicate()
    progress = read_progress(store)
    assert progress == count_from_tables(store)
    assert 0 < progress.done < progress.total
    assert progress.started is not None
    assert progress.ended is None


def test_nothing_is_read_but_the_counts(tmp_path, monkeypatch):
    store, statements = tmp_path / "s.db", []
    run_with_failures(robust_study(5), X, Y, store=store)
    connect = opening._connect

    def watched(path, how):
        connection = connect(path, how)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(opening, "_connect", watched)
    read_progress(store)
    assert statements
    assert not [statement for statement in statements if "_check" in statement or "FROM outcomes" in statement]


def test_damaged_totals_are_counted_again(tmp_path):
    store = tmp_path / "s.db"
    run_with_failures(robust_study(5), X, Y, store=store)
    before = read_progress(store)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE totals SET n = n + 1 WHERE name IN ('outcomes', 'splits')")
    assert read_progress(store) == before


def test_what_a_study_only_began_to_make_has_nothing_yet(tmp_path):
    store = tmp_path / "s.db"
    store.touch()
    assert read_progress(store) == NOTHING
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert read_progress(store) == NOTHING
    with open_to_write(store):
        assert read_progress(store) == NOTHING


@pytest.mark.parametrize("content", [b"a line\n", b"a line\n" * 1000])
def test_other_files_are_refused(content, tmp_path):
    with pytest.raises(hf.study.StoreError, match="got no file at"):
        read_progress(tmp_path / "missing.db")
    other = tmp_path / "other.txt"
    other.write_bytes(content)
    with pytest.raises(hf.study.StoreError, match=r"it is another kind of file|got another or an empty file"):
        read_progress(other)
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["other.txt"]
