"""Spectra to peaks: a smaller table of intensities, made without looking at the target."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import Matrix

Floats = NDArray[np.float64]


def spectrum_peaks(X: Matrix, *, smoothing: int = 7, baseline: int = 301, signal_to_noise: float = 5.0) -> pd.DataFrame:
    """Turn spectra, one per row, into the intensities of their common peaks.

    Every spectrum is smoothed and its baseline removed. Peaks are those of the mean spectrum: points that stand out
    from their surroundings by ``signal_to_noise`` times its noise. The intensity of a peak in a spectrum is the largest
    value within half a smoothing window of it, so that small shifts between spectra do no harm. The target is never
    looked at: taking peaks once, of all rows, tells a selector nothing about the classes of rows that are held out.

    Parameters
    ----------
    X : matrix of shape (n_spectra, n_points)
        Intensities, columns in the order of the axis (m/z, wavelength, time).
    smoothing : int, default 7
        Odd number of points in the window of the smoother, in which a parabola is fitted (Savitzky and Golay, 1964);
        about the width of a peak.
    baseline : int, default 301
        Odd number of points in the window of the baseline, which is the highest of the moving minima around each point;
        several times the width of a peak.
    signal_to_noise : float, default 5
        How far a peak of the mean spectrum stands out, in units of its noise: the median absolute difference between
        the mean spectrum and itself smoothed, scaled as a standard deviation.

    Returns
    -------
    DataFrame
        One row per spectrum, one column per peak, with the name that the column at its top has in ``X`` (its number, if
        ``X`` has no names).

    Raises
    ------
    ValueError
        If a window is not an odd number of points below their number, the ratio is not above 0, an intensity is
        missing, or no peak stands out.

    See Also
    --------
    load : ``ovarian_8_7_02`` are raw mass spectra of 15,154 points.

    Notes
    -----
    In a time-of-flight spectrum peaks are about equally wide in points, not in m/z: give it as it was recorded.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.datasets import spectrum_peaks
    >>> points, rng = np.arange(1000), np.random.default_rng(0)
    >>> heights = rng.uniform(5, 10, (20, 2))
    >>> bells = np.exp(-(((points - np.array([[300], [700]])) / 4) ** 2))
    >>> spectra = heights @ bells + 10 * np.exp(-points / 400) + 0.1 * rng.standard_normal((20, 1000))
    >>> spectrum_peaks(spectra).shape
    (20, 2)
    """
    values = _check_spectra(X)
    _check_window("smoothing", smoothing, 5, values.shape[1])
    _check_window("baseline", baseline, smoothing, values.shape[1])
    if not signal_to_noise > 0:
        raise ValueError(f"Expected signal_to_noise above 0, got {signal_to_noise}.")
    from scipy.ndimage import maximum_filter1d  # with scipy.signal, half a second to import
    from scipy.signal import find_peaks, savgol_filter

    smooth = savgol_filter(values, smoothing, 2, axis=1)
    noise = _spread(values.mean(axis=0) - smooth.mean(axis=0))
    signal = smooth - _baselines(smooth, baseline)
    mean = signal.mean(axis=0)
    least = max(signal_to_noise * noise, 1e-9 * float(np.ptp(mean)))  # spectra without noise end in rounding
    positions, _ = find_peaks(mean, prominence=least)
    if not positions.size:
        raise ValueError(
            f"Expected peaks that stand out from the mean spectrum by {signal_to_noise:g} times its noise, got none; "
            "choose a smaller signal_to_noise=, and check that columns are in the order of the axis."
        )
    around = maximum_filter1d(signal, smoothing, axis=1)
    names = pd.Index(getattr(X, "columns", range(values.shape[1])))
    index = X.index if isinstance(X, pd.DataFrame) else None
    return pd.DataFrame(around[:, positions], index=index, columns=names[positions])


def _check_spectra(X: Matrix) -> Floats:
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"Expected a matrix of one spectrum per row, got an array of shape {values.shape}.")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"Expected an intensity everywhere, got {values[row, column]} at row {row}, column {column}.")
    return values


def _check_window(name: str, window: Any, least: int, n_points: int) -> None:
    whole = isinstance(window, (int, np.integer)) and not isinstance(window, bool)
    if not whole or window % 2 == 0 or not least <= window < n_points:
        raise ValueError(
            f"Expected {name} to be an odd number of points from {least} to below the {n_points} of a spectrum, got "
            f"{window!r}."
        )


def _baselines(spectra: Floats, window: int) -> Floats:
    """The highest of the moving minima around each point: what is left of a spectrum without its peaks."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    return np.asarray(maximum_filter1d(minimum_filter1d(spectra, window, axis=1), window, axis=1))


def _spread(values: Floats) -> float:
    """The median absolute value, scaled as the standard deviation of a normal distribution."""
    return float(1.4826 * np.median(np.abs(values)))
