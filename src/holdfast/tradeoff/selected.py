"""Selected features by name: how often, in which direction, how strong on held-out rows, and their stand-ins."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.cards import SHOWN_ROWS as CARD_ROWS
from holdfast.cards import Card, draw_bars, make_bar
from holdfast.inference.features import feature_table
from holdfast.inference.intervals import check_level
from holdfast.results import ResultMixin
from holdfast.study.common_measure import take_best
from holdfast.study.result import StudyResult
from holdfast.tradeoff.checked import check_features
from holdfast.tradeoff.effects import COLUMNS, mean_effects
from holdfast.tradeoff.information import compare_with_guessing
from holdfast.tradeoff.model_use import model_use
from holdfast.tradeoff.reported import default_candidate, features_that_count

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

SHOWN_ROWS = 20
SCOPE = (
    "Effects are means over the held-out rows of the resamples that selected the feature. Their intervals allow for "
    "overlapping resamples (Nadeau and Bengio, 2003) and for looking at the strongest of {n_features:,} features "
    "(Benjamini and Yekutieli, 2005); a direction is stated where the interval excludes no effect. They describe this "
    "data set: in new samples, effects of features that were singled out tend to be weaker."
)

MODEL_SCOPE = (
    "What models do with a feature is the sign of its coefficient beside the other features, in the linear models of "
    "the resamples that selected it: it describes models of this data set."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectedFeatures(ResultMixin):
    """Selected features of a candidate: selection frequency, verdict, direction and effect on held-out rows, stand-ins.

    Attributes
    ----------
    candidate : str
        Its name.
    frame : DataFrame
        One row per feature that was ever selected, the most frequent first: ``count``, ``frequency`` with ``low`` and
        ``high``, ``verdict``, ``direction`` in words, the mean ``effect`` on held-out rows with ``effect_low`` and
        ``effect_high``, the number of ``splits`` behind it, the share of them that point the same way (``agreement``),
        a ``second_effect``; what linear models do with it beside the other features, in words (``model_use``), with
        the share of its models that agree on the sign (``model_agreement``) and its mean ``coefficient``, that of the
        feature in units of its standard deviation; ``stand_ins`` and the share of the resamples that selected it or one
        of them.
    effect, second_effect : str or None
        What the effects are: for two classes the probability that a row of the second class has the higher value (AUC,
        no effect at 0.5) and the difference of means in units of the pooled deviation; for several classes the AUC of
        the class that differs most from all others; for numbers the correlations of ranks and of values.
    missing : str or None
        Why there are no effects; None if there are.
    no_model_use : str or None
        Why it is not said what models do with a feature; None if it is.
    level, threshold : float
        Level of the intervals; selection frequency that the interval of a feature that holds must exceed.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    n_runs, n_features : int
        Number of resamples and of all features.
    scope : str
        What effects and their intervals describe.

    See Also
    --------
    holdfast.StudyResult.features : Makes it.
    holdfast.check_features : A list of your own, checked name by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors={"anova": hf.selectors.AnovaF(3)}, perturbation=hf.Bootstrap(30))
    >>> found = study.run(X, y).features()
    >>> found.to_frame()[["feature", "count", "direction", "effect"]].head(2).round(2)
                    feature  count          direction  effect
    0       worst perimeter     30  higher in class 0    0.03
    1  worst concave points     28  higher in class 0    0.04
    """

    candidate: str
    frame: pd.DataFrame
    effect: str | None
    second_effect: str | None
    missing: str | None
    no_model_use: str | None
    level: float
    threshold: float
    top: int | None
    n_runs: int
    n_features: int
    scope: str

    @property
    def has_model_use(self) -> bool:
        """Whether it is said what models do with a feature."""
        return bool(self.frame["model_use"].notna().any())

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature (see :attr:`frame`).

        Returns
        -------
        DataFrame
            The most frequent feature first.
        """
        return self.frame

    def plot(self, *, most: int = 30) -> "AnyChart":
        """Draw the effects of the most frequent features, with their intervals.

        Parameters
        ----------
        most : int
            Number of features to draw.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast import plots

        return plots.plot_effects(self, most=most)

    def _card(self) -> Card:
        """The table as it is printed: an AUC is that of the class in which the feature is higher."""
        from holdfast.tradeoff.effects import toward_direction

        name, first = self.effect or "effect", self.frame[["feature", "frequency", "low", "high", "verdict"]]
        rows = [{str(key): value for key, value in row.items()} for row in self.frame.to_dict(orient="records")]
        told = pd.DataFrame(
            [toward_direction(row, self.effect) for row in rows], columns=[name, f"{name} low", f"{name} high"]
        )
        shown = first.assign(direction=self.frame["direction"]).join(told)
        bars = [
            make_bar(row["feature"], row["frequency"], row["low"], row["high"], strong=row["verdict"] == "holds")
            for row in rows[:CARD_ROWS]
        ]
        cut = "" if self.top is None else f" among the best {self.top}"
        return Card(
            title=f"Features of {self.candidate}",
            verdict=f"{len(self.frame)} of {self.n_features:,} were selected{cut} in {self.n_runs} resamples",
            frame=shown.drop(columns=told.columns) if self.missing else shown,
            picture=draw_bars(bars, mark=self.threshold),
            note=f"No effects: {self.missing}." if self.missing else self.scope,
        )

    def __repr__(self) -> str:
        cut = "" if self.top is None else f" among the best {self.top}"
        head = f"Features of {self.candidate}: {len(self.frame)} were selected{cut} in {self.n_runs} resamples"
        first = self.frame.head(SHOWN_ROWS)
        shown = first.assign(stand_ins=[", ".join(map(str, names)) for names in first["stand_ins"]])
        left_out = {"second_effect": self.second_effect is None, "model_use": not self.has_model_use}
        unknown = [column for column, missing in left_out.items() if missing]
        shown = shown.drop(columns=["with_stand_ins", "model_agreement", "coefficient", *unknown])
        table = shown.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        effect = f"No effects: {self.missing}." if self.missing else f"Effect: {self.effect}. {self.scope}"
        return f"{head}\n{table}\n{effect}" + (f"\n{MODEL_SCOPE}" if self.has_model_use else "")


def selected_features(
    result: StudyResult,
    candidate: str | None = None,
    *,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    X: Any = None,
    metric: str | None = None,
) -> SelectedFeatures:
    """Tabulate the selected features of a candidate: frequency, verdict, direction, effect and stand-ins.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; by default the one that a report is about.
    level : float
        Level of the intervals.
    threshold : float
        Selection frequency that the interval of a feature that holds must exceed.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    X : frame or array, optional
        The data; stand-ins must then be correlated too.
    metric : str, optional
        The score by which the candidate must predict better than guessing; the study's first by default.

    Returns
    -------
    SelectedFeatures
        One row per feature that was ever selected.

    See Also
    --------
    StudyResult.final_features : The features of a fit to all rows.
    """
    check_level(level)
    name = default_candidate(result) if candidate is None else candidate
    runs = result.preferences(name)
    top = None if runs.kind == "subset" else top or features_that_count(result, name)
    subsets = runs if top is None else take_best(runs, top)
    table = feature_table(subsets, level=level)
    checked = check_features(
        table["feature"], result, name, X=X, level=level, threshold=threshold, top=top, metric=metric
    )
    effects = mean_effects(result, name, subsets, level)
    used = model_use(result, name, subsets, compare_with_guessing(result, name, metric), level)
    column = {feature: place for place, feature in enumerate(subsets.features)}
    places = [column[feature] for feature in table["feature"]]
    strengths, uses = effects.frame.reindex(places), used.frame.reindex(places)
    parts = checked.reset_index()[["feature", "count", "frequency", "low", "high", "verdict"]]
    frame = parts.assign(
        direction=strengths["direction"].where(strengths["direction"].notna(), None).to_numpy(),
        **{column: strengths[column].to_numpy(dtype=float) for column in COLUMNS if column != "direction"},
        model_use=uses["model_use"].where(uses["model_use"].notna(), None).to_numpy(),
        **{column: uses[column].to_numpy(dtype=float) for column in ("model_agreement", "coefficient")},
        stand_ins=checked["stand_ins"].to_numpy(),
        with_stand_ins=checked["with_stand_ins"].to_numpy(),
    )
    frame["splits"] = frame["splits"].fillna(0).astype(int)
    return SelectedFeatures(
        candidate=name, frame=frame, effect=effects.name, second_effect=effects.second_name, missing=effects.missing,
        no_model_use=used.missing, level=level, threshold=threshold, top=top, n_runs=subsets.n_runs,
        n_features=subsets.n_features, scope=SCOPE.format(n_features=subsets.n_features),
    )  # fmt: skip
