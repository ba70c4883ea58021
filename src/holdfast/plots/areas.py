"""Several fronts in one picture: candidates of several studies or families, and the areas that each front dominates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.plots.text import format_number, shorten
from holdfast.plots.theme import altair, inline_data
from holdfast.tradeoff.fronts import hypervolume, lowest_point, pareto_front, round_axes

if TYPE_CHECKING:
    import altair as alt

Reference = tuple[float, float]


def is_of_fronts(candidates: Any) -> bool:
    """Return whether these are several fronts: a mapping from name to study or front."""
    return (
        isinstance(candidates, Mapping)
        and len(candidates) > 0
        and all(hasattr(item, "pareto") or hasattr(item, "areas") for item in candidates.values())
    )


def find_fronts(candidates: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fronts by name, those of studies found first; raise if their axes differ."""
    fronts = {
        str(name): item.pareto(n_draws=0) if hasattr(item, "pareto") else item for name, item in candidates.items()
    }
    for axis, what in (("metric", "score"), ("measure", "measure of stability")):
        values = dict.fromkeys(str(getattr(front, axis)) for front in fronts.values())
        if len(values) > 1:
            raise ValueError(f"Expected fronts of one {what}, to share an axis, got {' and '.join(values)}.")
    return fronts


def join_fronts(fronts: Mapping[str, Any]) -> pd.DataFrame:
    """Return the candidates of all fronts; each front, or each group of one that has several, is a family."""
    tables = []
    for name, front in fronts.items():
        groups = front.frame["group"]
        families = name if len(set(groups)) == 1 else [f"{name}: {group}" for group in groups]
        tables.append(front.frame.reset_index().assign(family=families).drop(columns="group"))
    joined = pd.concat(tables, ignore_index=True)
    return joined.assign(on_front=pareto_front(*round_axes(joined)))


def add_areas(data: pd.DataFrame, reference: Reference | None) -> pd.DataFrame:
    """Add who is on the front of its own family, and the ``area`` that this front dominates above the reference."""
    reference = reference or lowest_point(data)
    on_own, area = np.zeros(len(data), dtype=bool), np.full(len(data), np.nan)
    for _, places in data.reset_index(drop=True).groupby("family", sort=False).groups.items():
        own = data.iloc[places]
        on_own[places] = pareto_front(*round_axes(own))
        area[places] = hypervolume(own["score"], own["stability"], reference)
    return data.assign(on_own_front=on_own, area=area)


def area_steps(data: pd.DataFrame, reference: Reference) -> pd.DataFrame:
    """Return the corners of each family's dominated area, the family of the largest one first.

    Between two corners the ``score`` is that of the right one: the best with at least such a stability.
    """
    tables: list[pd.DataFrame] = []
    front = data[data["on_own_front"] & (data["score"] > reference[0]) & (data["stability"] > reference[1])]
    for family, own in front.groupby("family", sort=False):
        corners = own.sort_values("stability")[["stability", "score"]]
        first = pd.DataFrame({"stability": [reference[1]], "score": [corners["score"].iloc[0]]})
        table = pd.concat([first, corners], ignore_index=True)
        tables.append(table.assign(family=family, area=own["area"].iloc[0], floor=reference[0]))
    if not tables:
        return pd.DataFrame({"stability": [], "score": [], "family": [], "area": [], "floor": []})
    tables.sort(key=lambda table: -float(table["area"].iloc[0]))
    return pd.concat(tables, ignore_index=True)


def draw_areas(base: "alt.Chart", data: pd.DataFrame, reference: Reference, color: Any) -> "list[alt.Chart]":
    """Return each family's dominated area, shaded, with its edge."""
    alt, steps = altair(), area_steps(data, reference)
    layers = []
    for family in steps["family"].unique():
        own = base.properties(data=inline_data(steps[steps["family"] == family]))
        shade = own.mark_area(interpolate="step-before", opacity=0.16, line=False, clip=True)
        edge = own.mark_line(interpolate="step-before", strokeWidth=2, opacity=0.8, clip=True)
        layers += [shade.encode(y2=alt.Y2("floor:Q"), color=color), edge.encode(color=color)]
    return layers


def areas_finding(data: pd.DataFrame) -> str:
    """Return which front dominates most, in words."""
    areas = family_areas(data)
    best = max(areas, key=lambda family: areas[family])
    if len(areas) < 2:
        return f"{shorten(best)} dominates an area of {areas[best]:.3f}"
    second = max((family for family in areas if family != best), key=lambda family: areas[family])
    return (
        f"{shorten(best)} dominates the largest area, {areas[best]:.3f}; next is {shorten(second)}, {areas[second]:.3f}"
    )


def areas_note(data: pd.DataFrame, reference: Reference, score: str) -> str:
    """Return the dominated areas of all families, the largest first, in words."""
    areas = sorted(family_areas(data).items(), key=lambda item: -item[1])
    listed = ", ".join(f"{shorten(family)} {area:.3f}" for family, area in areas)
    above = f"{score} {format_number(reference[0])} and stability {format_number(reference[1])}"
    return f"shaded: what each front dominates above {above} (area: {listed})"


def family_areas(data: pd.DataFrame) -> dict[str, float]:
    """Return the dominated area of each family."""
    return {str(family): float(area) for family, area in data.groupby("family", sort=False)["area"].first().items()}
