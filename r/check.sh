#!/bin/sh
# Check the R package with R CMD check: check.sh PYTHON, a Python that has holdfast. What is missing is installed where
# that is allowed (Debian and Ubuntu, as root); else this says what to install, and ends without an error.
set -eu
python=$1
here=$(cd "$(dirname "$0")" && pwd)
packages="r-base-core r-cran-reticulate r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-matrix r-cran-survival
  r-bioc-summarizedexperiment pandoc"
needed='c("reticulate", "testthat", "knitr", "rmarkdown", "Matrix", "survival", "SummarizedExperiment")'
complete() {
  command -v Rscript >/dev/null &&
    Rscript -e "quit(status = !all(vapply($needed, requireNamespace, logical(1), quietly = TRUE)))" >/dev/null 2>&1
}
if ! complete && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages || true
fi
if ! complete; then
  echo "Skipped: the R package needs R with these packages:" $packages
  exit 0
fi
if ! "$python" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_ENABLE_SHARED"))'; then
  echo "Skipped: R needs a Python with a shared library, which $python has not: make test-r PYTHON=/usr/bin/python3"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here" "$work/holdfast"
cd "$work"
export HOLDFAST_PYTHON="$python" OMP_NUM_THREADS=1 _R_CHECK_FORCE_SUGGESTS_=false
R CMD build holdfast
R CMD check --no-manual holdfast_*.tar.gz
tail -n 3 holdfast.Rcheck/00check.log
grep -A20 'Skipped tests' holdfast.Rcheck/tests/testthat.Rout || true
if grep -q '^Status:.*\(ERROR\|WARNING\)' holdfast.Rcheck/00check.log; then exit 1; fi
