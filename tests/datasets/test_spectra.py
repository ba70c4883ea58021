"""Spectra to peaks."""

import numpy as np
import pandas as pd
import pytest

import holdfast.datasets.spectra as spectra
from holdfast.datasets import spectrum_peaks

POINTS = np.arange(3000)
TOPS = np.array([150, 400, 420, 700, 1100, 1500, 1504, 1900, 2300, 2800])  # 1500 and 1504 are one peak for the eye
APART = np.array([150, 400, 420, 700, 1100, 1900, 2300, 2800])


def simulated(tops=APART, n=40, noise=0.2, shift=0, seed=0):
    """Bells on a falling baseline; returns spectra and the height of each bell."""
    rng = np.random.default_rng(seed)
    heights = rng.uniform(2, 12, (n, tops.size))
    moved = tops + rng.integers(-shift, shift + 1, (n, 1, 1)).reshape(n, 1)
    bells = np.exp(-(((POINTS - moved[:, :, None]) / 4) ** 2))
    base = 30 * np.exp(-POINTS / 800) + rng.uniform(0, 5, (n, 1))
    return np.einsum("nt,ntp->np", heights, bells) + base + noise * rng.standard_normal((n, POINTS.size)), heights


def test_all_peaks_are_found_where_they_are_and_no_others():
    values, _ = simulated()
    found = spectrum_peaks(values)
    assert found.shape == (40, APART.size)
    assert np.abs(found.columns.to_numpy() - APART).max() <= 1


def test_intensities_are_heights_above_the_baseline():
    values, heights = simulated(noise=0.05)
    found = spectrum_peaks(values).to_numpy()
    # a parabola over seven points takes a little off a narrow peak, and the baseline falls within its window
    assert np.abs(found - heights).max() < 2.5
    correlations = [np.corrcoef(found[:, place], heights[:, place])[0, 1] for place in range(APART.size)]
    assert min(correlations) > 0.98


def test_small_shifts_between_spectra_do_no_harm():
    values, heights = simulated(noise=0.05, shift=2)
    found = spectrum_peaks(values)
    assert np.abs(found.columns.to_numpy() - APART).max() <= 2
    correlations = [np.corrcoef(found.iloc[:, place], heights[:, place])[0, 1] for place in range(APART.size)]
    assert min(correlations) > 0.97


def test_peaks_closer_than_their_width_are_one():
    assert spectrum_peaks(simulated(TOPS)[0]).shape[1] == TOPS.size - 1


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_has_hardly_any_peak(seed):
    rng = np.random.default_rng(seed)
    noise = 10 * np.exp(-POINTS / 800) + rng.standard_normal((30, POINTS.size))
    try:
        n_found = spectrum_peaks(noise).shape[1]
    except ValueError:
        n_found = 0
    assert n_found <= 3  # of 3000 points


def test_names_and_rows_are_kept_and_nothing_is_drawn():
    values, _ = simulated()
    frame = pd.DataFrame(values, columns=[f"mz_{p}" for p in POINTS], index=[f"patient {i}" for i in range(40)])
    found = spectrum_peaks(frame)
    assert set(found.columns) <= set(frame.columns)
    assert found.index.equals(frame.index)
    pd.testing.assert_frame_equal(found, spectrum_peaks(frame))
    assert (found.to_numpy() == spectrum_peaks(values).to_numpy()).all()


def test_spectra_without_noise_have_no_peaks_of_rounding():
    values, _ = simulated(noise=0.0)
    assert spectrum_peaks(values).shape[1] == APART.size


def test_a_larger_ratio_finds_fewer_peaks_among_the_same():
    values, _ = simulated(noise=1.0)
    many, few = (set(spectrum_peaks(values, signal_to_noise=ratio).columns) for ratio in (2, 20))
    assert few < many


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 6}, "Expected smoothing to be an odd number of points from 5 to below the 3000"),
        ({"baseline": 3}, "Expected baseline to be an odd number of points from 7"),
        ({"baseline": 3001}, "of a spectrum, got 3001"),
        ({"signal_to_noise": 0}, "Expected signal_to_noise above 0"),
        ({"signal_to_noise": 1e9}, "got none; choose a smaller signal_to_noise="),
    ],
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        spectrum_peaks(simulated()[0], **options)


def test_gaps_and_single_spectra_are_refused():
    values, _ = simulated()
    values[3, 7] = np.nan
    with pytest.raises(ValueError, match="Expected an intensity everywhere, got nan at row 3, column 7"):
        spectrum_peaks(values)
    with pytest.raises(ValueError, match="one spectrum per row"):
        spectrum_peaks(values[0])


def test_the_baseline_lies_below_a_spectrum_and_follows_what_is_wider_than_its_window():
    slope = np.linspace(0, 5, 500)[None]
    bell = 10 * np.exp(-(((np.arange(500) - 250) / 4) ** 2))
    found = spectra._baselines(slope + bell, 51)
    assert (found <= slope + bell).all()
    assert np.abs(found - slope).max() < 0.6
