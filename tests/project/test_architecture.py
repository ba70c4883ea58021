"""The shape of the code base: imports go one way, public names are documented, packages keep to a budget."""

import ast
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import defects
import holdfast
from weight import SCRIPTS, TEMPLATES, weigh, weigh_beside

SOURCE = Path(holdfast.__file__).parent
LAYERS = [  # from the bottom up; a module may import what stands before it
    {"text"},
    {"targets"},
    {"checks", "declared", "kernels", "serialization"},
    {"cards"},
    {"result_base"},
    {"references"},
    {"preferences", "similarity"},
    {"selection"},
    {"io"},
    {"options"},
    {"datasets", "measures", "models", "resampling"},
    {"inference", "selectors"},
    {"study", "testing"},
    {"tradeoff"},
    {"replication"},
    {"plots"},
    {"benchmarking"},
    {"report"},
    {"result"},
    {"web"},
    {"cli"},
]
DEFERRED = {
    ("study/tables.py", "result"),
    ("study/__init__.py", "result"),
    ("benchmarking/result.py", "report"),
}
"""What a module may import from above it, inside functions only: a study makes its result, a benchmark its report."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "typer": {"cli", "__main__"},
    "rich": {"cli", "__main__"},
    "pyarrow": {"io"},
    "arff": {"io"},
    "h5py": {"io"},
    "python_calamine": {"io"},
    "rdata": {"io"},
    "pooch": {"datasets"},
    "numba": {"kernels"},
    "optuna": {"tradeoff"},
    "distributed": {"study"},
    "altair": {"plots"},
    "vl_convert": {"plots"},
    "torch": {"kernels"},
    "jinja2": {"report"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "anyio": {"web"},
}
PUBLIC = sorted(name for name in holdfast.__all__ if not inspect.ismodule(getattr(holdfast, name)))
MODULES = sorted(SOURCE.rglob("*.py"))
DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "api.md").read_text(encoding="utf-8")


def part_of(path):
    """The part of the package that a file belongs to."""
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@cache
def tree_of(path):
    """The syntax tree of a file, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path, *, deferred=True):
    """Every module that a file imports, in functions too if ``deferred``."""
    for node in statements(tree_of(path), deferred):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_from_above(path):
    """What ``plot`` methods import from the pictures above them, and the types of charts and of a study's result."""
    for node in statements(tree_of(path), True):
        if (isinstance(node, ast.FunctionDef) and node.name == "plot") or for_type_checkers(node):
            found = [inner for inner in statements(node, True) if isinstance(inner, ast.ImportFrom)]
            names = [f"{inner.module}.{alias.name}" for inner in found for alias in inner.names]
            allowed = ("holdfast.plots", "holdfast.result.") if for_type_checkers(node) else ("holdfast.plots",)
            yield from (name for name in names if name.startswith(allowed))


def for_each_module(check):
    """Make one test of a check of one module; a test for each would take longer than the checks."""

    def test():
        for path in MODULES:
            check(path)

    return test


def for_type_checkers(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def statements(node, deferred):
    """All statements below one; functions and what is only for type checkers are left out unless deferred."""
    left_out = (ast.expr,) if deferred else (ast.expr, ast.FunctionDef)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, left_out) and (deferred or not for_type_checkers(child)):
            yield child
            yield from statements(child, deferred)


@for_each_module
def test_imports_go_one_way(path):
    part = part_of(path)
    if part in ("__init__", "__main__"):
        return
    allowed = {above for where, above in DEFERRED if where == str(path.relative_to(SOURCE))}
    at_once, from_above = set(imports(path, deferred=False)), set(imports_from_above(path))
    for name in imports(path):
        names = name.split(".")
        if len(names) > 1 and (names[1] in allowed or name in from_above) and name not in at_once:
            continue
        if names[0] == "holdfast" and len(names) > 1 and names[1] not in (part, "__version__"):
            other = names[1]
            assert other in LEVEL, f"{path.name} imports {name}: import from the part that owns it"
            assert LEVEL[other] < LEVEL[part], f"{path.name} ({part}) imports {name}, which is not below it"


def test_modules_of_io_do_not_import_each_other_in_a_circle():
    graph = {}
    for path in MODULES:
        if part_of(path) == "io":
            names = [name.split(".") for name in imports(path, deferred=False) if name.startswith("holdfast.io.")]
            graph[path.stem] = {name[2] for name in names}
    assert "files" in list(TopologicalSorter(graph).static_order())  # raises CycleError where there is none


@for_each_module
def test_heavy_libraries_stay_in_their_layer(path):
    for name in imports(path):
        owners = ONLY_IN.get(name.split(".")[0])
        assert owners is None or part_of(path) in owners, f"{path.name} imports {name}"


STORE = SOURCE / "study" / "store"
SQL = re.compile(r"\b(SELECT|INSERT|DELETE FROM|UPDATE|CREATE|PRAGMA|BEGIN|COMMIT|ROLLBACK)\b")


@for_each_module
def test_only_the_store_speaks_sql(path):
    if STORE in path.parents:
        return
    assert "sqlite3" not in {name.split(".")[0] for name in imports(path)}
    assert not re.search(r"\.connection\b", path.read_text(encoding="utf-8")), f"{path.name} reaches into the store"
    texts = (node.value for node in ast.walk(tree_of(path)) if type(node) is ast.Constant)
    assert not [text for text in texts if isinstance(text, str) and SQL.search(text)]


@for_each_module
def test_only_a_study_looks_into_its_tables(path):
    if part_of(path) != "study":
        found = re.findall(r"(?<!study)\.stored\b", path.read_text(encoding="utf-8"))
        assert not found, f"{path.name} reaches into result.stored: ask the result"


def test_methods_of_a_result_have_signatures():
    for name, method in inspect.getmembers(holdfast.StudyResult, inspect.isfunction):
        if not name.startswith("_"):
            parameters = inspect.signature(method).parameters
            assert "options" not in parameters, name
            assert all(parameter.annotation is not parameter.empty for parameter in list(parameters.values())[1:]), name
            assert inspect.signature(method).return_annotation is not inspect.Signature.empty, name
            text = inspect.getdoc(method)
            for parameter in list(parameters)[1:]:
                assert re.search(rf"^(.*, )?\**{parameter}\b", text, re.MULTILINE), f"{name}: {parameter}"


def test_every_part_has_a_layer():
    parts = {part_of(path) for path in MODULES} - {"__init__", "__main__"}
    assert parts == set(LEVEL)


def test_the_architecture_page_lists_the_layers_from_the_top_down():
    table = re.findall(r"^\| (`.*?`) \|", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)
    rows = [set(re.findall(r"`(\w+)`", names)) for names in table]
    assert rows == LAYERS[::-1]


def test_every_public_name_is_documented():
    for name in PUBLIC:
        thing = getattr(holdfast, name)
        assert inspect.getdoc(thing), f"{name} has no docstring"
        assert f"   {name}\n" in REFERENCE, f"{name} is missing from docs/api.md"
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and callable(value):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member} has no docstring"


def load_checker():
    """The module docs/check_docstrings.py, which stands outside of the package."""
    spec = importlib.util.spec_from_file_location("check_docstrings", DOCS / "check_docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_object_has_a_page_in_the_reference():
    for name in load_checker().public_objects():
        assert f"   {name.removeprefix('holdfast.')}\n" in REFERENCE, f"{name} is missing from docs/api.md"
    for name in re.findall(r"^   ([\w.]+)$", REFERENCE, re.MULTILINE):
        assert REFERENCE.count(f"   {name}\n") == 1, f"{name} stands twice in docs/api.md"
        assert pkgutil.resolve_name(f"holdfast.{name}") is not None, f"{name} is in docs/api.md, but nowhere else"


def test_the_check_of_docstrings_covers_inherited_methods():
    members = dict(load_checker().members(holdfast.StudyResult))
    assert {"choose", "stability", "preferences", "to_dict"} <= set(members)  # its own, and those of its bases


def test_the_check_of_docstrings_finds_what_is_missing():
    checker = load_checker()

    def incomplete(a, b):
        """Add two numbers.

        Parameters
        ----------
        a : int
            First.
        """
        if a is None:
            raise ValueError("no number")
        return a + b

    found = " ".join(checker.problems("incomplete", incomplete, checker.IN_FULL))
    for lacking in ("PR01 Parameters {'b'} not documented", "RT01", "RS ValueError", "SA01", "EX01"):
        assert lacking in found
    assert checker.problems("stability", holdfast.stability, checker.IN_FULL) == []


def test_modules_have_a_docstring_and_a_subject():
    for path in MODULES:
        assert ast.get_docstring(tree_of(path)), f"{path.name} has no docstring"
        assert path.stem not in ("utils", "helpers", "common")


BUDGET = tomllib.loads((Path(__file__).parents[1] / "budget.toml").read_text(encoding="utf-8"))


def weights_now():
    """What the package weighs, by the names of the budget."""
    found = weigh(SOURCE)
    scatter = {
        "modules": len(found.modules),
        "short_functions_called_once": len(found.short_once),
        "modules_with_one_importer": len(found.lonely),
    }
    beside = {"templates": weigh_beside(SOURCE, TEMPLATES), "scripts": weigh_beside(SOURCE, SCRIPTS)}
    return {"code": found.packages, **beside, "scatter": scatter}


def over_budget(weights, budget):
    """A sentence for each figure that is larger than its budget, or has none, and for each budget of nothing."""
    for table in sorted(weights.keys() | budget.keys()):
        now, allowed = weights.get(table, {}), budget.get(table, {})
        for name in sorted(now.keys() | allowed.keys()):
            if name not in allowed:
                yield f"{table}, {name}: {now[name]:,} now, not in the budget; add it to tests/budget.toml"
            elif name not in now:
                yield f"{table}, {name}: in the budget, but there is none; take it out of tests/budget.toml"
            elif now[name] > allowed[name]:
                yield (
                    f"{table}, {name}: {now[name]:,} now, the budget is {allowed[name]:,}; make it lighter, or raise "
                    "it in tests/budget.toml with a reason in the commit"
                )


def test_no_package_outgrows_its_budget():
    assert not list(over_budget(weights_now(), BUDGET))


def test_the_budget_notices_growth_and_what_is_not_in_it():
    weights = {"code": {"io": 11, "web": 5, "new": 1}, "scatter": {"modules": 2}}
    found = list(over_budget(weights, {"code": {"io": 10, "web": 5, "old": 3}, "scatter": {"modules": 2}}))
    assert [text.partition(";")[0] for text in found] == [
        "code, io: 11 now, the budget is 10",
        "code, new: 1 now, not in the budget",
        "code, old: in the budget, but there is none",
    ]


def test_the_weight_counts_code_and_jumps(tmp_path):
    (tmp_path / "io").mkdir()
    (tmp_path / "__init__.py").write_text('"""Doc.\n\nMore."""\n\nfrom tree.io import table  # a note\n')
    (tmp_path / "io" / "table.py").write_text(
        '"""Doc."""\n\ndef read():\n    """Doc."""\n    return (\n        parse()\n    )\n\n\ndef parse():\n    ...\n'
    )
    root = tmp_path.rename(tmp_path.with_name("tree"))
    (root / "page.html.j2").write_text("<p>\n\n</p>\n")
    found = weigh(root)
    assert found.packages == {"(top)": 1, "io": 6}
    assert (found.modules, found.lonely) == (["tree", "tree.io.table"], ["tree.io.table"])
    assert (found.bodies, found.short_once) == ([1, 3], ["parse"])
    assert weigh_beside(root, TEMPLATES) == {"(top)": 2}


def test_public_names_are_those_of_the_stub_and_few():
    tree = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    names = [alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(names) == sorted(holdfast.__all__)
    assert len(PUBLIC) <= 37
    for name in names:
        assert getattr(holdfast, name) is not None
    with pytest.raises(AttributeError, match="stabilty"):
        holdfast.stabilty  # noqa: B018


def test_light_calls_import_no_library_that_takes_long_to_import():
    steps = {  # each in the process of those before it
        "import holdfast.cli": "sklearn pandas numba scipy altair",  # the command's help
        "holdfast.stability([[1, 0, 1], [1, 1, 0], [1, 0, 0]])": "sklearn scipy.stats altair",
        "from holdfast import plots; plots.frequency_data([[1, 0]])": "altair",
        "from holdfast import plots; plots.forest.draw_forest": "altair",  # a module of pictures is an attribute
    }
    lines = (f"{step}; print(set({heavy!r}.split()) & set(sys.modules))" for step, heavy in steps.items())
    program = "\n".join(["import sys, holdfast", *lines])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["set()"] * len(steps)


def test_every_planted_defect_can_be_planted():
    for defect in defects.read_defects().values():
        assert defect.find(SOURCE)
        assert defect.new != defect.old
        assert all(len(list(defects.DEFECTS.parent.rglob(name))) == 1 for name in defect.tests)
