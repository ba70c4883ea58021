"""A quick look at lists that the selector did not choose, which ``lists.py`` shows at length; fixed seeds."""

import pytest
from lists import check_lists, make_table

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.slow
def test_what_is_said_of_lists_is_calibrated_and_covered():
    checked = check_lists("pathways", 100, 10, n_pairs=25, n_studies=80)
    by_list = checked.groupby("list")[["said", "true", "covered", "size"]].mean()
    assert len(make_table(checked)) == len(by_list) == 8
    assert (by_list["covered"] >= 0.7).all()
    assert by_list["covered"].mean() >= 0.9
    blind = by_list.loc[["20 random features", "of a rival, mRMR", "half selected, half random"]]
    assert ((blind["said"] - blind["true"]).abs() <= 0.1 * blind["size"]).all()
    assert by_list.loc["of an earlier study", "said"] < by_list.loc["of an earlier study", "true"]  # no winner's curse
