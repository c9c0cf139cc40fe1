#!/bin/sh
# What plans cost, measured: models over graphs over budgets from the smallest to everything kept, ours against the
# policies of others. One command:   tests/bench/plans_sweep.sh --quick > table.md     (--help says more)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "${PYTHON:-python3}" "$here/plans_sweep.py" "$@"
