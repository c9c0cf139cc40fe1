#!/bin/bash
# run.sh BUILD: what gnncc says of mistakes that the front end alone cannot see: plans, pins, tools and the contents of data. TAP on stdout.
#   NAME.gnn + NAME.expected   messages and exit status; NAME.args holds options. BLESS=1 rewrites what is expected.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
cd "$here" || exit 2
export XDG_CACHE_HOME=$work/cache CUDA_HOME=/nowhere
unset CUDA_PATH GNNCC_FLAGS GNNCC_PATH GNNCC_TARGET
# Data with every fault that a pass over them finds, by one array each.
perl -e '
  my $folder = $ARGV[0];
  sub put {
    my ($name, $file, $type, $shape, $bytes) = @_;
    mkdir "$folder/$name";
    my $header = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
    $header .= " " x (63 - (10 + length $header) % 64) . "\n";
    open my $out, ">:raw", "$folder/$name/$file.npy" or die;
    print $out "\x93NUMPY\x01\x00", pack("v", length $header), $header, $bytes;
  }
  for my $name (qw(sound endpoint label one_way nan scale splits)) {
    put($name, "edge_index", "<i8", "2, 6", pack("q<*", $name eq "one_way" ? (0, 0, 0, 1, 1, 2, 1, 2, 3, 2, 3, 3) : (0, 1, 1, 2, 2, $name eq "endpoint" ? 9 : 3, 1, 0, 2, 1, 3, 2)));
    put($name, "x", "<f4", "4, 2", pack("f<*", 1, $name eq "nan" ? "nan" : 0.5, 2, 1, 3, $name eq "scale" ? 5e6 : 2, 1, 1));
    put($name, "y", "<i8", "4,", pack("q<*", 0, 1, 0, $name eq "label" ? 7 : 1));
    put($name, "train_mask", "|b1", "4,", pack("C*", 1, 1, 0, 0));
    put($name, "test_mask", "|b1", "4,", pack("C*", 0, $name eq "splits", 1, 1));
  }' "$work"
# NAME: with the data as working directory. Of budgets neither sizes, times nor what lies together: they are other tests' matter.
said() {
  local options=()
  [ ! -e "$1.args" ] || read -ra options <"$1.args"
  (cd "$work" && "$build/gnncc" --name="$1" -o none "${options[@]}" - <"$here/$1.gnn" >raw 2>&1)
  local status=$?
  sed -e '/note: there together/d' -e '/^ *help: --budget/,$ s/[0-9.]\+ \?\([KM]iB\|ms\)/N \1/g' -e '/E050[12]/ s/[0-9.]\+ \([KM]iB\)/N \1/g' \
    -e 's/[0-9.]\+ KiB of it for/N KiB of it for/' "$work/raw" && echo "status $status"
}
as_expected() {
  said "$1" >"$work/out"
  [ -z "${BLESS:-}" ] || cp "$work/out" "$1.expected"
  diff "$1.expected" "$work/out"
}
for model in *.gnn; do check "$(basename "$model" .gnn)" as_expected "$(basename "$model" .gnn)"; done
check "sound data say nothing" bash -c "cd $work && sed 's|\"label\"|\"sound\"|' '$here/label.gnn' | '$build/gnncc' --check - >'$work/said' 2>&1 && cat '$work/said' && [ ! -s '$work/said' ]"
finish
