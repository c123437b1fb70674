#!/bin/sh
# Makes the virtual environment in $1 with uv, or with the newest Python 3.11 to 3.14 found on the path.
set -eu
venv=$1
here=$(dirname "$0")

if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --allow-existing --python '>=3.11,<3.15' "$venv"
    uv pip install --quiet --python "$venv/bin/python" --group "$here/pyproject.toml:dev" --editable "$here"
    exit 0
fi

for candidate in python3.14 python3.13 python3.12 python3.11 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
        echo "setting up $venv with $("$candidate" --version)"
        "$candidate" -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --group "$here/pyproject.toml:dev" --editable "$here"
        exit 0
    fi
done
echo "locust-agents needs uv, or a Python 3.11 to 3.14 on the path: https://docs.astral.sh/uv/ or https://www.python.org" >&2
exit 1
