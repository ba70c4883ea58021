"""The models that can be named. Any other scikit-learn estimator is given as an object or by the path of its class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from holdfast.declared import About, Parameter, Registry, describe_parameters
from holdfast.models.cox import CoxRidge, EqualRisk
from holdfast.targets import CLASSES_OR_NUMBERS, TaskName

Exactness = Literal["identical", "optimum"]
Make = Callable[..., Any]

EXACTNESS: dict[Exactness, str] = {
    "identical": "predictions identical to scikit-learn's",
    "optimum": "fitted to the optimum, where scikit-learn stops at a tolerance",
}
"""How predictions of models that are fitted a whole block at a time compare with scikit-learn's, for a methods section.

*Identical* means equal labels, probabilities and tie-breaks, and numbers that are equal to about eight digits."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model that can be named.

    Attributes
    ----------
    about : About
        Its name, and what is said of it; ``methods`` is a noun phrase ("a random forest").
    make : callable
        Takes parameters, and the task as ``task`` if it serves both, and returns a scikit-learn estimator.
    classes : tuple of type
        scikit-learn's classes that are described by these words, wherever they come from.
    recognized : mapping
        Those of them that are fitted a whole block at a time (:func:`holdfast.models.recognized.recognize`), and how
        their predictions compare with scikit-learn's.
    phrases : mapping from str to str
        Words for classes, by their names, that ``about.methods`` is too wide for.
    """

    about: About
    make: Callable[..., Any]
    classes: tuple[type, ...] = ()
    recognized: Mapping[type, Exactness] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)

    @property
    def class_names(self) -> set[str]:
        """Names of the classes that it describes."""
        return {kind.__name__ for kind in self.classes}

    def describe(self, class_name: str) -> str:
        """Return the words for one of its classes; those of the model unless the class has other words."""
        return self.phrases.get(class_name, self.about.methods)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """What users may set, with defaults and meanings."""
        return describe_parameters(self.make, hidden=("task",))


MODELS: Registry[Model] = Registry("estimator", where="holdfast.models.MODELS")
"""Models by name. ``MODELS.add(Model(…))`` adds a new one."""


def _declare(
    name: str,
    summary: str,
    methods: str,
    *classes: type,
    recognized: Mapping[type, Exactness] | None = None,
    phrases: Mapping[str, str] | None = None,
    needs: tuple[str, ...] = (),
    reference: str | None = None,
) -> Callable[[Make], Make]:
    """Add what makes a model to the models; it describes these classes, or those that are recognized."""

    def add(make: Make) -> Make:
        about = About(name=name, summary=summary, methods=methods, needs=needs, reference=reference)
        known = dict(recognized or {})
        MODELS.add(
            Model(about=about, make=make, classes=classes or tuple(known), recognized=known, phrases=phrases or {})
        )
        return make

    return add


@_declare("knn", "Nearest neighbors on scaled features.", "nearest neighbors",
          recognized={KNeighborsClassifier: "identical", KNeighborsRegressor: "identical"},
          needs=(CLASSES_OR_NUMBERS,))  # fmt: skip
def nearest_neighbors(task: TaskName, n_neighbors: int = 3) -> Any:
    """Make nearest neighbors on scaled features.

    Parameters
    ----------
    task : str
        What is predicted.
    n_neighbors : int
        Number of neighbors that vote.
    """
    make = KNeighborsRegressor if task == "regression" else KNeighborsClassifier
    return make_pipeline(StandardScaler(), make(n_neighbors))


@_declare("linear", "Ridge, logistic or Cox regression on scaled features.", "penalized regression",
          recognized={LogisticRegression: "optimum", Ridge: "identical", CoxRidge: "identical"},
          phrases={"LogisticRegression": "penalized logistic regression", "Ridge": "ridge regression",
                   "CoxRidge": "Cox's proportional hazards model with a ridge penalty"})  # fmt: skip
def linear_model(task: TaskName, C: float = 1.0) -> Any:
    """Make ridge, logistic or Cox regression on scaled features.

    Parameters
    ----------
    task : str
        What is predicted.
    C : float
        Inverse of the strength of the penalty.
    """
    if task == "survival":
        return make_pipeline(StandardScaler(), CoxRidge(alpha=1 / C))
    model = Ridge(alpha=1 / C) if task == "regression" else LogisticRegression(C=C, max_iter=10_000)
    return make_pipeline(StandardScaler(), model)


@_declare("least_squares", "Least squares on scaled features.", "least squares",
          recognized={LinearRegression: "identical"}, needs=("numbers to predict",))  # fmt: skip
def least_squares() -> Any:
    """Make least squares on scaled features."""
    return make_pipeline(StandardScaler(), LinearRegression())


@_declare("svm", "Support vector machine on scaled features.", "a support vector machine", SVC, SVR, LinearSVC,
          recognized={SVC: "optimum", LinearSVC: "optimum"}, needs=(CLASSES_OR_NUMBERS,))  # fmt: skip
def support_vectors(task: TaskName, C: float = 1.0, kernel: str = "rbf") -> Any:
    """Make a support vector machine on scaled features.

    Parameters
    ----------
    task : str
        What is predicted.
    C : float
        Inverse of the strength of the penalty.
    kernel : str
        As in scikit-learn's SVC: rbf, linear, poly, sigmoid.
    """
    return make_pipeline(StandardScaler(), (SVR if task == "regression" else SVC)(C=C, kernel=kernel))


@_declare("forest", "Random forest.", "a random forest", RandomForestClassifier, RandomForestRegressor,
          reference="breiman2001", needs=(CLASSES_OR_NUMBERS,))  # fmt: skip
def random_forest(task: TaskName, n_estimators: int = 100) -> Any:
    """Make a random forest.

    Parameters
    ----------
    task : str
        What is predicted.
    n_estimators : int
        Number of trees.
    """
    make = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return make(n_estimators=n_estimators)


_declare("naive_bayes", "Gaussian naive Bayes.", "Gaussian naive Bayes", GaussianNB, needs=("classes",))(GaussianNB)


@_declare("baseline", "What the target alone tells: the mean, the shares of the classes, or one risk for all.",
          "a baseline without features",
          recognized={DummyClassifier: "identical", DummyRegressor: "identical"})  # fmt: skip
def baseline(task: TaskName) -> Any:
    """Make a model of the target alone.

    Parameters
    ----------
    task : str
        What is predicted.
    """
    if task == "survival":
        return EqualRisk()
    return DummyRegressor() if task == "regression" else DummyClassifier()
