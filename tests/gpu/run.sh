#!/bin/bash
# run.sh BUILD: check.sh and bench.sh themselves: on the stand-in as their GPU, with a model or two and tiny graphs; and where there is none.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
work=$build/check/gpu_scripts
rm -rf "$work" && mkdir -p "$work"
[ -e "$build/share/libgnncuda.a" ] || { skip "make check-gpu, make bench-gpu" "no CUDA toolkit"; finish; exit; }
check "a toolkit whose GPU is the stand-in" "$here/../cuda/toolkit.sh" "$work/toolkit"
stand_in() { CUDA_HOME=$work/toolkit LDFLAGS=-rdynamic "$@" >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; return 1; }; }

# ---- check-gpu ----

one_model() { stand_in env CHECK_EPOCHS=2 CHECK_TUNED= CHECK_HALF="$root/tests/end_to_end/models/plans/attend2.gnn" CHECK_STEPS="$root/examples/gcn_karate.gnn" CHECK_MODELS="$root/tests/end_to_end/models/plans/sage4.gnn" CHECK_ROADS=ring "$here/check.sh" "$build"; }
check "check-gpu, of a model" one_model
check "its last line" bash -c "tail -1 '$work/out' | grep -qx '15 passed, 0 failed, [24] skipped' || { cat '$work/out'; false; }"
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
check "check-gpu with what was carried" stand_in env PATH="$bare" CHECK_STEPS= CHECK_TUNED= CHECK_HALF= CHECK_MODELS="$root/examples/gcn_karate.gnn" CHECK_ROADS= "$here/check.sh" "$build"
check "a program for a GPU checks its gradients" bash -c "'$build/check/gpu/gcn_karate_keep' gradcheck | grep -x 'all gradients agree'"
check "check-gpu with nothing" no_gpu 'and carry gnncc, gnndata and share' env PATH="$bare" CUDA_HOME="$work/toolkit" "$here/check.sh" "$work/empty"

# ---- bench-gpu ----

tables() {
  stand_in env BENCH="--tiny --models SAGE --shapes ogbn-products --target h200" "$here/bench.sh" "$build" && cmp "$work/out" "$build/bench_gpu.md" &&
    grep -qE '^\| SAGE \| ogbn-products \| [0-9,]+ \| [0-9.e+]+ \|' "$work/out" && grep -qE '^\| SAGE, ogbn-products \| spmm \| [0-9]+ \|' "$work/out" &&
    grep -qE '^\| 100 % \| .* \| yes \| yes \|' "$work/out" && grep -qE '^\| .*the least that works, for 50 % \| .* \| yes \| yes \|' "$work/out"
}
if command -v python3 >/dev/null; then
  check "bench-gpu, tiny: all its tables" tables
  check "what runs the peers is Python" python3 -m py_compile "$here/bench_worker.py"
  ways() { # each form that is tried is what it is called, as far as it shows without torch
    python3 -B - "$here" <<'PEERS'
import sys, types
sys.path.insert(0, sys.argv[1])
asked = []
sys.modules["torch"] = types.SimpleNamespace(compile=lambda net, **how: asked.append(how) or "compiled")
sys.modules["safetensors_torch"] = types.SimpleNamespace(load=None)
import bench, bench_worker
forms = [(way, bench_worker.prepared("net", way.partition("+")[2])) for way in bench.WAYS]
print(forms, asked)
assert all(net == ("compiled" if "+" in way else "net") for way, net in forms)
assert asked == [{}, {}, {"mode": "reduce-overhead"}, {"mode": "reduce-overhead"}]
PEERS
  }
  check "the forms of the peers, compiled and with CUDA graphs" ways
  one_form_fails() { # a Python without torch: each form says what is missing, and no more
    python3 -B "$here/bench_worker.py" /nowhere GCN csr+reduce-overhead 4 1 | grep '^{"missing": '
  }
  check "a form that fails says so" one_form_fails
  rm -rf "$here/__pycache__"
else
  skip "bench-gpu" "no python3"
fi
finish
