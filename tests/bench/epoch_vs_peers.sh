#!/bin/sh
# Times one training epoch of the 2-layer GCN on Cora: PyTorch Geometric and DGL against a program that gnncc made.
# One command installs the peers (once) and measures:   tests/bench/epoch_vs_peers.sh [build/train]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${VENV_DIR:-$root/build/venv}
python=${PYTHON:-python3}

usage() {
    cat <<EOF
usage: epoch_vs_peers.sh [PROGRAM] [options of epoch_vs_peers.py]
  PROGRAM        a compiled gcn_cora that answers "bench --json"; without it only the peers are measured
  --data DIR     Cora as .npy files (edge_index, x, y, train_mask, test_mask); default ../shared/data/cora
  --program-options STRING     further options for PROGRAM
  --rounds N --epochs N --warmup N --threads N --peers LIST --json FILE     see --help of epoch_vs_peers.py
needs python 3.11 or 3.12 with venv, pip and about 11 GB of disk: PyPI's torch imports only together with its CUDA
libraries, even where there is no GPU. The peers go to build/venv (or \$VENV_DIR) and nowhere else.
EOF
}

# install NAME PACKAGE...: a virtual environment of its own per torch version, since DGL 2.1 ends at torch 2.2.
install() {
    name=$1
    shift
    if [ -e "$venv/$name/complete" ] && [ "$(cat "$venv/$name/complete")" = "$*" ]; then
        return
    fi
    echo "installing into $venv/$name: $*" >&2
    rm -rf "${venv:?}/$name"
    mkdir -p "$venv"
    "$python" -m venv "$venv/$name"
    "$venv/$name/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@" >&2
    echo "$*" > "$venv/$name/complete"
    echo "installed, $(du -sh "$venv/$name" | cut -f1)" >&2
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
esac

install torch-2.15 torch==2.15.0 torch_geometric==2.8.1 numpy safetensors
install torch-2.2 torch==2.2.1 torch_geometric==2.8.1 dgl==2.1.0 torchdata==0.7.1 "numpy<2" "pandas<3" pydantic pyyaml
exec "$python" "$here/epoch_vs_peers.py" --venv "$venv" "$@"
