"""What a study found: stabilities, scores, preferences, failures, decisions, and where they come from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from holdfast.checks import Matrix
from holdfast.inference.agreements import Kalousis
from holdfast.inference.designs import design_stability
from holdfast.measures import Measure
from holdfast.study.reporting import StudyReporting

if TYPE_CHECKING:
    from holdfast import tradeoff
    from holdfast.plots.theme import AnyChart
    from holdfast.tradeoff.fronts import Rule


class StudyResult(StudyReporting):
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

    # Weights, ranks and subsets together

    def kalousis(self, candidate: str, k: int | None = None, **parameters: Any) -> Kalousis:
        """Measure the stability of a candidate's weights (S_W), of their ranking (S_R) and of its selections (S_S).

        Parameters
        ----------
        candidate : str
            Name of a candidate whose weights or order the study stored (``hf.Candidates(…, keep="weights")``).
        k : int, optional
            Size of the selections; by default as they are.
        **parameters
            ``ties="random"`` and ``random_state`` order equal weights at random in the ranking, where their average
            rank would make rankings look more alike than they are.

        Returns
        -------
        Kalousis
            The three estimates, as the design of the study asks for them (Kalousis, Prados and Hilario, 2005, took
            :class:`holdfast.NestedFolds`); S_W is None if no weights were stored.

        See Also
        --------
        stability : Any one measure.
        holdfast.inference.kalousis : The same for weights that were not made by a study.
        """
        whole = self.designed(candidate, kind="ranking")
        weights = design_stability(whole, "weight_correlation") if whole.runs.kind == "weighting" else None
        ranks = design_stability(whole, "spearman", **parameters)
        return Kalousis(weights, ranks, self.stability(candidate, "jaccard", top=k))

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
            How often the resamples are drawn again, for the probability to be on the front (0 for none), and the seed
            of that.
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
        fill: bool = False,
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
        fill : bool
            Whether selections are filled up with features without information, which are never selected by default.
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
            self, name, measure, sizes=sizes, metric=metric, tolerance=tolerance, level=level, fill=fill, X=X,
            **parameters,
        )  # fmt: skip

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
        candidates: Iterable[str] | None = None,
        **parameters: Any,
    ) -> pd.DataFrame:
        """Return mean and standard deviation of the rank of every setting over the values of one parameter.

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
        candidates : iterable of str, optional
            Names of the candidates to rank; all by default.
        **parameters
            ``X`` for measures that need a similarity of features, and parameters of the measure, as for
            :meth:`stability`.

        Returns
        -------
        DataFrame
            One row per setting, the best first: its mean ``rank`` (see :func:`holdfast.tradeoff.mean_ranks`), the
            standard deviation ``sd`` of its ranks, and the number of ``conditions`` it was ranked in.

        Raises
        ------
        ValueError
            If no candidate sets this parameter, or ``of`` is neither ``"stability"`` nor a score.
        """
        from holdfast import tradeoff

        return tradeoff.ranked_settings(
            self, over, of=of, measure=measure, fraction=fraction, candidates=candidates, **parameters
        )

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
