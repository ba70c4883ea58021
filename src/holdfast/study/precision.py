"""The number of resamples for an interval of a given width, settled by a pilot."""

from dataclasses import dataclass, field

from holdfast.inference.intervals import check_level


@dataclass(frozen=True, kw_only=True)
class TargetPrecision:
    """Sample size for an interval of a given width: a pilot, then as many resamples as it asks for (Stein).

    Stopping as soon as the interval is narrow enough would lose coverage; this two-stage rule does not.

    Parameters
    ----------
    half_width : float
        Half of the width that the interval of every candidate may have.
    pilot : int
        Number of resamples in the pilot.
    cap : int
        Maximum number of resamples.
    measure : str
        A measure of subsets.
    level : float
        Confidence level.

    See Also
    --------
    Study.run : Takes it as ``until=``.
    runs_needed : The same calculation, from a pilot of your own.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors=[hf.selectors.ReliefF(2)], perturbation=hf.Bootstrap(20))
    >>> result = study.run(X, y, until=hf.TargetPrecision(0.15, cap=200))
    >>> result.n_splits
    33
    """

    half_width: float = field(kw_only=False)
    pilot: int = 20
    cap: int = 1000
    measure: str = "nogueira"
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not self.half_width >= 1e-9:
            raise ValueError(f"Expected a half width above 0, got {self.half_width}. The least is 1e-9.")
        if not 3 <= self.pilot <= self.cap:
            raise ValueError(f"Expected a pilot of 3 resamples to cap={self.cap}, got {self.pilot}.")
