#!/bin/sh
# What plans announce beside what epochs take: tests/bench/announced.sh BUILD [--help]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: announced.sh BUILD [options]}
shift
exec "${PYTHON:-python3}" "$here/announced.py" --build "$build" "$@"
