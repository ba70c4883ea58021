"""What is said of everything that has a name, said once: by a record next to the code that does it.

Measures, perturbations, selectors, models, scores and rules are in registries. The command line, the method
section of a report, the tables of docs/names.md and the tests read these.
"""

import difflib
import inspect
import string
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar

from holdfast.targets import TASKS, TaskName
from holdfast.text import format_percent, join_words


class _Phrase(string.Formatter):
    """Fills a phrase, which may come from a file: a field is a name, as it is or by one of three specifications."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "percent":
            return join_words([format_percent(share) for share in (value if isinstance(value, list) else [value])])
        if format_spec.startswith("if "):
            return format_spec.removeprefix("if ") if value else ""
        if format_spec not in ("", "g"):
            raise ValueError(f"Expected no specification, g, percent or if TEXT in a phrase, got {format_spec!r}.")
        return format(value, format_spec)


@dataclass(frozen=True, kw_only=True)
class About:
    """The description of something that users can name.

    Attributes
    ----------
    name : str
        Its name on the command line and in configuration files.
    label : str
        Its name for readers, in the tables and figures of a report ("ANOVA F", "AUC"); empty if the phrase for the
        method section, or its name, will do.
    summary : str
        One line that says what it does.
    methods : str
        Phrase for the method section of a paper. Any parameter of the thing may be in braces: ``{k}``,
        ``{scale:g}``, ``{fraction:percent}`` (50 %), ``{stratify:if , stratified by class}`` (that text, or nothing).
    scope : str
        What an interval over its results describes.
    no_interval : str
        Why its results have no interval; empty if they have one.
    caution : str
        What may not be concluded from its results.
    reference : str or None
        Key of what to cite for it, in :data:`holdfast.references.REFERENCES`.
    needs : tuple of str
        What it cannot do without, in words: ``"classes"``, ``"two classes"``, ``"numbers to predict"``, …
    """

    name: str
    summary: str
    methods: str = ""
    scope: str = ""
    no_interval: str = ""
    caution: str = ""
    reference: str | None = None
    needs: tuple[str, ...] = ()
    label: str = ""

    @property
    def tasks(self) -> tuple[TaskName, ...]:
        """The tasks that it serves, by those of its needs that are of a task."""
        wanted = set(self.needs) & frozenset().union(*(facts.needs for facts in TASKS.values()))
        return tuple(facts.name for facts in TASKS.values() if wanted <= facts.needs)

    @property
    def task(self) -> TaskName | None:
        """The only task that it serves; None if it serves several."""
        return self.tasks[0] if len(self.tasks) == 1 else None

    def phrase(self, **values: Any) -> str:
        """Return the phrase for the method section with the numbers of a plan in it; as it is if they do not fit."""
        try:
            return _Phrase().vformat(self.methods, (), values)
        except (KeyError, TypeError, ValueError):
            return self.methods

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {**asdict(self), "needs": list(self.needs)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "About":
        """Return what :meth:`to_dict` wrote."""
        return cls(**{**values, "needs": tuple(values["needs"])})


def is_about(values: Any) -> bool:
    """Tell whether plain values, as read from a file, are what :meth:`About.to_dict` writes."""
    kinds: dict[str, Any] = {item.name: str for item in fields(About)} | {"reference": (str, type(None)), "needs": list}
    return (
        isinstance(values, dict)
        and set(values) == set(kinds)
        and all(isinstance(values[name], kind) for name, kind in kinds.items())
        and all(isinstance(need, str) for need in values["needs"])
    )


Thing = TypeVar("Thing", bound=Any)


@dataclass(eq=False)
class Registry(Mapping[str, Thing], Generic[Thing]):
    """Things of one kind by name. Hyphens and underscores in a name are the same; a misspelled name gets a hint.

    Parameters
    ----------
    kind : str
        What they are, in words: ``"rule"``.
    things : iterable
        What is there from the start.
    about : callable
        Returns the description of a thing; by default its ``about``.
    where : str
        Where a user finds the list; ends the message about an unknown name.
    former : mapping
        Names by former names, which are found too, with a warning.

    Examples
    --------
    >>> from holdfast.declared import About, Registry
    >>> from types import SimpleNamespace
    >>> fruit = Registry("fruit", [SimpleNamespace(about=About(name="crab-apple", summary="Small and sour."))])
    >>> fruit["crab_apple"].about.summary
    'Small and sour.'
    >>> fruit["crab_aple"]
    Traceback (most recent call last):
    ...
    KeyError: "Expected the name of a fruit, got 'crab_aple'; did you mean 'crab-apple'?"
    """

    kind: str
    things: Iterable[Thing] = ()
    about: Callable[[Thing], About] = field(default=lambda thing: thing.about)
    where: str = ""
    former: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._things: dict[str, Thing] = {}
        for thing in self.things:
            self.add(thing)

    def add(self, thing: Thing) -> Thing:
        """Register a thing under the name that it declares; ``add`` can decorate a class.

        Parameters
        ----------
        thing : object
            What to register.

        Returns
        -------
        object
            The thing itself.

        Raises
        ------
        ValueError
            If the name is taken.
        """
        name = self.about(thing).name
        if self.spelled(name) is not None:
            raise ValueError(f"Expected a new name for a {self.kind}, got {name!r}, which is taken.")
        self._things[name] = thing
        return thing

    def remove(self, name: str) -> None:
        """Remove a thing from the registry.

        Parameters
        ----------
        name : str
            Its name.
        """
        self._things = {known: thing for known, thing in self._things.items() if thing is not self[name]}

    def spelled(self, name: object) -> str | None:
        """Return a name as it was declared: hyphens and underscores are the same.

        Parameters
        ----------
        name : object
            A name as a user wrote it.

        Returns
        -------
        str or None
            The declared name; None if there is none such.
        """
        plain = str(name).replace("-", "_")
        if plain in self.former:
            warn_of_former_name(plain, self.former[plain])
            plain = self.former[plain]
        return next((known for known in self._things if known.replace("-", "_") == plain), None)

    def find(self, name: str) -> Thing:
        """Return a thing by its name.

        Parameters
        ----------
        name : str
            A name as a user wrote it.

        Returns
        -------
        object
            The thing.

        Raises
        ------
        ValueError
            If there is no such name; the message lists the names.
        """
        spelled = self.spelled(name)
        if spelled is None:
            raise ValueError(f"Expected {a(self.kind)} ({', '.join(self)}), got {name!r}{did_you_mean(name, self)}")
        return self._things[spelled]

    def __getitem__(self, name: str) -> Thing:
        spelled = self.spelled(name)
        if spelled is None:
            hint = did_you_mean(name, self) + (f" {self.where} lists them." if self.where else "")
            raise KeyError(f"Expected the name of {a(self.kind)}, got {name!r}{hint}")
        return self._things[spelled]

    def __contains__(self, name: object) -> bool:
        return self.spelled(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def abouts(self) -> dict[str, About]:
        """Return what each thing declares about itself.

        Returns
        -------
        dict of About
            By name.
        """
        return {name: self.about(thing) for name, thing in self._things.items()}

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {about.summary}" for name, about in self.abouts().items())


def a(noun: str) -> str:
    """Return a noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: a hint at the closest known one, whatever its case.

    Where none is close, one that begins with it, such as the column ``stage=II`` of a variable ``stage``.
    """
    folded, word = {text.strip().lower(): text for text in reversed(list(known))}, str(name).strip().lower()
    close = difflib.get_close_matches(word, folded, n=1) or [
        text for text in reversed(folded) if word and text.startswith(word)
    ]
    return f"; did you mean {folded[close[0]]!r}?" if close else "."


class Parameter(NamedTuple):
    """A parameter that users may set: its default (``REQUIRED`` if there is none) and what it means."""

    default: Any
    meaning: str


REQUIRED = inspect.Parameter.empty


def describe_parameters(make: Callable[..., Any], hidden: Container[str] = ()) -> dict[str, Parameter]:
    """Return the parameters of a class or function by name, with what its docstring says of each.

    Examples
    --------
    >>> from holdfast.declared import describe_parameters
    >>> def greet(name, times=1):
    ...     '''Say hello.
    ...
    ...     Parameters
    ...     ----------
    ...     name : str
    ...         Whom to greet.
    ...     times : int
    ...         How often.
    ...     '''
    >>> describe_parameters(greet)["times"]
    Parameter(default=1, meaning='How often.')
    """
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    meanings = _parameter_section(inspect.getdoc(make) or "")
    return {
        name: Parameter(parameter.default, meanings.get(name, ""))
        for name, parameter in inspect.signature(make).parameters.items()
        if parameter.kind not in variable and name not in hidden
    }


def _parameter_section(text: str) -> dict[str, str]:
    """Read what a numpydoc docstring says of each parameter; ``a, b : int`` says the same of both."""
    _, heading, section = text.partition("Parameters\n----------\n")
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines() if heading else ():
        if set(line) == {"-"}:  # the next section began one line before
            for name in names:
                meanings.pop(name, None)
            break
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
            meanings.update(dict.fromkeys(names, ""))
        elif line:
            meanings.update({name: f"{meanings[name]} {line.strip()}".strip() for name in names})
    return meanings


# Former names

END_OF_FORMER_NAMES = "0.3"
"""The version that takes no former name of these any more."""
FORMER_OPTIONS = {"keep": "covariates", "accept": "treat_as_feature", "halvings": "pairs"}
"""Options of commands, keys of configuration files and of commands in stores: the former name of each, and its name."""


def warn_of_former_name(former: str, name: str, stacklevel: int = 3) -> None:
    """Warn that something has a new name, and when the former one goes."""
    text = f"{former} is now {name}; the former name is gone in holdfast {END_OF_FORMER_NAMES}."
    warnings.warn(text, FutureWarning, stacklevel)


def renamed(**former: str) -> Callable[[Thing], Thing]:
    """Let a function or class take parameters by former names (``@renamed(keep="covariates")``) too, and warn.

    Of a class, attributes are read by former names too.
    """

    def decorate(thing: Any) -> Any:
        is_class = isinstance(thing, type)
        function = thing.__init__ if is_class else thing

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            for old in former.keys() & options.keys():
                if former[old] not in options:
                    warn_of_former_name(f"{old}=", f"{former[old]}=")
                    options[former[old]] = options.pop(old)
            return function(*arguments, **options)

        if not is_class:
            return call
        thing.__init__ = call
        for old, name in former.items():
            setattr(thing, old, _former_attribute(old, name))
        return thing

    return decorate


def _former_attribute(former: str, name: str) -> property:
    def read(self: Any) -> Any:
        warn_of_former_name(f".{former}", f".{name}")
        return getattr(self, name)

    return property(read, doc=f"The former name of ``{name}``.")
