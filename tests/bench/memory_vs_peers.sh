#!/bin/sh
# Peak resident memory and epoch time of a 3-layer GraphSAGE (hidden 128, dropout) on a synthetic graph: PyTorch
# Geometric plain, checkpointed and with save_on_cpu, and DGL, against programs that gnncc planned for several budgets.
# One interleaved run:   tests/bench/memory_vs_peers.sh [NODES [DEGREE [ROUNDS]]]
# The peers are installed by peers.sh (build/venv, or $VENV_DIR).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
exec python3 "$root/tests/bench/memory_vs_peers.py" "$root" "${VENV_DIR:-$root/build/venv}" "${1:-200000}" "${2:-10}" "${3:-3}"
