"""Generators keep their promises; real data come from a folder or a download, and only with the right checksum."""

import hashlib
import os
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from holdfast import datasets
from holdfast.datasets import real
from holdfast.datasets.real import DATASETS
from holdfast.datasets.synthetic import make_block_correlated, make_redundant
from holdfast.declared import Registry

REAL = os.environ.get("HOLDFAST_DATA")
FILES = [about for about in DATASETS.values() if about.sha256]

# Redundant features


@pytest.mark.parametrize("rho", [0, 0.3, 0.5, 0.8, 1])
def test_redundant_data_follow_the_papers(rho):
    X, y, truth = make_redundant(rho, n_samples=20_000, n_features=20, n_relevant=10, random_state=0)
    mean, covariance = np.r_[np.ones(10), np.zeros(10)], np.eye(20)
    covariance[:10, :10] += rho * (1 - np.eye(10))
    for label in (1, -1):
        rows = X[y == label]
        assert len(rows) == 10_000
        np.testing.assert_allclose(rows.mean(axis=0), label * mean, atol=0.05)  # five standard errors
        np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.08)
    assert truth.relevant.tolist() == list(range(10))
    assert truth.block.tolist() == [0] * 10 + [-1] * 10


def test_redundant_data_have_the_size_of_the_papers():
    X, y, truth = make_redundant(0.3, random_state=1)
    assert X.shape == (2000, 100)
    assert (y == 1).sum() == (y == -1).sum() == 1000
    assert len(truth.relevant) == 50
    assert np.abs(np.cumsum(y)).max() < 200  # in random order
    assert repr(truth) == "Truth: 50 of 100 features are relevant, 1 block"


def test_an_odd_number_of_samples():
    y = make_redundant(0, n_samples=7, random_state=0).y
    assert sorted(y) == [-1] * 4 + [1] * 3


# Blocks


@pytest.mark.parametrize("rho", [0, 0.6, 1])
@pytest.mark.parametrize("shuffle", [False, True])
def test_features_are_correlated_within_blocks_only(rho, shuffle):
    X, _, truth = make_block_correlated(
        20_000, 17, block_size=5, rho=rho, n_relevant=2, shuffle=shuffle, random_state=0
    )
    same = truth.block[:, None] == truth.block
    expected = np.where(same, rho, 0) + np.eye(17) * (1 - rho)
    np.testing.assert_allclose(np.corrcoef(X.T), expected, atol=0.04)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=0.03)
    assert np.bincount(truth.block).tolist() == [5, 5, 5, 2]
    assert len(set(truth.block[truth.relevant])) == 2


def test_a_regression_depends_on_the_relevant_features_alone():
    X, y, truth = make_block_correlated(5000, 30, n_relevant=3, task="regression", effect=2, noise=0.5, random_state=3)
    weights, (sum_of_squares,), *_ = np.linalg.lstsq(X, y)
    assert np.sort(weights[truth.relevant]) == pytest.approx([-2, 2, 2], abs=0.1)
    assert np.delete(weights, truth.relevant) == pytest.approx(np.zeros(27), abs=0.1)
    assert np.sqrt(sum_of_squares / len(y)) == pytest.approx(0.5, abs=0.03)


def test_classes_follow_the_logistic_model():
    X, y, truth = make_block_correlated(50_000, 10, n_relevant=2, effect=1.5, shuffle=False, random_state=0)
    score = 1.5 * (X[:, truth.relevant[0]] - X[:, truth.relevant[1]])
    assert set(y) == {0, 1}
    for low in (-3, -1, 0, 1, 3):
        near = np.abs(score - low) < 0.1
        assert y[near].mean() == pytest.approx(1 / (1 + np.exp(-low)), abs=0.05)


@pytest.mark.parametrize("make", [partial(make_redundant, 0.5), make_block_correlated], ids=["redundant", "blocks"])
def test_a_seed_fixes_everything(make):
    one, two, other = make(random_state=4), make(random_state=np.random.default_rng(4)), make(random_state=5)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    np.testing.assert_array_equal(one.truth.relevant, two.truth.relevant)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        ("make_redundant", {"rho": 1.2}, "rho from 0 to 1, got 1.2"),
        ("make_redundant", {"rho": 0, "n_relevant": 0}, "got 2000 samples, 0 of 100 features relevant"),
        ("make_redundant", {"rho": 0, "n_samples": 1}, "at least 2 samples"),
        ("make_block_correlated", {"rho": -0.1}, "rho from 0 to 1, got -0.1"),
        ("make_block_correlated", {"n_relevant": 21}, "from 1 to 20 relevant features, one in each block of 5"),
        ("make_block_correlated", {"block_size": 0}, "blocks of 0"),
        ("make_block_correlated", {"task": "ranking"}, "'classification' or 'regression', got 'ranking'"),
    ],
)
def test_generators_refuse_what_cannot_be(make, options, words):
    with pytest.raises(ValueError, match=r"^Expected ") as caught:
        getattr(datasets, make)(**options)
    assert words in str(caught.value)


# The table of real data


def test_every_data_set_is_listed():
    listing = datasets.listing()
    assert datasets.names() == list(listing.index)
    assert len(set(datasets.names())) == len(datasets.names())
    assert listing.loc["alon", "n_features"] == 2000
    assert "Several recordings per subject" in listing.loc["parkinsons", "notes"]
    for about in DATASETS.values():
        assert about.classes is None or sum(about.classes.values()) == about.n_samples
        assert about.sha256 is None or len(about.sha256) == 64


def test_breast_cancer_comes_with_scikit_learn():
    dataset = datasets.load("breast_cancer")
    X, y = dataset
    theirs = load_breast_cancer()
    np.testing.assert_array_equal(X.to_numpy(), theirs.data)
    assert (y == theirs.target_names[theirs.target]).all()
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == dataset.info.classes
    assert dataset.name == "breast_cancer"
    assert dataset.description.startswith("breast_cancer: 569 samples of 30 features (benign: 357, malignant: 212).")
    assert repr(dataset) == "Dataset breast_cancer: 569 samples of 30 features (classification)"


@pytest.mark.parametrize(
    ("name", "words"), [("sonnar", "did you mean 'sonar'?"), ("iris", "Expected a data set (breast_cancer, alon,")]
)
def test_unknown_names(name, words):
    with pytest.raises(ValueError, match=rf"Expected a data set \(breast_cancer, .* got '{name}'") as caught:
        datasets.load(name)
    assert words in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="needs the real data: set HOLDFAST_DATA to their folder")
@pytest.mark.parametrize("about", FILES, ids=lambda about: about.name)
def test_real_files_are_what_the_table_says(about):
    if not (Path(REAL) / about.file).exists():
        pytest.skip(f"needs {about.file} in HOLDFAST_DATA")
    dataset = datasets.load(about.name)
    assert dataset.X.shape == (about.n_samples, about.n_features)
    assert (dataset.X.dtypes == np.float64).all()
    if about.classes is None:
        assert dataset.y.dtype == np.float64
    else:
        assert dict(zip(*np.unique(dataset.y, return_counts=True), strict=True)) == about.classes


# Files, downloads and checksums


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that remembers what it is asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path):
    (tmp_path / "served").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "served")) as httpd:
        httpd.asked = []
        httpd.url = f"http://127.0.0.1:{httpd.server_port}"
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
        thread.start()
        yield httpd
        httpd.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, no address, no second attempts, no proxy."""
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("HOLDFAST_DATA_URL", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(real, "RETRIES", 0)
    return tmp_path / "cache"


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A small file under the name of a data set of the table."""
    frame = pd.DataFrame({"V1": [1, 2, 3, 4], "V2": [0.5, 1, 0, 2], "target": ["M", "R", "M", "R"]})
    frame.to_parquet(tmp_path / "sonar.parquet")
    content = (tmp_path / "sonar.parquet").read_bytes()
    known = {**DATASETS, "sonar": replace(DATASETS["sonar"], sha256=hashlib.sha256(content).hexdigest())}
    monkeypatch.setattr(real, "DATASETS", Registry("data set", known.values()))
    return content


def test_a_file_in_the_folder_is_used(cache, tiny):
    cache.mkdir()
    (cache / "sonar.parquet").write_bytes(tiny)
    X, y = datasets.load("sonar")
    assert X["V1"].tolist() == [1, 2, 3, 4]
    assert y.tolist() == ["M", "R", "M", "R"]


def test_a_damaged_file_in_the_folder_is_refused(cache, tiny):
    cache.mkdir()
    (cache / "sonar.parquet").write_bytes(tiny[:-1])
    with pytest.raises(ValueError, match=r"^Expected the SHA-256 checksum \w{12}… of .*sonar\.parquet, got \w{12}…: "):
        datasets.load("sonar")


def test_without_an_address_the_way_by_hand_is_told(cache):
    with pytest.raises(ValueError, match=r"^Expected the data set 'sonar' in [^\n]*\.$") as caught:
        datasets.load("sonar")
    for words in (str(cache / "sonar.parquet"), "no public address", "by hand", "base_url=", "HOLDFAST_DATA_URL"):
        assert words in str(caught.value)


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("by", ["argument", "variable"])
def test_a_download_is_kept(cache, tiny, server, monkeypatch, tmp_path, by, slash):
    (tmp_path / "served" / "sonar.parquet").write_bytes(tiny)
    if by == "variable":
        monkeypatch.setenv("HOLDFAST_DATA_URL", server.url + slash)
    dataset = datasets.load("sonar", base_url=server.url + slash if by == "argument" else None)
    assert dataset.X.shape == (4, 2)
    assert server.asked == ["/sonar.parquet"]
    monkeypatch.delenv("HOLDFAST_DATA_URL", raising=False)
    assert datasets.load("sonar").X.equals(dataset.X)  # from the folder, without a network
    assert server.asked == ["/sonar.parquet"]
    assert [path.name for path in cache.iterdir()] == ["sonar.parquet"]


def test_a_wrong_download_is_not_kept(cache, tiny, server, tmp_path):
    (tmp_path / "served" / "sonar.parquet").write_bytes(tiny + b"!")
    with pytest.raises(ValueError, match=r"^Expected the SHA-256 checksum .* of http://.*/sonar\.parquet, got another"):
        datasets.load("sonar", base_url=server.url)
    assert list(cache.iterdir()) == []


def test_a_failed_download_is_tried_again(cache, tiny, server, monkeypatch):
    monkeypatch.setattr(real, "RETRIES", 1)
    with pytest.raises(ValueError, match=r"^Downloading http://.*/sonar\.parquet failed: 404 .*by hand\.$"):
        datasets.load("sonar", base_url=server.url)
    assert server.asked == ["/sonar.parquet"] * 2
    assert list(cache.iterdir()) == []


def test_an_address_that_nobody_serves(cache, tiny, server):
    server.shutdown()
    server.server_close()
    with pytest.raises(ValueError, match=r"^Downloading http://127\.0\.0\.1:\d+/sonar\.parquet failed: "):
        datasets.load("sonar", base_url=server.url)


def test_an_address_must_be_one(cache, tiny):
    with pytest.raises(ValueError, match=r"Expected an address http://… or https://… .* got 'files/sonar\.parquet'"):
        datasets.load("sonar", base_url="files/")


def test_a_folder_that_cannot_be_written_is_named(cache, tiny, server):
    cache.write_text("a file where the folder should be")
    with pytest.raises(OSError, match="cache") as caught:
        datasets.load("sonar", base_url=server.url)
    assert not isinstance(caught.value, ValueError)


def test_without_a_folder_files_are_kept_in_the_cache_of_the_user(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("HOLDFAST_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    with pytest.raises(ValueError, match="got no such file") as caught:
        datasets.load("alon")
    assert str(tmp_path / "holdfast" / "alon.parquet") in str(caught.value)


def test_without_pooch_the_folder_still_works(cache, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    cache.mkdir()
    (cache / "sonar.parquet").write_bytes(tiny)
    assert datasets.load("sonar").X.shape == (4, 2)
    monkeypatch.delenv("HOLDFAST_DATA")
    with pytest.raises(ValueError, match=r"^Finding data sets .* needs pooch: pip install 'holdfast\[app\]'$"):
        datasets.load("sonar")
