#!/bin/bash
# bench.sh BUILD [OPTION...]: every table of docs/performance.md that needs a GPU, as Markdown in BUILD/bench_gpu.md (all figures in bench_gpu.json), which
# are written after every cell. The peers run in $PEERS, a Python with torch and torch_geometric (python3 without it); what is not there is said
# in the table. Options are those of bench.py, here and in BENCH: --slice 2/6 --resume; BENCH="--tiny" runs it all in a minute, on graphs of no interest.
set -eu
. "$(dirname "$0")/prepare.sh"
# shellcheck disable=SC2086
exec python3 "$root/tests/gpu/bench.py" --build "$build" --architecture "$architecture" --gpu "$gpu" --peers "${PEERS:-python3}" "${@:2}" ${BENCH:-}
