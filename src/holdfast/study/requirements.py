"""What selectors and models need of the data, checked before any fit: missing values, number of classes."""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, clone, is_classifier, is_regressor
from sklearn.feature_selection import chi2, f_classif, f_regression, mutual_info_classif

from holdfast.io.estimators import Made, MixingStepError, columns_after, preserve_random_state, selects
from holdfast.models import MODELS
from holdfast.resampling.split import take
from holdfast.selectors.base import Filter, Selector
from holdfast.selectors.catalog import SELECTORS
from holdfast.study.data import StudyData
from holdfast.study.families import Family, takes_argument
from holdfast.study.memory import free_bytes
from holdfast.text import join_first

MAX_SHOWN = 60
MODEL = "the model"
WRAPPED = ("estimator", "regressor")  # where scikit-learn's wrappers keep the estimator that they hand the data to
UNKNOWN = ("transformers", "transformer_list")  # columns go different ways: the tags do not say


def check_estimator(estimator: Any) -> None:
    """Raise unless this is a scikit-learn estimator that can be cloned, or None."""
    if estimator is None or (not isinstance(estimator, type) and hasattr(estimator, "fit")):
        return
    hint = (
        "make one of it by calling the class" if isinstance(estimator, type) else "give an object with fit and predict"
    )
    if isinstance(estimator, str) and estimator in MODELS:
        made = MODELS[estimator].make
        hint = f"the command line makes it by {made.__module__}.{made.__qualname__}"
    raise ValueError(f"Expected a scikit-learn estimator as estimator=, got {estimator!r}; {hint}.")


def check_scored(scoring: Any, families: Sequence[Family], estimator: Any) -> None:
    """Raise if a score is asked for that nothing can give: no model, and no selector that predicts."""
    if scoring is None or estimator is not None or any(map(can_predict, families)):
        return
    names = join_first(family.name for family in families)
    raise ValueError(
        f"A score needs a model: {names} {'selects' if len(families) == 1 else 'select'} features and "
        f"{'does' if len(families) == 1 else 'do'} not predict; give estimator=, or leave scoring= out."
    )


def can_predict(family: Family) -> bool:
    """Whether a selector may itself have a model to score; one that is cut to a size has none."""
    module = inspect.getmodule(type(family.selector))
    if family.batched and not getattr(module, "__name__", "").startswith("holdfast."):
        return True
    return None in family.cuts and any(  # with any of its settings, as the lasso does at a penalty strength
        hasattr(clone(family.selector).set_params(**setting) if setting else family.selector, "predict")
        for setting in family.settings
    )


def _parts(families: Sequence[Family], estimator: Any) -> dict[str, list[Any]]:
    """Selectors and model by name, each with its variants."""
    parts: dict[str, list[Any]] = {}
    for family in families:  # a selector as it is, or with each of the estimators that its grid puts into it
        grid = [{name: part for name, part in setting.items() if hasattr(part, "fit")} for setting in family.settings]
        changed = [clone(family.selector).set_params(**estimators) for estimators in grid if estimators]
        parts[family.name] = changed or [family.selector]
    if estimator is not None:
        parts[MODEL] = [estimator]
    return parts


# Classes


def check_classes(
    data: StudyData, families: Sequence[Family], estimator: Any, unsuitable: str = "raise"
) -> dict[str, str]:
    """Raise if a selector or the model is for two classes only and there are more, or for another kind of target.

    With ``unsuitable="record"`` return why selectors do not suit the data, by name, if there are others that do.
    """
    if data.task == "survival":
        return _check_survival(data, families, estimator, unsuitable)
    parts = _parts(families, estimator if data.n_classes else None)
    if data.n_classes:
        why = {name: _why_not_classes(variants[0], data.n_classes) for name, variants in parts.items()}
        refusing = {
            name: variants[0] for name, variants in parts.items()
            if all(_why_not_classes(variant, data.n_classes) for variant in variants)
        }  # fmt: skip
    else:
        why = dict.fromkeys(parts, "classes, and y has numbers")
        refusing = {
            name: variants[0]
            for name, variants in parts.items()
            if all(_classes_only(variant, data.y) for variant in variants)
        }
    if unsuitable == "record" and MODEL not in refusing and len(refusing) < len(families):
        return {name: f"{type(part).__name__} is for {why[name]}" for name, part in refusing.items()}
    if not refusing:
        return {}
    if data.classes is None:
        raise ValueError(
            f"Expected selectors for the numbers in y, got {_list_parts(refusing)}, which would take each number for a "
            "class; give FTest(), MRMR(relevance='correlation'), HybridRFE(model='linear') or "
            "ElasticNetPath(model='linear') (f_test, mrmr, hybrid_rfe or lasso on the command line), or "
            "task='classification' if these numbers are classes."
        )
    others = {name: part for name, part in refusing.items() if why[name].endswith("y has classes")}
    if others:
        targets = " and ".join(sorted({why[name].partition(",")[0] for name in others}))
        raise ValueError(
            f"Expected selectors for the classes in y, got {_list_parts(others)}, for {targets}; selectors "
            f"for classes are {', '.join(_multiclass_selectors())}."
        )
    labels = join_first(map(str, data.classes))
    remedies = []
    if set(refusing) - {MODEL}:
        remedies.append(f"selectors for more classes are {', '.join(_multiclass_selectors())}")
    if MODEL in refusing:
        remedies.append("sklearn.multiclass.OneVsRestClassifier makes a model for more classes of one for two")
    raise ValueError(
        f"Expected selectors and models for {data.classes.size} classes ({labels}), got {_list_parts(refusing)}, for "
        f"two classes only; {', and '.join(remedies)}."
    )


def _check_survival(data: StudyData, families: Sequence[Family], estimator: Any, unsuitable: str) -> dict[str, str]:
    """Raise if a selector or the model does not take survival times, or record it, as :func:`check_classes` does."""
    refuses = partial(_no_survival, y=data.y)
    parts = _parts(families, estimator)
    refusing = {name: variants[0] for name, variants in parts.items() if all(map(refuses, variants))}
    if unsuitable == "record" and MODEL not in refusing and len(refusing) < len(families):
        return {name: f"{type(part).__name__} is not for survival times" for name, part in refusing.items()}
    if refusing:
        raise ValueError(
            f"Expected selectors and models for survival times, got {_list_parts(refusing)}; selectors for these are "
            "CoxScore, CoxConcordance, CoxLasso, HybridRFE and Variance (cox_score, cox_concordance, cox_lasso, "
            "hybrid_rfe and variance on the command line), a model is holdfast.models.CoxRidge (linear)."
        )
    return {}


def _no_survival(estimator: Any, y: Any) -> bool:
    """Whether an estimator is one for classes or numbers; others, as those of scikit-survival, may try."""
    inner = _steps(estimator) or [getattr(estimator, name, None) for name in ("base", "filter", *WRAPPED)]
    if any(_no_survival(part, y) for part in inner if hasattr(part, "fit")):
        return True
    if isinstance(estimator, Selector):
        try:
            estimator._target(y)
        except ValueError:
            return True
        return False
    univariate = getattr(estimator, "score_func", None)
    known = getattr(univariate, "__module__", "").startswith("sklearn.")
    return is_classifier(estimator) or is_regressor(estimator) or known


def _why_not_classes(estimator: Any, n_classes: int) -> str:
    """What a selector or model is for, if it does not take so many classes; empty if it does."""
    other = _for_no_classes(estimator)
    if other:
        return f"{other}, and y has classes"
    return f"two classes only, and there are {n_classes}" if n_classes > 2 and _two_classes_only(estimator) else ""


def _for_no_classes(estimator: Any) -> str:
    """The target of a selector of holdfast, or a part of one, that does not take classes; empty if it does."""
    serves = getattr(estimator, "serves", None) if isinstance(estimator, Selector) else None
    if serves is not None and not serves.two_classes:
        return "numbers to predict" if serves.numbers else "survival times"
    parts = _steps(estimator) or [getattr(estimator, name, None) for name in ("base", *WRAPPED)]
    return next(filter(None, (_for_no_classes(part) for part in parts if hasattr(part, "fit"))), "")


def _two_classes_only(estimator: Any) -> bool:
    steps = _steps(estimator)
    if steps is not None:
        return any(map(_two_classes_only, steps))
    tags = getattr(_tags(estimator), "classifier_tags", None)
    return tags is not None and not tags.multi_class


def _classes_only(estimator: Any, y: Any) -> bool:
    """Whether a selector would take these numbers for classes, or refuse them because they are none."""
    inner = _steps(estimator) or [getattr(estimator, name, None) for name in ("base", "filter", *WRAPPED)]
    if any(_classes_only(part, y) for part in inner if hasattr(part, "fit")):
        return True
    if not isinstance(estimator, Selector):
        return is_classifier(estimator) or getattr(estimator, "score_func", None) in (
            f_classif,
            chi2,
            mutual_info_classif,
        )
    try:
        with warnings.catch_warnings(action="ignore"):
            return estimator._target(y).classes is not None
    except ValueError as error:
        return str(error).startswith("Unknown label type")  # scikit-learn's words for what cannot be classes


def _multiclass_selectors() -> list[str]:
    """Selectors of holdfast that take any number of classes."""
    from holdfast import selectors
    from holdfast.selectors.wrapping import Wrapper

    public = [getattr(selectors, name) for name in dir(selectors)]
    classes = [kind for kind in public if isinstance(kind, type) and issubclass(kind, selectors.Selector)]
    plain = [kind for kind in classes if not (inspect.isabstract(kind) or issubclass(kind, Wrapper))]
    return [kind.__name__ for kind in plain if kind.needs_classes and kind.serves and kind.serves.more_classes]


# Gaps


def check_gaps(data: StudyData, families: Sequence[Family], estimator: Any) -> None:
    """Raise if values are missing that a selector or the model does not take."""
    gaps = _find_gaps(data.X)
    parts = _parts(families if gaps.size else (), estimator if gaps.size or _has_gaps(data.covariates) else None)
    refusing = {name: variants[0] for name, variants in parts.items() if not any(map(_takes_gaps, variants))}
    if not refusing:
        return
    where = "missing values in covariates="
    if gaps.size:
        row, column = gaps[0]
        plural = "" if len(gaps) == 1 else "s"
        where = f"{len(gaps)} missing value{plural}, the first in row {row}, column {data.names[column]!r}"
    pipelines = {}
    for name, part in refusing.items():
        text = " ".join(repr(part).split())
        shown = text if len(text) <= MAX_SHOWN else f"{type(part).__name__}(…)"
        pipelines[name] = f"{'estimator' if name == MODEL else name}=make_pipeline(SimpleImputer(), {shown})"
    remedies = list(dict.fromkeys([next(iter(pipelines.values())), pipelines.get(MODEL)]))
    others = [name for name in parts if name not in refusing]
    taking = f" ({', '.join(others)} take{'s' if len(others) == 1 else ''} them as they are)" if others else ""
    raise ValueError(
        f"Expected X without missing values for {_list_parts(refusing)}, got {where}; impute them inside each split, "
        f"as {' and '.join(filter(None, remedies))} would{taking}. An estimator of your own that takes "
        "them says so by its scikit-learn tag input_tags.allow_nan."
    )


def _find_gaps(X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Row and column of every missing value."""
    if sp.issparse(X):
        entries = X.tocoo()
        missing = np.isnan(entries.data) if entries.dtype.kind == "f" else np.zeros(entries.nnz, dtype=bool)
        return np.column_stack([entries.row[missing], entries.col[missing]]).astype(np.int64)
    return np.argwhere(pd.isna(X)) if _has_gaps(X) else np.empty((0, 2), dtype=np.int64)


def _has_gaps(X: Any) -> bool:
    if X is None or (isinstance(X, np.ndarray) and X.dtype.kind not in "fO"):
        return False
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(X.sum()):  # one pass without a copy
                return False
    return bool(pd.isna(X).to_numpy().any() if isinstance(X, pd.DataFrame) else pd.isna(X).any())


def _takes_gaps(estimator: Any) -> bool:
    """Whether an estimator takes missing values, as its scikit-learn tags say; those that do not say may try.

    scikit-learn's pipelines do not say. Gaps reach every step of one up to that which fills them: steps that only
    scale or drop columns do not.
    """
    steps = _steps(estimator)
    if steps is not None:
        for step in steps:
            if not _takes_gaps(step):
                return False
            if not _passes_gaps_on(step):
                return True
        return True
    tags = _tags(estimator)
    if tags is None or tags.no_validation or tags.input_tags.allow_nan:
        return True
    if any(hasattr(estimator, name) for name in UNKNOWN):
        return True
    if hasattr(estimator, "get_support"):  # its transform looks at its own tag, whatever is inside
        return False
    inner = next((getattr(estimator, name) for name in WRAPPED if hasattr(getattr(estimator, name, None), "fit")), None)
    return inner is not None and _takes_gaps(inner)


def _passes_gaps_on(step: Any) -> bool:
    scales = isinstance(step, OneToOneFeatureMixin) and type(step).__module__.startswith("sklearn.preprocessing")
    return hasattr(step, "get_support") or (scales and not hasattr(step, "categories"))


# Weights of rows


def check_weights(data: StudyData, families: Sequence[Family], estimator: Any, scorers: Mapping[str, Any]) -> None:
    """Raise if rows have weights and a selector, the model or a score would not take them."""
    if data.sample_weight is None:
        return
    whole = bool((data.sample_weight == np.round(data.sample_weight)).all())
    refusing = {
        name: variants[0]
        for name, variants in _parts(families, estimator).items()
        if not any(_takes_weights(part, whole) for part in variants)
    }
    if refusing:
        others = "" if whole else " of any size"
        raise ValueError(
            f"Expected selectors and models that take weights{others} for sample_weight=, got {_list_parts(refusing)}; "
            "leave them or the weights out" + ("." if whole else ", or give whole numbers, which more of them take.")
        )
    for name, scorer in scorers.items():
        function = getattr(scorer.scorer, "_score_func", None)
        if function is None or "sample_weight" not in inspect.signature(function).parameters:
            raise ValueError(f"Expected scores that take weights for sample_weight=, got {name!r}, which does not.")


def _takes_weights(estimator: Any, whole: bool) -> bool:
    """Whether what selects and predicts takes weights; holdfast's selectors take whole ones at least."""
    steps = _steps(estimator)
    if steps is not None:
        return all(_takes_weights(step, whole) for step in steps if hasattr(step, "get_support") or step is steps[-1])
    if isinstance(estimator, Selector):
        return whole or estimator.takes_weights
    return takes_argument(estimator, "sample_weight")


# Adjustment


def check_adjustment(data: StudyData, families: Sequence[Family], perturbation: Any) -> None:
    """Raise if the selection is to be adjusted for covariates or sites, and a selector cannot be."""
    if not data.adjusts:
        return
    if data.task == "survival":
        raise ValueError(
            "Expected classes or numbers to adjust the selection for covariates and sites, got survival times; give "
            "adjust=False to select as if there were none. Strata of holdfast.survival() have hazards of "
            "their own."
        )
    refusing = {
        family.name: variants[0]
        for family in families
        for variants in [_parts([family], None)[family.name]]
        if not all(_adjusts(part, data, family.candidates.sizes is not None) for part in variants)
    }
    if refusing and data.within:
        known = "filters" if data.covariates is None else "filters that can be adjusted for covariates too (AnovaF)"
        raise ValueError(
            f"Expected {known} to select within sites, as adjust='within' or the study in the store asks, got "
            f"{_list_parts(refusing)}; give adjust=True to adjust for sites, or adjust=False."
        )
    if refusing:
        offers = "ElasticNetPath, StabilitySelection or SelectKBest(f_regression)"
        if data.n_classes:
            offers = "AnovaF, ElasticNetPath, StabilitySelection or SelectKBest(f_classif)"
        if data.n_classes <= 2:
            offers += f", or HybridRFE with variance or {'AnovaF' if data.n_classes else 'FTest'} as its criterion"
        raise ValueError(
            f"Expected selectors that can be adjusted for covariates and sites ({offers}), got "
            f"{_list_parts(refusing)}; forests and mRMR cannot be. Give adjust=False to select as if there were none."
        )
    if perturbation.about.name in ("noise", "new_seeds"):
        raise ValueError(
            f"Expected resamples of rows to adjust the selection in, got {perturbation}; give adjust=False."
        )


def _adjusts(estimator: Any, data: StudyData, ordered: bool) -> bool:
    """Whether a selector can be adjusted: by its formula, or by scores of single features."""
    if data.within:
        weighs = isinstance(estimator, Filter) and type(estimator).rank is Filter.rank
        return weighs and (data.covariates is None or estimator.adjusts is not None)
    steps = _steps(estimator)
    if steps is not None:
        selecting = [step for step in steps if hasattr(step, "get_support")]
        is_last = selecting[-1:] == steps[-1:]
        return bool(selecting) and (is_last or not ordered) and all(_adjusts(of, data, ordered) for of in selecting)
    if isinstance(estimator, Selector):
        if estimator.adjusts == "base":
            return isinstance(estimator.base, Selector) and _adjusts(estimator.base, data, ordered)
        return can_adjust(estimator, data.n_classes)
    return getattr(estimator, "score_func", None) in (f_classif, f_regression)


def can_adjust(selector: Any, n_classes: int) -> bool:
    """Whether a selector of holdfast, or a class of them, can be adjusted next to so many classes; 0 for numbers."""
    return getattr(selector, "adjusts", None) is not None and not (selector.adjusts_two_classes and n_classes > 2)


# Columns that steps make

TRIAL_ROWS = 200
"""To so many rows the steps of a pipeline are fitted to see which columns they make."""


def check_made_columns(data: StudyData, families: Sequence[Family]) -> None:
    """Raise if a step of a selector's pipeline mixes columns, so that what is selected after it has no names.

    Steps that make columns are fitted to a few rows, and the names of what they make are read. Steps that select are
    left out of this: they make none. A step that cannot be fitted is left to the fits, which record why.
    """
    for name, variants in _parts(families, None).items():
        for selector in variants:
            try:
                _try_steps(selector, data)
            except MixingStepError as error:
                raise MixingStepError(error.what, f" in {name}") from None


def _try_steps(selector: Any, data: StudyData) -> None:
    """Fit the steps before the last one that selects, or the last, to some rows, and follow columns through them."""
    while not hasattr(selector, "steps") and hasattr(selector, "estimator"):
        selector = selector.estimator  # of a search over the pipeline
    steps = _steps(selector) or []
    selecting = [number for number, step in enumerate(steps) if selects(step)]
    steps = [step for step in steps[: selecting[-1] if selecting else -1] if not hasattr(step, "get_support")]
    n_rows, made = len(data.y), Made(np.arange(len(data.columns)), data.columns)
    few = np.unique(np.linspace(0, n_rows - 1, min(n_rows, TRIAL_ROWS)).astype(np.int64))
    X, y = take(data.X, few), data.y[few]
    for step in steps:
        if isinstance(step, ClassNamePrefixFeaturesOutMixin) and len(set(made.sources.tolist())) > 1:
            raise MixingStepError(f"{type(step).__name__}, which makes each column of all columns")
        if isinstance(step, OneToOneFeatureMixin) and not hasattr(step, "categories"):
            continue  # makes no columns, and those of the next step do not depend on it
        try:
            with warnings.catch_warnings(action="ignore"), preserve_random_state():
                fitted = clone(step)
                X = fitted.fit_transform(X, y)
        except Exception:
            return
        made = columns_after(fitted, made)


# Estimators


def _steps(estimator: Any) -> list[Any] | None:
    """The steps of a pipeline; None if it is none."""
    if not hasattr(estimator, "steps"):
        return None
    return [step for _, step in estimator.steps if step is not None and step != "passthrough"]


def _tags(estimator: Any) -> Any:
    """scikit-learn's tags; None if there are none, or one of its parts has none."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return None
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator)
    except (AttributeError, TypeError, ValueError):
        return None


def _list_parts(parts: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({type(part).__name__})" for name, part in parts.items())


def check_room(data: StudyData, families: Sequence[Family]) -> None:
    """Refuse a table whose numbers in double precision, as these selectors take them, do not fit into memory."""
    in_place = isinstance(data.X, np.ndarray) and data.X.dtype == np.float64 and data.X.flags.c_contiguous
    convert = [family.name for family in families if family.batched and not family.traits.any_precision]
    needed, free = 8.0 * len(data.y) * len(data.columns), free_bytes()
    if convert and not in_place and needed > free:
        reads_any = [name for name, record in SELECTORS.items() if getattr(record.make, "any_precision", False)]
        raise ValueError(
            f"Expected {needed / 1e9:,.1f} GB of free memory for the features in double precision, as "
            f"{join_first(convert)} needs them, got {free / 1e9:,.1f} GB; use selectors that read the table as it "
            f"stands ({', '.join(reads_any)}), fewer columns, or a machine with more memory."
        )
