"""How heavy a Python tree is, and how scattered: ``python tests/weight.py [--list] [SRC] [TESTS]``.

Code lines are neither empty, nor a comment, nor part of a docstring. "Called once": functions whose name is defined
once in the tree and read exactly once in it (by name, so a proxy): a reader pays a jump for each of them. "One
importer": modules that exactly one other module of the tree imports. ``--list`` names the short functions called once
and the modules with one importer. ``budget.toml`` says how heavy the package may be. Numbers to think with, never to
golf for: a line saved by packing two statements into one is a line lost.
"""

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
WITH_DOCSTRING = ast.Module | ast.ClassDef | FUNCTIONS
SHORT = 3
TEMPLATES = {".html", ".jinja", ".jinja2", ".j2"}
SCRIPTS = {".js", ".css"}


@dataclass(frozen=True)
class Weight:
    """What is counted of a tree; ``definitions`` holds the location of each function and the lines of its body."""

    packages: Counter[str]
    modules: list[str]
    bodies: list[int]
    once: list[str]
    lonely: list[str]
    definitions: dict[str, tuple[str, int]]

    @property
    def lines(self) -> int:
        """All code lines."""
        return self.packages.total()

    @property
    def short_once(self) -> list[str]:
        """Functions of at most three lines that are called once."""
        return sorted(name for name in self.once if self.definitions[name][1] <= SHORT)

    def __str__(self) -> str:
        median, high, most = statistics.median(self.bodies), self.bodies[int(0.9 * len(self.bodies))], self.bodies[-1]
        packages = ", ".join(f"{name} {lines:,}" for name, lines in self.packages.most_common())
        return (
            f"{self.lines:,} code lines, {len(self.modules)} modules, {len(self.bodies):,} functions; "
            f"bodies {median:g} / {high} / {most} (median, p90, max); "
            f"called once {len(self.once):,} ({100 * len(self.once) / len(self.bodies):.0f} %), "
            f"{len(self.short_once)} of them with at most {SHORT} lines; "
            f"modules with one importer {len(self.lonely)}\n  {packages}"
        )


def weigh(root: Path) -> Weight:
    """Count what a tree holds."""
    packages, defined, used, importers = Counter(), Counter(), Counter(), Counter()
    modules, bodies, definitions = [], [], {}
    for path, tree, lines in read(root):
        modules.append(".".join((root.name, *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__"))
        packages[package_of(path, root)] += len(lines)
        importers.update(set(imported_modules(tree)))
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                n_lines = sum(line in lines for line in range(node.body[0].lineno, node.end_lineno + 1))
                bodies.append(n_lines)
                if not any(
                    getattr(mark, "id", getattr(mark, "attr", "")) == "overload" for mark in node.decorator_list
                ):
                    defined[node.name] += 1
                    definitions[node.name] = (f"{path}:{node.lineno}", n_lines)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used[node.id] += 1
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                used[node.attr] += 1
    once = [name for name, times in defined.items() if times == 1 and used[name] == 1 and not name.startswith("__")]
    return Weight(
        packages, modules, sorted(bodies), once, [name for name in modules if importers[name] == 1], definitions
    )


def weigh_beside(root: Path, endings: set[str]) -> Counter[str]:
    """Lines of other files of each package, by the endings of their names; empty lines do not count."""
    found: Counter[str] = Counter()
    for path in sorted(root.rglob("*")):
        if path.suffix in endings:
            lines = path.read_text(encoding="utf-8").splitlines()
            found[package_of(path, root)] += sum(bool(line.strip()) for line in lines)
    return found


def package_of(path: Path, root: Path) -> str:
    """The folder in which a file stands, right below the root; ``(top)`` for the root itself."""
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else "(top)"


def read(root: Path) -> Iterator[tuple[Path, ast.Module, set[int]]]:
    """Every module of a tree, with its lines of code."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        yield path, tree, code_lines(text, tree)


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """The lines outside of docstrings that are neither empty nor a comment, or are part of a string."""
    stripped = [line.strip() for line in text.split("\n")]
    lines = {number for number, line in enumerate(stripped, 1) if line and not line.startswith("#")}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            lines.update(range(node.lineno, node.end_lineno + 1))
    return lines - docstring_lines(tree)


def docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRING) and node.body:
            first = node.body[0]
            text = first.value if isinstance(first, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                lines.update(range(first.lineno, first.end_lineno + 1))
    return lines


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """What a module imports; of ``from a import b`` both ``a`` and ``a.b``, as either may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def main(arguments: list[str]) -> None:
    """Print the weight of a tree, and how its tests compare."""
    roots = [Path(argument) for argument in arguments if not argument.startswith("--")] or [Path("src/holdfast")]
    weight = weigh(roots[0])
    print(f"{roots[0]}: {weight}")
    for what, endings in (("templates", TEMPLATES), ("scripts and styles", SCRIPTS)):
        beside = weigh_beside(roots[0], endings)
        print(f"  {what}: {', '.join(f'{name} {lines:,}' for name, lines in beside.most_common()) or 'none'}")
    if len(roots) > 1:
        tests = sum(len(lines) for _, _, lines in read(roots[1]))
        print(f"{roots[1]}: {tests:,} code lines ({tests / weight.lines:.2f} of the source)")
    if "--list" in arguments:
        print(f"\nCalled once, at most {SHORT} lines:")
        print("\n".join(f"  {weight.definitions[name][0]} {name}" for name in weight.short_once))
        print("\nOne importer:\n" + "\n".join(f"  {name}" for name in weight.lonely))


if __name__ == "__main__":
    main(sys.argv[1:])
