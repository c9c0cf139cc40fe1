#!/bin/sh
# What single ways to speed give alone and together: tests/bench/gains.sh BUILD [--help]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: gains.sh BUILD [options]}
shift
exec "${PYTHON:-python3}" "$here/gains.py" --build "$build" "$@"
