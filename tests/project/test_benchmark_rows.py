"""How a line of the benchmarks tells what was measured."""

from benchmarks.timing import Row, added_time


def make_row(ours: float, noise: float) -> Row:
    return Row(what="what a study adds", ours=ours, noise=noise, peer=2e-3, peer_name="loop", equal="yes", limit=3e-4)


def test_a_difference_below_its_noise_has_no_ratio():
    row = make_row(ours=-1e-6, noise=1e-5)
    assert row.ratio is None
    assert row.cells()[1:4] == ("< noise, 0.01 ms", "2 ms, loop", "–")
    assert row.reached


def test_noise_above_the_limit_reaches_nothing():
    assert not make_row(ours=1e-6, noise=1e-3).reached


def test_a_difference_above_its_noise_is_told_with_its_ratio():
    assert make_row(ours=2e-4, noise=1e-5).cells()[1:4] == ("0.2 ms", "2 ms, loop", "10")


def test_the_added_time_of_a_call_is_that_of_its_work():
    added, noise = added_time(lambda: sum(range(400_000)), lambda: sum(range(10)), times=5)
    assert added > 0
    assert noise >= 0
