#!/bin/bash
# run.sh BUILD [long]: programs for other processors (long: by CMake, too, and arm.sh). Whatever a program is compiled for, it has the same bits; it holds no instruction of more than that
# outside the model's own code; started on a lesser processor it says so. Programs for ARM run under QEMU, where Debian's cross compiler and QEMU are.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc root=$here/../..
workplace
export CFLAGS=-O1
unset CC GNNCC_FLAGS

# A softmax over edges, dropout, products of odd widths, sums by several widths of vectors; an optimiser with roots.
cat "$here/../att_layer.gnn" - >att.gnn <<'MODEL'
model att on web { return x |> dropout(0.3) |> Att(7, heads = 3) as first |> relu |> GCN(19) as second |> relu |> Linear(y.classes) as head }
train att { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6 }
MODEL
results() { # NAME PROGRAM [OPTION...]: its losses, weights and scores into NAME.*
  local name=$1 program=$2
  shift 2
  rm -rf "$name.out" && $program train -q --every 1 --log csv --threads 2 --out "$name.out" "$@" && $program predict -q --weights "$name.out/last.safetensors" -o "$name.npy" "$@" && cut -d, -f1-4 "$name.out/log.csv" >"$name.csv" && [ "$(wc -l <"$name.csv")" -eq 7 ]
}
agrees() { # NAME PROGRAM [OPTION...]: it has the bits of the program for this processor, native or another that $like names
  results "$@" && cmp "${like:-native}.npy" "$1.npy" && cmp "${like:-native}.out/last.safetensors" "$1.out/last.safetensors" && diff "${like:-native}.csv" "$1.csv"
}
chosen() { agrees chosen ./several --cpu "$1"; }

# A host of its library.
cat >several.c <<'HOST'
#include "att.h"
int main(void) {
  att *g = 0;
  att_result result;
  int status = att_create(0, &g);
  if (status == 0) status = att_load(g, "web.safetensors");
  if (status == 0) status = att_epoch(g, &result);
  att_destroy(g);
  return status;
}
HOST
check "data for it" "$build/gnndata" convert 'synth(kind = "rmat", nodes = 300, degree = 5, features = 33, classes = 7, seed = 1)' web.safetensors

# ---- this machine's kind ----

check "a program for this processor" sh -c "'$gnncc' -q att.gnn -o native && ./native info | grep -x 'processor    native'"
check "  it runs" results native ./native
check "  another in bf16" sh -c "'$gnncc' -q --precision=bf16 att.gnn -o halves"
check "  it runs, and has other bits" eval 'results halves ./halves && ! cmp native.npy halves.npy'

if [ "$(uname -m)" = x86_64 ]; then
  known() { gcc -march="$1" -E -x c /dev/null >/dev/null 2>&1; }
  runs_here() { # CPU
    printf 'int main(void) { return !__builtin_cpu_supports("%s"); }\n' "$1" >supports.c && gcc -O0 -o supports supports.c && ./supports
  }
  for cpu in x86-64 x86-64-v2 x86-64-v3 x86-64-v4; do
    if [ $cpu != x86-64 ] && ! runs_here $cpu; then skip "for $cpu: the same bits" "this processor has less"; continue; fi
    check "for $cpu: it compiles without a warning" sh -c "CFLAGS='-O1 -Wall -Wextra -Werror' '$gnncc' -q --cpu=$cpu att.gnn -o for_$cpu && ./for_$cpu info | grep -x 'processor    $cpu'"
    check "  the same bits" agrees for_$cpu ./for_$cpu
  done
  no_vectors() { ! objdump -d --no-show-raw-insn "$1" | grep -m 3 -E '[yz]mm|\sv[a-z0-9]+\s.*xmm'; }
  check "a program for x86-64-v2 has no instruction of AVX" no_vectors for_x86-64-v2
  api_has_none() { objdump -d for_x86-64-v3 | grep -q ymm && objdump --no-show-raw-insn --disassemble=att_create for_x86-64-v3 | tee said | grep -q call && ! grep -E '[yz]mm|\sv[a-z0-9]+\s.*xmm' said; }
  check "nor have functions of the API in one for x86-64-v3" api_has_none
  check "CFLAGS may say it, too" sh -c "CFLAGS='-O1 -march=x86-64-v2' '$gnncc' -q att.gnn -o by_hand && ./by_hand info | grep -x 'processor    x86-64-v2'"
  check "--cpu wins over them" sh -c "CFLAGS='-O1 -march=x86-64-v3' '$gnncc' -q --cpu=x86-64-v2 att.gnn -o by_hand && ./by_hand info | grep -x 'processor    x86-64-v2'"
  check "  and no vectors of AVX come of that" no_vectors by_hand
  only_the_model() { "$gnncc" '-###' --cpu=x86-64-v3 att.gnn -o no 2>&1 | grep -e -march= >said; cat said; [ "$(wc -l <said)" -eq 1 ] && grep -q 'att\.c$' said; }
  check "main.c and the library are for every processor" only_the_model

  # ---- a processor that nobody has any more: the last with XOP and TBM were made in 2015 ----
  if known bdver4 && ! grep -qw tbm /proc/cpuinfo; then
    lesser() { # COMMAND: one line and status 3, before anything is done
      ./lesser "$1" >said 2>&1
      [ $? -eq 3 ] && cat said && [ "$(wc -l <said)" -eq 1 ] && grep -q 'error\[R0801\]: this is compiled for bdver4, and the processor here has no [a-z0-9]*; gnncc --cpu=NAME compiles for others' said && [ ! -e lesser.out ]
    }
    check "for a processor that is not here" "$gnncc" -q --cpu=bdver4 att.gnn -o lesser
    for command in train eval check bench gradients; do check "  $command says so" lesser $command; done
    check "  info works" sh -c "./lesser info | grep -E '^processor    bdver4; the one here has no [a-z0-9]+$' && ./lesser --help | grep -q usage"
    cat >host.c <<'HOST'
#include <stdio.h>
#include <string.h>
#include "att.h"
int main(void) {
  att *g = NULL;
  const att_status status = att_create(NULL, &g);
  const int is_right = status == ATT_EDEVICE && strstr(att_error(g), "compiled for bdver4") && att_abi() == ATT_ABI && att_n_weights() > 0;
  printf("%d %s\n", status, att_error(g));
  att_destroy(g);
  return !is_right;
}
HOST
    host() { # GNNCC_OPTION FILE: the library says so, too
      "$gnncc" -q --cpu=bdver4 "$1" att.gnn -o "$2" && gcc -O1 host.c "$2" ${3:+"$build/share/libgnnrt.a"} -o host -Wl,-rpath,. -l:libz.a -lm -lpthread && ./host
    }
    check "  a library says so" host --lib libatt.a
    check "  a shared one" host --shared ./libatt.so
    check "  an object" host -c att.o runtime
  else
    skip "for a processor that is not here" "this processor is such a one, or gcc does not know it"
  fi

  # ---- one program for several ----
  if runs_here x86-64-v3; then
    check "for two processors" sh -c "CFLAGS='-O1 -Wall -Wextra -Werror' '$gnncc' -q -fgradcheck --cpu=x86-64-v2,native,x86-64-v3 att.gnn -o several"
    check "  info tells which runs" sh -c "./several info | tee said | grep -x 'processor    x86-64-v2' && grep -x '             native, which runs here' said && ./several info --cpu=x86-64-v3 | grep -x '             x86-64-v3, which runs here'"
    check "  info --json, too" sh -c "./several info --json | grep -o '\"cpu\":\"[a-z0-9-]*\",\"runs\":[a-z]*' | tr '\n' ' ' | grep -x '\"cpu\":\"x86-64-v2\",\"runs\":false \"cpu\":\"native\",\"runs\":true \"cpu\":\"x86-64-v3\",\"runs\":false '"
    check "  the best runs: the same bits" agrees best ./several
    for cpu in x86-64-v2 x86-64-v3 native; do
      check "  --cpu=$cpu: the same bits" chosen $cpu
    done
    halves() { "$gnncc" -q --precision=bf16 --cpu=x86-64-v2,x86-64-v3 att.gnn -o half && like=halves agrees half2 ./half --cpu x86-64-v2 && like=halves agrees half3 ./half --cpu x86-64-v3; }
    check "  in bf16" halves
    refuse 2 "  one that is not there" ./several --cpu=x86-64-v4
    check "  gradcheck" ./several gradcheck
    refuse 2 "a program for one has no --cpu" ./native --cpu=native
    if known bdver4; then
      check "  what is lacking here does not run" sh -c "'$gnncc' -q --cpu=bdver4,x86-64-v2 att.gnn -o mixed && ./mixed info | grep -x '             x86-64-v2, which runs here' && ./mixed -q --epochs 1"
      refuse 3 "  not even when asked to" ./mixed -q --cpu=bdver4
    fi
    sources() {
      "$gnncc" -q -fgradcheck --cpu=x86-64-v2,x86-64-v3 -S att.gnn -o src && make -s -C src CFLAGS='-O1 -Werror' && agrees made src/att && src/att gradcheck && src/att info | grep -x '             x86-64-v3, which runs here' &&
        make -s -C src CFLAGS=-O1 libatt.so libatt.a && nm -D src/libatt.so | grep -q ' T att_create'
    }
    check "  sources, by make" sources
    if [ "${2:-}" = long ]; then
      by_cmake() { cmake -S src -B cmake -DCMAKE_BUILD_TYPE=Debug && cmake --build cmake && agrees made cmake/att && cmake/att gradcheck && cmake/att info | grep -x '             x86-64-v3, which runs here'; }
      if command -v cmake >/dev/null; then check "  sources, by CMake" by_cmake; else skip "  sources, by CMake" "cmake is not installed"; fi
    fi
    embedded() { # OPTION FILE [runtime]
      "$gnncc" -q --cpu=x86-64-v2,x86-64-v3 "$1" att.gnn -o "$2" && gcc -O1 several.c "$2" ${3:+"$build/share/libgnnrt.a"} -o host -Wl,-rpath,. -l:libz.a -lm -lpthread && ./host
    }
    check "  a library" embedded --lib libatt.a
    check "  a shared one" embedded --shared ./libatt.so
    check "  an object" embedded -c att.o runtime
  fi
fi

# ---- what is no processor ----
refuse 2 "no name" "$gnncc" -q --cpu= att.gnn -o no
refuse 2 "no word" "$gnncc" -q '--cpu=a b' att.gnn -o no
refuse 2 "the same twice" "$gnncc" -q --cpu=x86-64-v3,x86_64_v3 att.gnn -o no
refuse 2 "more than one for one source" "$gnncc" -q --cpu=x86-64-v3,native --single-file att.gnn -o no
refuse 1 "more than one for a GPU" "$gnncc" -q --cpu=x86-64-v3,native --backend=cuda -S att.gnn -o no
refuse 2 "what the compiler does not know" "$gnncc" -q --cpu=pdp11 att.gnn -o no
check "  and whose mistake that is" sh -c "! '$gnncc' -q --cpu=pdp11 att.gnn -o no 2>&1 | grep E0601 && '$gnncc' -q --cpu=pdp11 att.gnn -o no 2>&1 | grep -q -- '--cpu=pdp11: cc knows no such processor among those of'"

. "$here/arm.sh"
finish
