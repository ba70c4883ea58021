"""The features of a study's candidates: selected by name, of a final fit, against a known truth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.study.stabilities import StudyStabilities
from holdfast.study.work import QUANTILES, SplitCoefficients, SplitEffects, unpack_effects

if TYPE_CHECKING:
    from holdfast import replication, tradeoff
    from holdfast.study.result import StudyResult
    from holdfast.study.study import Study


class StudyFeatures(StudyStabilities):
    """What a study says about single features, answered by :mod:`holdfast.tradeoff`."""

    @property
    def _result(self) -> "StudyResult":
        return cast("StudyResult", self)

    # What the store holds of features

    @property
    def no_effects(self) -> str | None:
        """Why there are no effects of features on held-out rows, in words; None if there are."""
        effects, reason = self.stored.effects, self.stored.meta["no_effects"]
        if reason is not None:
            return str(reason)
        if not (self.split_table["n_test"] > 0).any():
            return "no rows were held out"
        if not effects["features"].map(len).any():
            return "the rows that were held out were also trained on" if len(effects) else "none were stored"
        return None

    def split_effects(self, candidate: str) -> list[SplitEffects]:
        """Return the effects on held-out rows of all features that a candidate or others of its selector selected.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        list of SplitEffects
            One per split, in order: ``split``, ``features`` (columns, ascending), and ``values`` (features × effects).
        """
        rows = self.stored.effects[self.stored.effects["family"] == self.family(candidate)]
        return [unpack_effects(row, len(self.classes or ())) for row in rows.itertuples(index=False, name=None)]

    def quantiles(self, candidate: str) -> dict[int, NDArray[np.float64]]:
        """Return quantiles by class of the features that a candidate or others of its selector selected most often.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        dict
            For each feature, by column, its 10, 25, 50, 75 and 90 % quantiles in each class (classes × quantiles), or
            in each third of the target if that is a number; ``nan`` for classes of fewer than eight rows.
        """
        rows = self.stored.quantiles[self.stored.quantiles["family"] == self.family(candidate)]
        blobs = zip(rows["feature"].tolist(), rows["quantiles"], strict=True)
        return {feature: np.frombuffer(blob, dtype="<f8").reshape(-1, len(QUANTILES)) for feature, blob in blobs}

    def no_model_use(self, candidate: str) -> str | None:
        """Return why it is not known what models do with the features of a candidate.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        str or None
            The reason in words; None if it is known.
        """
        outcomes = self.stored.find_outcomes(candidate)
        if not outcomes["scores"].notna().any():
            return "no model was scored"
        if len(self.classes or ()) > 2:
            return "there are more than two classes"
        if not (outcomes["kind"] == "subset").any():
            return "the candidate orders or weights features and selects none"
        if self.stored.meta["no_effects"] is not None:
            return str(self.stored.meta["no_effects"])
        return None if outcomes["coefficients"].notna().any() else "the model is not linear"

    def model_coefficients(self, candidate: str) -> list[SplitCoefficients]:
        """Return what the linear models of a candidate do with each feature beside the others.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        list of SplitCoefficients
            One per split with a linear model: ``split``, ``features`` (columns, ascending), and ``values``, their
            coefficients times their standard deviations on the training rows.
        """
        return self.stored.find_coefficients(candidate)

    # What is concluded (holdfast.tradeoff)

    def final_features(
        self,
        candidate: str,
        X: Any = None,
        y: Any = None,
        *,
        groups: Any = None,
        study: "Study | None" = None,
        threshold: float = 0.5,
        level: float = 0.95,
        top: int | None = None,
    ) -> "tradeoff.FinalFeatures":
        """Report the features of a candidate: those of a final fit, how often each was selected, and the consensus.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        X, y : optional
            Rows for the final fit: all rows of the study, or rows that were kept aside. Without them there is none.
        groups, study : optional
            Groups of these rows; the plan, for a result that was loaded from a store.
        threshold : float
            Share of the resamples from which a feature is in the consensus.
        level : float
            Level of the intervals of the frequencies.
        top : int, optional
            How many of the best features count, for candidates that give rankings or weights.

        Returns
        -------
        FinalFeatures
            Features with frequencies and stand-ins, and a bound on false ones where there is one.

        See Also
        --------
        features : How often each feature was selected, in which direction it points, and how strong it is.
        holdfast.check_features : A list of your own, checked name by name.
        """
        from holdfast import tradeoff

        return tradeoff.final_features(
            self._result, candidate, X, y, groups=groups, study=study, threshold=threshold, level=level, top=top
        )

    def features(
        self,
        candidate: str | None = None,
        *,
        level: float = 0.95,
        threshold: float = 0.5,
        top: int | None = None,
        X: Any = None,
        metric: str | None = None,
    ) -> "tradeoff.SelectedFeatures":
        """Return the selected features by name: frequency, verdict, direction, effect on held-out rows, stand-ins.

        Parameters
        ----------
        candidate : str, optional
            Name of a candidate; by default the one that a report is about: the only one, the chosen one, or without
            scores the most stable one.
        level : float
            Level of the intervals.
        threshold : float
            Selection frequency that the interval of a feature that holds must exceed.
        top : int, optional
            How many of the best features count, for candidates that give rankings or weights.
        X : frame or array, optional
            The features that the study ran on; stand-ins must then be correlated too.
        metric : str, optional
            The score by which the candidate must predict better than guessing; the study's first by default.

        Returns
        -------
        SelectedFeatures
            One row per feature that was ever selected, the most frequent first.

        See Also
        --------
        final_features : The features of a fit to all rows.
        holdfast.check_features : A list of your own, checked name by name.
        """
        from holdfast import tradeoff

        return tradeoff.selected_features(
            self._result, candidate, level=level, threshold=threshold, top=top, X=X, metric=metric
        )

    def recovery(
        self,
        truth: Any,
        candidate: str,
        X: Any = None,
        y: Any = None,
        *,
        groups: Any = None,
        study: "Study | None" = None,
        threshold: float = 0.5,
        top: int | None = None,
    ) -> "tradeoff.Recovery":
        """Count false positives and negatives of a candidate where the relevant features are known.

        Parameters
        ----------
        truth : iterable of str or int, or Truth
            The relevant features by name or by column; or what :mod:`holdfast.datasets` knows of simulated data.
        candidate : str
            Name of a candidate.
        X, y : optional
            Rows for a final fit: rows that took no part in the study, or all of them. Without them there is none.
        groups, study : optional
            Groups of these rows; the plan, for a result that was loaded from a store.
        threshold : float
            Share of the resamples from which a feature is in the consensus.
        top : int, optional
            How many of the best features count, for candidates that give rankings or weights.

        Returns
        -------
        Recovery
            Counts per resample, and the errors of the consensus and of the final fit.
        """
        from holdfast import tradeoff

        return tradeoff.recovery(
            self._result, truth, candidate, X, y, groups=groups, study=study, threshold=threshold, top=top
        )

    @property
    def kept_replicability(self) -> dict[str, Any]:
        """What was kept of candidates in new studies, by candidate, as plain values."""
        return dict(self.stored.meta.get("replicability", {}))

    def replicability(
        self,
        candidate: str | None = None,
        *,
        level: float = 0.95,
        top: int | None = None,
        X: Any = None,
        measures: Sequence[str] = (),
    ) -> "replication.Replicability":
        """Estimate how many of a candidate's features a new study would select too, for a study with Halvings.

        Parameters
        ----------
        candidate : str, optional
            Name of a candidate; not needed if there is only one.
        level : float
            Level of the intervals.
        top : int, optional
            How many of the best features count, for candidates that give rankings or weights.
        X : matrix, optional
            The features, to look for near-copies among those selected, and for measures that need them.
        measures : sequence of str
            Other measures of which the value at half the size is wanted.

        Returns
        -------
        Replicability
            The expected number of features with its interval, agreements, a probability for each feature, cautions.

        Raises
        ------
        ValueError
            If the study has another design: :func:`holdfast.replicability` runs what is missing.

        See Also
        --------
        holdfast.replicability : Runs the halvings too.
        """
        from holdfast import replication

        return replication.study_replicability(self._result, candidate, level=level, top=top, X=X, measures=measures)

    def prediction_agreement(self, candidate: str) -> "tradeoff.PredictionAgreement":
        """Measure whether fits that select different features also predict differently.

        Parameters
        ----------
        candidate : str
            Name of a candidate; its predictions must have been kept.

        Returns
        -------
        PredictionAgreement
            Agreement of predictions above chance, beside the stability of the selection.
        """
        from holdfast import tradeoff

        return tradeoff.prediction_agreement(self._result, candidate)
