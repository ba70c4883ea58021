"""AnnData and MuData objects: read without their packages, run, annotated; real ones where anndata is installed."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import holdfast as hf

GENES = [f"ENSG{number:03d}" for number in range(12)]


def cells(n_donors=8, per_donor=6, seed=0):
    """Values, obs and var of cells of several donors; the first two genes mark the type, and donors differ."""
    rng = np.random.default_rng(seed)
    donor = np.repeat(np.arange(n_donors), per_donor)
    kind = np.tile(np.arange(per_donor) % 2, n_donors)
    values = rng.normal(size=(donor.size, len(GENES))) + rng.normal(size=(n_donors, len(GENES)))[donor]
    values[:, :2] += 3 * kind[:, None]
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(np.where(kind, "T", "B")), "donor": [f"d{number}" for number in donor]},
        index=[f"cell{number}" for number in range(donor.size)],
    )
    var = pd.DataFrame({"gene_symbol": [f"SYM{number}" for number in range(len(GENES))]}, index=GENES)
    return values, obs, var


class Fake:
    """What holdfast uses of an AnnData object."""

    def __init__(self, X, obs, var, layers=None):
        self.X, self.obs, self.var, self.layers = X, obs, var, layers or {}

    obs_names = property(lambda self: self.obs.index)
    var_names = property(lambda self: self.var.index)
    n_vars = property(lambda self: len(self.var))
    shape = property(lambda self: (len(self.obs), len(self.var)))


class Backed:
    """A matrix that stays in a file until it is asked for, as anndata's sparse data sets do."""

    def __init__(self, matrix):
        self.matrix = matrix

    def to_memory(self):
        return self.matrix


def make(X=None, **layers):
    values, obs, var = cells()
    return Fake(values if X is None else X(values), obs, var, layers)


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_matrix, sparse.csc_array, lambda X: Backed(sparse.csr_matrix(X))]
)
def test_values_donors_and_types_are_read_whatever_holds_them(form):
    table = hf.read_table(make(form), "cell_type", groups="donor")
    values, obs, _ = cells()
    np.testing.assert_array_equal(table.X.to_numpy(), values)
    assert table.y.tolist() == obs["cell_type"].tolist()
    assert table.groups.tolist() == obs["donor"].tolist()
    assert list(table.X.columns)[:2] == ["SYM0 (ENSG000)", "SYM1 (ENSG001)"]
    assert table.record.file_format == "AnnData"


def test_a_layer_is_read_by_name():
    values, *_ = cells()
    data = make(counts=sparse.csr_matrix(values * 2))
    np.testing.assert_array_equal(
        hf.read_table(data, "cell_type", sheet="counts", ignore="donor").X.to_numpy(), values * 2
    )
    with pytest.raises(ValueError, match=r"got 'raw'; there are: 'counts'"):
        hf.read_table(data, "cell_type", sheet="raw")


def test_modalities_are_read_together_or_one_by_one():
    values, obs, var = cells()
    proteins = pd.DataFrame(index=["CD3", "CD19"])
    both = {"rna": Fake(values, obs, var), "prot": Fake(values[:, :2], obs, proteins)}
    mudata = SimpleNamespace(
        mod=both, obs=obs, obs_names=obs.index, var=None, var_names=[*var.index, *proteins.index], n_vars=14
    )
    table = hf.read_table(mudata, "cell_type", groups="donor")
    assert table.X.shape == (48, 14)
    assert list(table.X.columns)[-2:] == ["CD3", "CD19"]
    assert list(hf.read_table(mudata, "cell_type", ignore="donor", sheet="prot").X.columns) == ["CD3", "CD19"]
    both["prot"] = Fake(values[1:, :2], obs.iloc[1:], proteins)
    with pytest.raises(ValueError, match="the same cells in the same order"):
        hf.read_table(mudata, "cell_type")


def test_a_study_runs_on_cells_keeps_donors_together_and_writes_back():
    data = make(counts=np.zeros((48, 12)))
    study = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(20))
    result = study.run(data, target="cell_type", groups="donor")
    by_hand = study.run(hf.read_table(data, "cell_type", groups="donor"))
    assert result.preferences("anova") == by_hand.preferences("anova")
    donors = data.obs["donor"].to_numpy()
    for split in result.splits.itertuples():
        assert not set(donors[split.train_rows]) & set(donors[split.test_rows])
    before = list(data.var.columns)
    data.var = data.var.iloc[::-1]  # in another order, and with a gene that the study did not have
    data.var.loc["ENSG999"] = "SYM999"
    result.annotate(data)
    frequency = result.preferences("anova").frequency
    assert data.var.loc[GENES, "holdfast_frequency"].tolist() == pytest.approx(frequency.tolist())
    assert (
        data.var.loc["ENSG000", "holdfast_verdict"]
        == result.features().frame.set_index("feature").loc["SYM0 (ENSG000)", "verdict"]
    )
    assert np.isnan(data.var.loc["ENSG999", "holdfast_frequency"])
    assert pd.isna(data.var.loc["ENSG999", "holdfast_verdict"])
    never = [gene for gene, share in zip(GENES, frequency, strict=True) if share == 0]
    assert set(data.var.loc[never, "holdfast_verdict"]) == {"never selected"}
    assert list(data.var.columns) == [
        *before,
        *(f"holdfast_{name}" for name in ("frequency", "new_study", "q", "used", "verdict")),
    ]
    with pytest.raises(ValueError, match="Expected features of the study in var_names"):
        result.annotate(SimpleNamespace(var_names=["a", "b"], var=pd.DataFrame(index=["a", "b"])))


def test_probabilities_in_a_new_study_are_written_where_they_are_known():
    data = make()
    table = hf.read_table(data, "cell_type", groups="donor")
    result = hf.Study(hf.selectors.AnovaF(2), hf.resampling.SplitHalves(20)).run(table)
    result.annotate(data, key="markers")
    assert (data.var["markers_new_study"].iloc[:2] > 0.8).all()
    assert not (data.var["markers_new_study"].iloc[2:] > 0.5).any()


def test_what_is_missing_is_said():
    study = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(4))
    with pytest.raises(ValueError, match="a frame or AnnData with target="):
        study.run(make())
    with pytest.raises(ValueError, match="Expected y or target='cell_type', got both"):
        study.run(make(), [0, 1] * 24, target="cell_type")
    with pytest.raises(ValueError, match="cell_typ"):
        study.run(make(), target="cell_typ")


def test_a_frame_with_a_target_by_name_runs_too():
    values, obs, _ = cells()
    frame = pd.DataFrame(values, columns=GENES).assign(kind=obs["cell_type"].tolist(), donor=obs["donor"].tolist())
    result = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(4)).run(frame, target="kind", groups="donor")
    assert list(result.feature_names) == GENES


def test_nothing_is_imported_for_it():
    done = subprocess.run(
        [sys.executable, "-c", "import sys; import holdfast.io.table; print({'anndata', 'h5py'} & set(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("backed", [None, "r"])
def test_the_real_anndata(tmp_path, backed):
    anndata = pytest.importorskip("anndata")
    values, obs, var = cells()
    anndata.settings.allow_write_nullable_strings = True
    data = anndata.AnnData(sparse.csr_matrix(values), obs, var, layers={"double": values * 2})
    data.write_h5ad(tmp_path / "cells.h5ad")
    from_file = hf.read_table(tmp_path / "cells.h5ad", "cell_type", groups="donor")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad", backed=backed)
    table = hf.read_table(read, "cell_type", groups="donor")
    np.testing.assert_array_equal(table.X, from_file.X)
    assert list(table.X.columns) == list(from_file.X.columns)
    assert list(table.X.index) == list(from_file.X.index)
    for source in (read, tmp_path / "cells.h5ad"):
        double = hf.read_table(source, "cell_type", groups="donor", sheet="double")
        np.testing.assert_array_equal(double.X.to_numpy(), values * 2)
    result = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(10)).run(read, target="cell_type", groups="donor")
    result.annotate(data)
    assert data.var["holdfast_frequency"].iloc[:2].tolist() == [1, 1]
