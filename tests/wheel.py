"""Try a release: the files in wheel and source distribution, then the wheel alone in an empty environment.

``make wheel-test`` builds both and calls this with the folder of the distributions and an empty environment.
"""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
IN_PACKAGE = {".py", ".pyi", ".typed", ".j2", ".css", ".js", ".csv", ".toml", ".bib"}
IN_SOURCE = {
    "src", "tests", "benchmarks", "docs", "Makefile", "pyproject.toml", "constraints.txt", "constraints-lowest.txt",
    "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "PKG-INFO", ".gitignore",
    ".github", ".pre-commit-config.yaml", "reproductions", "r", "paper",
}  # fmt: skip
STUDY = """
import holdfast as hf
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
result = hf.Study(selectors={"anova": SelectKBest(k=5)}, perturbation=hf.Bootstrap(10)).run(X, y)
print(hf.__version__, result.stability("anova"))
"""


def main(dist: Path, environment: Path) -> None:
    (wheel,), (source,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    check_wheel(wheel)
    check_source(source)
    python, command = environment / "bin" / "python", environment / "bin" / "holdfast"
    with tempfile.TemporaryDirectory() as folder:
        call(folder, python, "-m", "pip", "install", "-qq", wheel)
        assert "nogueira = " in call(folder, python, "-c", STUDY)
        assert "pip install 'holdfast[app]'" in call(folder, command, "--help", code=2)
        call(folder, python, "-m", "pip", "install", "-qq", f"{wheel}[app]")
        assert "demo" in call(folder, command, "--help")
        call(folder, command, "demo", "--resamples", "20")
        assert "</html>" in (Path(folder) / "holdfast-demo.html").read_text(encoding="utf-8")
        for line in re.findall(r"^\$ holdfast (.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
            call(folder, command, *shlex.split(line))


def check_wheel(wheel: Path) -> None:
    package = ROOT / "src" / "holdfast"
    expected = {str(file.relative_to(package.parent)) for file in package.rglob("*") if file.suffix in IN_PACKAGE}
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected.add("holdfast/py.typed")
    assert found == expected, f"The wheel misses {expected - found} and should not have {found - expected}."
    report_size(wheel, len(found))


def check_source(source: Path) -> None:
    with tarfile.open(source) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    unwanted = {name for name in names if name.split("/")[0] not in IN_SOURCE or "__pycache__" in name}
    assert not unwanted, f"The source distribution should not have {sorted(unwanted)}."
    report_size(source, len(names))


def report_size(file: Path, n_files: int) -> None:
    print(f"{file.name}: {n_files} files, {file.stat().st_size / 1024:.0f} KiB")


def call(folder: str, *command: object, code: int = 0) -> str:
    """Run a command away from the sources; returns what it printed."""
    line = [str(part) for part in command]
    print("$", *(part if "\n" not in part else "…" for part in line), flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if environment.get("PIP_CONSTRAINT"):
        environment["PIP_CONSTRAINT"] = str(ROOT / environment["PIP_CONSTRAINT"])
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == code, printed
    print(printed)
    return printed


if __name__ == "__main__":
    main(*(Path(folder).absolute() for folder in sys.argv[1:]))
