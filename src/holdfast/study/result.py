"""What a study found: stabilities, scores, preferences, failures, decisions, and where they come from."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from holdfast.checks import Matrix
from holdfast.measures import Measure
from holdfast.study.stabilities import StudyStabilities

if TYPE_CHECKING:
    from holdfast import tradeoff
    from holdfast.plots.theme import AnyChart
    from holdfast.report.render import Format
    from holdfast.study.study import Study
    from holdfast.tradeoff.fronts import Rule


class StudyResult(StudyStabilities):
    """What a study found: stabilities, scores, preferences, failures, and decisions based on them.

    Parameters
    ----------
    stored : Stored
        The tables of the study's store.
    study : Study, optional
        The plan, if this process ran it; a store does not hold it.

    See Also
    --------
    Study.run : Returns one.
    load_study : Reads one from a store; a snapshot if the study still runs.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> result.candidates
    ['anova(size=1)', 'anova(size=2)']
    >>> result.choose("accuracy").candidate
    'anova(size=2)'
    >>> result.final_features("anova(size=2)", X, y).selected
    ['petal length (cm)', 'petal width (cm)']
    """

    # Trade-offs and decisions (holdfast.tradeoff)

    def pareto(
        self,
        metric: str | None = None,
        measure: str | Measure | None = None,
        *,
        by: Literal["family"] | None = "family",
        rule: "Rule" = "usual",
        reference: tuple[float, float] | None = None,
        candidates: Iterable[str] | None = None,
        level: float = 0.95,
        n_draws: int = 1000,
        random_state: int = 0,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> "tradeoff.Pareto":
        """Find the best compromises of accuracy and stability among the candidates.

        Parameters
        ----------
        metric : str, optional
            The score; the study's first one by default.
        measure : str or Measure, optional
            The measure of stability; the usual one for what the candidates give by default.
        by : {"family", None}
            Whether every selector has a front of its own.
        rule : {"usual", "weak"}
            How points are dropped (see :func:`holdfast.tradeoff.pareto_front`).
        reference : (float, float), optional
            Score and stability from which dominated areas are measured; by default the lowest of all candidates.
        candidates : iterable of str, optional
            Names of candidates; by default all but those that a search stopped.
        level : float
            Level of the intervals.
        n_draws, random_state : int
            How often the resamples are drawn again, for the probability to be on the front, and the seed of that.
        X, **parameters : optional
            Data for measures that need them, and parameters of the measure, as for :meth:`stability`.

        Returns
        -------
        Pareto
            Scores and stabilities of all candidates, fronts, and the probability of each to be on them.

        See Also
        --------
        choose : One candidate of them, by a rule.
        holdfast.tradeoff.pareto : The same as a function, with more on the probabilities.
        """
        from holdfast import tradeoff

        return tradeoff.pareto(
            self, metric, measure, by=by, rule=rule, reference=reference, candidates=candidates, level=level,
            n_draws=n_draws, random_state=random_state, X=X, **parameters,
        )  # fmt: skip

    def choose(
        self,
        rule: str = "one-se",
        *,
        metric: str | None = None,
        measure: str | Measure | None = None,
        candidates: Iterable[str] | None = None,
        level: float = 0.95,
        n_draws: int | None = None,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> "tradeoff.Choice":
        """Choose one candidate by accuracy and stability, and say why.

        Parameters
        ----------
        rule : str
            Name of a rule; :data:`holdfast.tradeoff.RULES` lists them with what they do.
        metric, measure, candidates : optional
            As for :meth:`pareto`; bind parameters of the measure to it: ``MEASURES["gulgezen"].bind(…)``.
        level, n_draws : float, int
            Level of the intervals and of a rule's tests; number of redraws for the probabilities (0 for none).
        X : matrix, optional
            Samples × features, for measures that need a similarity of features.
        **parameters
            Parameters of the rule, such as ``stability`` of ``"at-least"`` or ``weight`` of ``"weighted"``.

        Returns
        -------
        Choice
            The candidate, the reason, why not the others, and how often each would be chosen.

        Raises
        ------
        ValueError
            If there is no such rule, it has no such parameter, or no candidate has a score and a stability.

        See Also
        --------
        holdfast.nested_choice : What a choice is worth on rows that took no part in it.
        """
        from holdfast import tradeoff

        return tradeoff.choose(
            self, rule, metric=metric, measure=measure, candidates=candidates, level=level, n_draws=n_draws, X=X,
            **parameters,
        )  # fmt: skip

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
        features_of : How often each of all features was selected.
        holdfast.check_features : A list of your own, checked name by name.
        """
        from holdfast import tradeoff

        return tradeoff.final_features(
            self, candidate, X, y, groups=groups, study=study, threshold=threshold, level=level, top=top
        )

    def recovery(
        self, truth: Any, candidate: str, *, threshold: float = 0.5, top: int | None = None
    ) -> "tradeoff.Recovery":
        """Count false positives and negatives of a candidate where the relevant features are known.

        Parameters
        ----------
        truth : iterable of str or int, or Truth
            The relevant features by name or by column; or what :mod:`holdfast.datasets` knows of simulated data.
        candidate : str
            Name of a candidate.
        threshold : float
            Share of the resamples from which a feature is in the consensus.
        top : int, optional
            How many of the best features count, for candidates that give rankings or weights.

        Returns
        -------
        Recovery
            Counts per resample, and the errors of the consensus.
        """
        from holdfast import tradeoff

        return tradeoff.recovery(self, truth, candidate, threshold=threshold, top=top)

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

        return tradeoff.prediction_agreement(self, candidate)

    # Profiles

    def profile(
        self,
        name: str,
        measure: str | Measure = "nogueira",
        *,
        sizes: Iterable[int] | None = None,
        metric: str | None = None,
        tolerance: float = 0.2,
        level: float = 0.95,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> "tradeoff.SizeProfile":
        """Measure stability against the number of features, and find the sizes after which features enter at random.

        Parameters
        ----------
        name : str
            A candidate that gives rankings or weights, or a selector whose candidates are sizes (``sizes=[5, 10, …]``).
        measure : str or Measure
            What to measure: a measure of subsets.
        sizes, metric : optional
            Sizes to look at, about 30 by default; score to put beside, for selectors with several sizes.
        tolerance : float
            Agreement of entering features up to which they enter almost at random.
        level : float
            Level of the intervals.
        X, **parameters : optional
            Data for measures that need them, and parameters of the measure, as for :meth:`stability`.

        Returns
        -------
        SizeProfile
            Stability at every size, and the knots.

        See Also
        --------
        holdfast.tradeoff.profile : The definition of entering features and knots.
        """
        from holdfast import tradeoff

        return tradeoff.profile(
            self, name, measure, sizes=sizes, metric=metric, tolerance=tolerance, level=level, X=X, **parameters
        )

    def fraction_profile(
        self,
        candidates: Iterable[str] | None = None,
        measure: str | Measure | None = None,
        *,
        metric: str | None = None,
        level: float = 0.95,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> pd.DataFrame:
        """Return agreement and score against the size of the sample, for a study with NestedSubsamples.

        Parameters
        ----------
        candidates : iterable of str, optional
            Names of candidates; all by default.
        measure : str or Measure, optional
            What to measure, as for :meth:`stability`.
        metric, level : str and float
            The score, the study's first one by default, and the level of the intervals.
        X, **parameters : optional
            Data for measures that need them, and parameters of the measure, as for :meth:`stability`.

        Returns
        -------
        DataFrame
            One row per candidate and ``fraction`` (see :func:`holdfast.tradeoff.fraction_profile`).
        """
        from holdfast import tradeoff

        return tradeoff.fraction_profile(self, candidates, measure, metric=metric, level=level, X=X, **parameters)

    def setting_ranks(
        self,
        over: str = "size",
        *,
        of: str = "stability",
        measure: str | Measure | None = None,
        fraction: float | None = None,
        **parameters: Any,
    ) -> pd.DataFrame:
        """Return the mean rank of every setting over the values of one parameter.

        Parameters
        ----------
        over : str
            Parameter whose values are the conditions, such as ``size``, the number of features.
        of : str
            What is ranked: ``"stability"`` or the name of a score.
        measure : str or Measure, optional
            What to measure, as for :meth:`stability`.
        fraction : float, optional
            Of nested subsamples, the size to rank at; by default the mean over all smaller sizes.
        **parameters
            Parameters of the measure.

        Returns
        -------
        DataFrame
            One row per setting, the best first: its ``rank`` (see :func:`holdfast.tradeoff.mean_ranks`) and the number
            of ``conditions`` it was ranked in.

        Raises
        ------
        ValueError
            If no candidate sets this parameter, or ``of`` is neither ``"stability"`` nor a score.
        """
        from holdfast import tradeoff

        return tradeoff.ranked_settings(self, over, of=of, measure=measure, fraction=fraction, **parameters)

    def report(
        self,
        path: str | Path = "report.html",
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        title: str | None = None,
        **parameters: Any,
    ) -> Path:
        """Write a report into one file, which needs no other file and no network.

        Parameters
        ----------
        path, format : path, {"html", "md", "json"}, optional
            File to write; without a format, its name ends in .html, .md or .json.
        candidate : str, optional
            Which candidate to report; the one that ``rule`` chooses by default, or without scores the most stable one.
        rule, metric, measure : str
            How to choose, as for :meth:`choose`.
        level, threshold : float
            Level of all intervals; what the lower end of a feature's frequency must exceed to be trusted.
        X : frame or array, optional
            The features that the study ran on; then features that stand in for each other must be correlated too.
        title : str, optional
            Heading of the report.
        **parameters
            Parameters of the rule, as for :meth:`choose`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If an option is wrong whatever the study found; what a study cannot answer is said in its report.

        See Also
        --------
        holdfast.report.summarize : What the report says, as data.
        """
        from holdfast import report
        from holdfast.tradeoff.choice import check_rule

        check_rule(rule, parameters, StudyResult.report)
        heading = {} if title is None else {"title": title}
        summary = report.summarize(
            self, candidate=candidate, rule=rule, metric=metric, measure=measure, level=level, threshold=threshold, X=X,
            **heading, **parameters,
        )  # fmt: skip
        return report.write_report(summary, path, format=format)

    def plot(self, picture: Literal["pareto", "forest"] | None = None, *, level: float = 0.95) -> "AnyChart":
        """Draw accuracy against stability, or the stabilities with their intervals.

        Parameters
        ----------
        picture : {"pareto", "forest"}, optional
            By default ``"pareto"`` if several candidates have scores, else ``"forest"``.
        level : float
            Level of the intervals.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.

        Raises
        ------
        ValueError
            If there is no such picture.
        """
        from holdfast import plots

        if picture not in ("pareto", "forest", None):
            raise ValueError(f"Expected picture 'pareto' or 'forest', got {picture!r}.")
        pareto = self.has_scores and len(self.candidates) > 1 if picture is None else picture == "pareto"
        return plots.plot_pareto(self, level=level) if pareto else plots.plot_forest(self, level=level)
