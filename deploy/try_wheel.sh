#!/usr/bin/env bash
# The archives of DIST in a new environment, away from the checkout:  deploy/try_wheel.sh PYTHON ENVIRONMENT DIST
# The first case from its file to its picture, tests of the installed package, and versions for both GPU extras.
set -euo pipefail

[[ $# -eq 3 ]] || { echo "usage: ${0##*/} PYTHON ENVIRONMENT DIST" >&2; exit 2; }
wheel=$(realpath "$3"/*.whl) source=$(realpath "$3"/*.tar.gz)
"$1" -m venv --clear "$2"
bin=$(realpath "$2")/bin
"$bin/python" -m pip install --quiet --disable-pip-version-check \
    "$wheel[cgns,geometry,netcdf]" pytest pytest-timeout hypothesis uv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$bin/taskflow" --version
"$bin/taskflow" new cavity.toml --example cavity
"$bin/taskflow" check cavity.toml
"$bin/taskflow" run cavity.toml --set time.end=1
"$bin/taskflow" plot cavity -o cavity.png
test -s cavity.png

tar xzf "$source" --strip-components=1
rm -r taskflow # so that the installed package is tested
"$bin/python" -m pytest -q -p no:cacheprovider -m "not slow and not gpu and not multigpu" tests/everyday
"$bin/python" -c 'import sys, taskflow; sys.exit(not taskflow.__file__.startswith(sys.prefix))'

for extra in cuda12 cuda13; do
    "$bin/uv" pip install --quiet --dry-run --python "$bin/python" "taskflow-cfd[$extra] @ file://$wheel"
    echo "$extra: its packages are available"
done
