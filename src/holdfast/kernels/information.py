"""Entropy and symmetrical uncertainty of discrete features, from integer counts and a table of x·log x."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel

Codes = NDArray[np.uint8]  # features × samples


def equal_width_codes(X: NDArray[np.float64], n_bins: int) -> Codes:
    """Bin each column between its minimum and maximum: closed on the left, the maximum in the last bin."""
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    scaled = (X - low) / np.where(width > 0, width, 1) * n_bins
    return np.ascontiguousarray(np.minimum(scaled.astype(np.uint8), n_bins - 1).T)


def symmetrical_uncertainty(codes: Codes, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """2·I(x; y) / (H(x) + H(y)) for each feature of ``rows`` with each of ``columns``; 0 if both are constant."""
    counts = np.arange(codes.shape[1] + 1, dtype=float)
    x_log_x = counts * np.log(np.maximum(counts, 1))
    out = np.empty((rows.size, columns.size))
    _uncertainty(codes, int(codes.max(initial=0)) + 1, x_log_x, rows, columns, out)
    return out


@kernel
def _uncertainty(codes, n_codes, x_log_x, rows, columns, out):  # type: ignore[no-untyped-def]
    n = codes.shape[1]
    joint = np.empty((n_codes, n_codes), np.int64)
    for row in range(rows.size):
        x = codes[rows[row]]
        for column in range(columns.size):
            y = codes[columns[column]]
            joint[:] = 0
            for sample in range(n):
                joint[x[sample], y[sample]] += 1
            in_joint, in_x, in_y = 0.0, 0.0, 0.0
            for a in range(n_codes):
                x_count, y_count = 0, 0
                for b in range(n_codes):
                    in_joint += x_log_x[joint[a, b]]
                    x_count += joint[a, b]
                    y_count += joint[b, a]
                in_x += x_log_x[x_count]
                in_y += x_log_x[y_count]
            entropies = 2 * x_log_x[n] - in_x - in_y  # n (H(x) + H(y))
            information = x_log_x[n] - in_x - in_y + in_joint  # n I(x; y)
            out[row, column] = 2 * information / entropies if entropies > 1e-9 * n else 0.0
