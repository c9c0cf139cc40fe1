#!/bin/sh
# Training epochs, time to an accuracy, and memory of programs that gnncc makes, beside PyTorch Geometric and DGL, in turn:
#   make bench                                   what docs/performance.md has, some hours on a quiet machine; stopped, it goes on where it was
#   tests/bench/peers.sh build --help            which part of it
# The peers are installed, once, into build/venv (or $VENV_DIR) and nowhere else, an environment for each version of torch, since DGL 2.1 ends at torch 2.2.
# That takes python 3.11 or 3.12 with venv and pip, and 11 GB of disk: PyPI's torch imports only together with its CUDA libraries, even where there is no GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: peers.sh BUILD [options]}" && pwd)
shift
venv=${VENV_DIR:-$build/venv}
python=${PYTHON:-python3}

install() { # NAME PACKAGE...
    name=$1
    shift
    [ "$(cat "$venv/$name/complete" 2>/dev/null)" != "$*" ] || return 0
    echo "installing into $venv/$name: $*" >&2
    rm -rf "${venv:?}/$name"
    mkdir -p "$venv"
    "$python" -m venv "$venv/$name"
    "$venv/$name/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@" >&2
    echo "$*" >"$venv/$name/complete"
}

case " $* " in *" --help "* | *" -h "* | *" --tables "*) ;; *)
    install torch-2.15 torch==2.15.0 torch_geometric==2.8.1 numpy safetensors
    install torch-2.2 torch==2.2.1 torch_geometric==2.8.1 dgl==2.1.0 torchdata==0.7.1 "numpy<2" "pandas<3" pydantic pyyaml ;;
esac
exec "$python" "$here/peers.py" --build "$build" --venv "$venv" "$@"
