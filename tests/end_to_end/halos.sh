#!/bin/bash
# halos.sh BUILD: two programs whose sums gather from halos, as compiled for users: the bits of whole values. What mutations of codes, counts and places are held against
# (tests/mutations/run.sh); suite plans has many more.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
model=$here/models/plans/halo4.gnn
trains() { "$build/gnncc" -w --verify "${@:2}" "$model" -o "$work/$1" && "$work/$1" -q --epochs 3 --every 1 --log csv --out "$work/out_$1" && "$work/$1" check | grep "same to the last bit\|this plan is it"; } # NAME OPTION...
same() { cmp <(cut -d, -f1-6 "$work/out_$1/log.csv") <(cut -d, -f1-6 "$work/out_whole/log.csv"); }
check "whole values" trains whole --cut=whole
check "halos of four parts, that move to the host" trains four '--cut=halos(4)' --budget device=3MiB --budget host=64MiB
check "  have the losses of whole values" same four
check "halos of two parts" trains two '--cut=halos(2)'
check "  have the losses of whole values" same two
finish
