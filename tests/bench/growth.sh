#!/bin/sh
# How epochs and memory grow with edges, width and depth: tests/bench/growth.sh BUILD [--help]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: growth.sh BUILD [options]}
shift
exec "${PYTHON:-python3}" "$here/growth.py" --build "$build" "$@"
