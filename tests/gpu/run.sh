#!/bin/bash
# run.sh BUILD: check.sh and bench.sh themselves: on the stand-in as their GPU, with a model or two and tiny graphs; and where there is none.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
export CFLAGS=-O1 # of programs for the CPU, which are compared with to a tolerance
work=$build/check/gpu_scripts
rm -rf "$work" && mkdir -p "$work"
[ -e "$build/share/libgnncuda.a" ] || { skip "make check-gpu, make bench-gpu" "no CUDA toolkit"; finish; exit; }
check "a toolkit whose GPU is the stand-in" "$here/../cuda/toolkit.sh" "$work/toolkit"
stand_in() { CUDA_HOME=$work/toolkit LDFLAGS=-rdynamic "$@" >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; return 1; }; }

# ---- check-gpu ----

one_model() { stand_in env CHECK_EPOCHS=2 CHECK_TUNED= CHECK_CUT= CHECK_HALF="$root/tests/end_to_end/models/plans/attend2.gnn" CHECK_STEPS="$root/examples/gcn_karate.gnn" CHECK_MODELS="$root/tests/end_to_end/models/plans/sage4.gnn" CHECK_ROADS=ring "$here/check.sh" "$build"; }
check "check-gpu, of a model" one_model
check "its last line" bash -c "tail -1 '$work/out' | grep -qx '15 passed, 0 failed, [24] skipped' || { cat '$work/out'; false; }"
# Two cells: a slice has one, the other is what is left, and then nothing is.
two_cells() { stand_in env CHECK_EPOCHS=2 CHECK_TUNED= CHECK_CUT= CHECK_HALF= CHECK_MODELS= CHECK_STEPS="$root/examples/gcn_karate.gnn $root/tests/cuda/models/named.gnn" "$@"; }
says() { grep -qx -- "$1" "$work/out" || { cat "$work/out"; false; }; }
steps_of() { ls -d "$build"/check/gpu/steps_* 2>/dev/null | sed 's/.*steps_//' | xargs; }
one_slice() {
  rm -rf "$build"/check/gpu/steps_* "$build/check/gpu_cells"
  two_cells "$here/check.sh" "$build" --slice 1/2 && says '1 passed, 0 failed, 0 skipped' && [ "$(steps_of)" = gcn_karate ] && grep -q '_gcn_karate_gnn_steps": "1 passed' "$build/check_gpu.json"
}
what_is_left() {
  rm -rf "$build"/check/gpu/steps_*
  two_cells "$here/check.sh" "$build" --resume && says '2 passed, 0 failed, 0 skipped' && [ "$(steps_of)" = named ]
}
nothing_left() {
  rm -rf "$build"/check/gpu/steps_*
  two_cells "$here/check.sh" "$build" --slice 2/2 --resume && says '1 passed, 0 failed, 0 skipped' && [ "$(steps_of)" = "" ]
}
too_long() {
  ! two_cells env CHECK_LIMIT=0.2 "$here/check.sh" "$build" && grep -q '^# over 0.2 s$' "$work/out" && says '0 passed, 2 failed, 0 skipped'
}
no_time() { # left: both cells, and nobody is blamed
  rm -rf "$build/check/gpu_cells"
  two_cells env CHECK_SECONDS=0 "$here/check.sh" "$build" && says '0 passed, 0 failed, 0 skipped' && grep -q '2 cells of this slice are left: the same again with RESUME=1' "$work/err"
}
options() { make -n -C "$root" B="$build" "$1-gpu" SLICE=2/6 RESUME=1 | grep -xF "tests/gpu/$1.sh ${build#"$root/"} --slice 2/6 --resume"; }
check "make check-gpu SLICE=2/6 RESUME=1" options check
check "make bench-gpu SLICE=2/6 RESUME=1" options bench
check "check-gpu, a slice" one_slice
check "check-gpu, what is left" what_is_left
check "check-gpu, a slice of which nothing is left" nothing_left
check "check-gpu, what takes too long" too_long
check "check-gpu without time" no_time
refuse 2 "check-gpu, a slice that is none" "$here/check.sh" "$build" --slice 3/2
no_gpu() { # MESSAGE COMMAND...: status 5
  "${@:2}" >"$work/out" 2>"$work/err"
  local status=$?
  cat "$work/out" "$work/err"
  [ $status -eq 5 ] && grep -qF -- "$1" "$work/err"
}
for script in check bench; do
  check "$script-gpu without a GPU" no_gpu "make $script-gpu: there is no CUDA device here" env CUDA_HOME="$work/toolkit" LDFLAGS=-rdynamic STANDIN_FAULT=3 "$here/$script.sh" "$build"
  check "$script-gpu without a driver" no_gpu "make $script-gpu: there is no CUDA driver here" env CUDA_HOME="$work/toolkit" LDFLAGS=-rdynamic STANDIN_FAULT=1 "$here/$script.sh" "$build"
done
mkdir -p "$work/no_nvcc" && ln -sfn "$work/toolkit/include" "$work/no_nvcc/include"
check "check-gpu without nvcc" no_gpu "make check-gpu: there is no nvcc in $work/no_nvcc/bin" env CUDA_HOME="$work/no_nvcc" "$here/check.sh" "$build"
# A machine where gnncc cannot be built: what was carried is used as it is.
bare=$work/bare
mkdir -p "$bare" && for tool in $(ls /bin /usr/bin | grep -vxE 'flex|bison|lex|yacc' | sort -u); do ln -sfn "$(command -v "$tool" || echo /nowhere)" "$bare/$tool" 2>/dev/null; done
check "check-gpu with what was carried" stand_in env PATH="$bare" CHECK_STEPS= CHECK_TUNED= CHECK_CUT= CHECK_HALF= CHECK_MODELS="$root/examples/gcn_karate.gnn" CHECK_ROADS= "$here/check.sh" "$build"
check "a program for a GPU checks its gradients" bash -c "'$build/check/gpu/gcn_karate_keep' gradcheck | grep -x 'all gradients agree'"
# What was carried is not built again where it could be, unless these are other sources; a make that is called says so.
kit=$work/kit
mkdir -p "$kit/bin" "$kit/carried" && cp -r "$build/gnncc" "$build/gnndata" "$build/share" "$kit/carried/"
printf '#!/bin/sh\necho "$@" >>"%s"\nexit 1\n' "$kit/made" >"$kit/bin/make" && chmod +x "$kit/bin/make"
carried() { stand_in env PATH="$kit/bin:$PATH" CHECK_STEPS= CHECK_TUNED= CHECK_CUT= CHECK_HALF= CHECK_MODELS= CHECK_SECONDS=0 "$here/check.sh" "$kit/carried"; }
built_by_nobody() { carried && [ ! -e "$kit/made" ]; }
built_anew() { echo other >"$kit/carried/share/gpu-kit" && ! carried && grep gpu-kit "$kit/made"; }
check "what was carried is built by nobody" built_by_nobody
check "what is of other sources is" built_anew
rm -f "$kit/carried/share/libgnncuda.a"
check "a kit without the runtime for CUDA" no_gpu "there is no libgnncuda.a in $kit/carried/share: it is not of \`make gpu-kit\`" env PATH="$bare" CUDA_HOME="$work/toolkit" "$here/check.sh" "$kit/carried"
check "check-gpu with nothing" no_gpu 'and carry gnncc, gnndata and share' env PATH="$bare" CUDA_HOME="$work/toolkit" "$here/check.sh" "$work/empty"

# ---- bench-gpu ----

# Peers of whom one form hangs and one dies; a line for each process.
cat >"$work/peers" <<EOF
#!/bin/bash
echo started >>"$work/peers.log"
while read -r way; do
  case \$way in
    sparse_tensor) kill -KILL \$\$ ;;
    csr+compile) sleep 1000 ;;
    csr) echo '{"way": "csr", "missing": "RuntimeError: what torch says"}' ;;
    *) echo "{\"way\": \"\$way\", \"median\": \${#way}, \"peak_bytes\": 1048576, \"version\": \"2.0\"}" ;;
  esac
done
EOF
chmod +x "$work/peers"
bench() { stand_in env PEERS="$work/peers" BENCH="--tiny --models SAGE --shapes ogbn-products --target h200 --limit 12" "$here/bench.sh" "$build" "$@"; }
tables() {
  rm -f "$build"/bench_gpu.*
  bench && cmp "$work/out" "$build/bench_gpu.md" &&
    grep -qE '^\| SAGE \| ogbn-products \| 2,400 \| [0-9.e+]+ \| 1e\+04 \| .* edge_index, PyG 2.0 \|$' "$work/out" && grep -qE '^\| SAGE, ogbn-products \| spmm \| [0-9]+ \|' "$work/out" &&
    grep -qE '^\| 100 % \| .* \| yes \| yes \|' "$work/out" && grep -qE '^\| .*the least that works, for 50 % \| .* \| yes \| yes \|' "$work/out"
}
forms() { # what failed, died or hung is said, and cost nobody else anything
  grep -F '| SAGE | ogbn-products | RuntimeError: what torch says | it died, status -9 | 1e+04, 1.0 MiB | over 12 s | 1.8e+04, 1.0 MiB | 1.9e+04, 1.0 MiB | 2.6e+04, 1.0 MiB |' "$build/bench_gpu.md" &&
    [ "$(wc -l <"$work/peers.log")" = 3 ]
}
resumes() { # all is found: no process is asked again; then one cell is not
  : >"$work/peers.log" && cp "$build/bench_gpu.md" "$work/before.md"
  bench --resume && cmp "$work/before.md" "$build/bench_gpu.md" && [ ! -s "$work/peers.log" ] && ! grep ' bench --json' "$work/err" || return 1
  python3 -c 'import json, sys; f = json.load(open(sys.argv[1])); del f["cells"]["peer ogbn-products SAGE edge_index"]; json.dump(f, open(sys.argv[1], "w"))' "$build/bench_gpu.json"
  bench --resume && cmp "$work/before.md" "$build/bench_gpu.md" && [ "$(grep -c '^+ peers' "$work/err")" = 1 ]
}
slices() { # together they have every cell once, in order; no slice has more than its share
  python3 -B - "$here" <<'SLICES'
import sys
sys.path.insert(0, sys.argv[1])
import bench
def cells(*options):
    sys.argv = ["bench.py", "--build", "/tmp", "--architecture", "a", "--gpu", "g", "--peers", "p", *options]
    b = bench.Bench.__new__(bench.Bench)
    b.a = bench.arguments()
    return b.own_cells()
whole = cells()
assert len(whole) == 9 + 4 + 9 * 8 and whole[0] == ("ours", "ogbn-products", "SAGE"), whole
assert {c[0] for c in whole[:13]} == {"ours", "budget"}
for parts in (2, 6, 9):
    each = [cells("--slice", f"{i}/{parts}") for i in range(1, parts + 1)]
    assert sum(each, []) == whole
    assert max(map(len, each)) <= 1.5 * len(whole) / parts + 1, [len(e) for e in each]
SLICES
}
if command -v python3 >/dev/null; then
  check "bench-gpu, its slices" slices
  check "bench-gpu, tiny: all its tables" tables
  check "  the forms of the peers are in one process, and each has its cell" forms
  check "  --resume measures what is not there, and no more" resumes
  writes() { # cells that are prepared side by side and want the same model
    python3 -B - "$here" "$work/written" <<'WRITES'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from concurrent.futures import ThreadPoolExecutor
import bench
path = pathlib.Path(sys.argv[2])
with ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda i: bench.write(path, "x" * 100), range(1000)))
assert path.read_text() == "x" * 100
WRITES
  }
  check "a model that two cells want is written whole" writes
  check "what runs the peers is Python" python3 -m py_compile "$here/bench_worker.py"
  ways() { # each form that is tried is what it is called, as far as it shows without torch
    python3 -B - "$here" <<'PEERS'
import sys, types
sys.path.insert(0, sys.argv[1])
asked = []
sys.modules["torch"] = types.SimpleNamespace(compile=lambda net, **how: asked.append(how) or "compiled")
sys.modules["safetensors_torch"] = types.SimpleNamespace(edges=None, load=None, rows=None)
import bench, bench_worker
forms = [(way, bench_worker.prepared("net", way.partition("+")[2])) for way in bench.WAYS]
print(forms, asked)
assert all(net == ("compiled" if "+" in way else "net") for way, net in forms)
assert asked == [{}, {}, {"mode": "reduce-overhead"}, {"mode": "reduce-overhead"}]
PEERS
  }
  check "the forms of the peers, compiled and with CUDA graphs" ways
  one_form_fails() { # a Python without torch: each form says what is missing, and no more
    [ "$(printf 'csr+reduce-overhead\ncsr\n' | python3 -B "$here/bench_worker.py" /nowhere GCN 4 1 | grep -c '^{"way": "csr.*", "missing": ')" = 2 ]
  }
  check "a form that fails says so" one_form_fails
  rm -rf "$here/__pycache__"
else
  skip "bench-gpu" "no python3"
fi
finish
