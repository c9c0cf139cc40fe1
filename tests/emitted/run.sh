#!/bin/bash
# run.sh BUILD: the emitted C itself. It must compile without a warning under gcc and clang, be the same bytes every time,
# need nothing but libc, libm and threads, keep its promises to host programs, and survive the sanitizers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc models=$here/../end_to_end/models examples=$here/../../examples
workplace

silent() { # COMMAND...: succeeds and says nothing
  local said
  said=$("$@" 2>&1) || { echo "$said"; return 1; }
  [ -z "$said" ] || { echo "$said"; return 1; }
}
# The run-time library is the same in all of them: compiled once by each compiler.
clean_build() { # COMPILER DIRECTORY
  rm -f "$2"/*.o
  [ ! -e "runtime_$1.o" ] || cp "runtime_$1.o" "$2/gnnrt.o"
  local level=-O3
  [ "$1${EMITTED_ALL:-}" != clang ] || level=-O0 # its warnings do not come from what it optimises
  silent make -s -C "$2" CC="$1" CFLAGS="$level -march=native -Wpedantic" && cp "$2/gnnrt.o" "runtime_$1.o"
}

models_here="gcn gin" # of what is like one of them: EMITTED_ALL=1
[ -z "${EMITTED_ALL:-}" ] || models_here="gcn gin sage graphconv"
for model in $models_here; do
  check "$model: sources" "$gnncc" -fgradcheck -S "$models/$model.gnn" -o gen_$model
  for file in $model.c $model.h main.c Makefile CMakeLists.txt plan.json manifest.json example.py gnnrt.h gnnrt.c; do
    check "$model: $file is there" test -s gen_$model/$file
  done
  for compiler in gcc clang; do
    if command -v $compiler >/dev/null; then
      check "$model: $compiler has no warning" clean_build $compiler gen_$model
    else
      skip "$model: $compiler has no warning" "$compiler is not installed"
    fi
  done
  check "$model: runs" sh -c "cd gen_$model && ./$model -q --epochs 3"
done

check "the example's sources" "$gnncc" -fgradcheck -S "$examples/gcn_karate.gnn" -o gen
check "its sources once more over themselves" "$gnncc" -fgradcheck -S "$examples/gcn_karate.gnn" -o gen
check "main.c is compiled without the kernels" sh -c "! gcc -march=x86-64-v3 -E gen/main.c | grep -E 'immintrin|gnn_spmm' && gcc -march=x86-64-v3 -E gen/gcn_karate.c | grep -q gnn_spmm"
check "same input, same bytes" sh -c "'$gnncc' -fgradcheck -S '$examples/gcn_karate.gnn' -o gen2 && diff -r gen gen2"
check "no absolute path in the sources" sh -c "! grep -n '$work\|$build' gen/gcn_karate.c gen/gcn_karate.h gen/main.c gen/Makefile gen/CMakeLists.txt gen/example.py"
check "the program builds by hand" gcc -std=gnu11 -O0 gen/gcn_karate.c gen/main.c gen/gnnrt.c -o by_hand -lz -lm -lpthread
if command -v cmake >/dev/null; then
  by_cmake() { # the bits of the Makefile's program, and a host of the library; what is made is not optimised, which is most of the time, but would be
    { [ ! -e runtime_gcc.o ] || cp runtime_gcc.o gen/gnnrt.o; } && make -s -C gen && cp -r gen cmake_gen && rm -f cmake_gen/*.o &&
      printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(host C)' 'add_subdirectory(cmake_gen)' 'add_executable(host cmake_host.c)' \
        'target_link_libraries(host gcn_karate_library)' >CMakeLists.txt &&
      printf '%s\n' '#include "gcn_karate.h"' 'int main(void) { return gcn_karate_abi() - GCN_KARATE_ABI; }' >cmake_host.c &&
      cmake -S . -B cmake_build && grep -r --include=flags.make 'C_FLAGS = .*-O3 .*-ffp-contract=off .*-march=native' cmake_build &&
      cmake -S . -B cmake_build -DCMAKE_BUILD_TYPE=Debug && ! grep -r --include=flags.make -e -O3 cmake_build && cmake --build cmake_build && cmake_build/host && cmake_build/cmake_gen/gcn_karate gradcheck &&
      cmake_build/cmake_gen/gcn_karate -q --epochs 5 --out cmake_out && gen/gcn_karate -q --epochs 5 --out make_out && cmp cmake_out/last.safetensors make_out/last.safetensors
  }
  check "by CMake: the same weights, gradcheck, a host" by_cmake
else
  skip "by CMake: the same weights, gradcheck, a host" "cmake is not installed"
fi
if command -v python3 >/dev/null; then
  from_python() {
    make -s -C gen CFLAGS=-O0 libgcn_karate.so && python3 gen/example.py >python.out && cat python.out &&
      grep -Eq '^test 0\.[0-9]{4} on 20 nodes$' python.out && ! python3 gen/example.py nowhere 2>python.err && grep -q nowhere python.err
  }
  check "example.py trains by way of the manifest" from_python
  from_tables() { # data of several files, as the program has them
    printf 'name,f,group,split\nAnn,1,a,train\nBob,2,b,train\n"Col ""D""",3,b,test\n' >people.csv && printf 'from,to\nAnn,Bob\nBob,"Col ""D"""\n' >'ties "1".csv' &&
      printf 'data p from csv(edges = "ties \\"1\\".csv", nodes = "people.csv") {\n  node f : f32[1]\n  node group : class[2]\n  undirected = true\n}\nmodel m on p { return f |> GCN(group.classes) }\ntrain m { loss = cross_entropy(out, group); optimizer = adam(lr = 0.1); epochs = 3; metric = accuracy }\n' >people.gnn &&
      "$gnncc" -w -S people.gnn -o gen_people && make -s -C gen_people CFLAGS=-O0 libpeople.so && python3 gen_people/example.py >python.out && cat python.out && grep -Eq '^test [01]\.0000 on 1 nodes$' python.out
  }
  check "  with tables as data" from_tables
  declared() { # every function of the header is in the manifest with as many arguments, and its types are those of the header
    python3 - gen/gcn_karate.h gen/manifest.json <<'END'
import json, re, sys
header, manifest = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
prototypes = re.findall(r"^([a-z][^\n(]*?)(\w+)\(([^)]*)\);", header, re.M)
assert [f["name"] for f in manifest["functions"]] == [name for _, name, _ in prototypes] and len(prototypes) > 20
for f, (returns, _, arguments) in zip(manifest["functions"], prototypes):
    wanted = [] if arguments == "void" else [a.strip() for a in arguments.split(",")]
    assert f["returns"] == returns.strip() and len(f["arguments"]) == len(wanted), f
    assert all(re.fullmatch(re.escape(t) + r" ?\w*", a) for t, a in zip(f["arguments"], wanted)), f
assert [m for m, _ in manifest["options"]][:2] == ["struct_size", "seed"] and ["lr", "float"] in manifest["options"]
assert manifest["result"] == [["loss", "double"], ["metric", "double"], ["count", "int64_t"]]
END
  }
  check "the manifest says what the header says" declared
else
  skip "example.py trains by way of the manifest" "python3 is not installed"
  skip "  with tables as data" "python3 is not installed"
  skip "the manifest says what the header says" "python3 is not installed"
fi
libraries() {
  "$gnncc" "$examples/gcn_karate.gnn" -o program && ldd program &&
    ! ldd program | grep -v 'linux-vdso\|libc\.so\|libm\.so\|libpthread\|ld-linux'
}
check "the program needs libc, libm and threads alone" libraries
check "OpenMP in place of the runtime's threads" sh -c 'cp -r gen omp && rm -f omp/*.o && make -s -C omp OPENMP=yes CFLAGS=-O0 && cd omp && ./gcn_karate -q --epochs 5'

# Names of files that C, its library, the runtime or the emitted functions use themselves.
names="gnn exp float main size_t y1 3d step_2 select GNN_OK" # one of each kind
[ -z "${EMITTED_ALL:-}" ] || names="$names job logf class pthread result update_weight spmm_16 random NAN"
for name in $names; do
  cp "$examples/gcn_karate.gnn" $name.gnn
  check "a model called $name" sh -c "CFLAGS='-O0 -Werror' '$gnncc' $name.gnn -o named && ./named -q --epochs 1"
done
# Names of values that the source, the headers or the preprocessor have, and sums of edges whose rows are read twice.
cat >values.gnn <<'END'
data d from karate() { node x : f32[34]
  node y : class[4] }
model m on d {
  SHARED = x |> Linear(6)
  NULL = SHARED |> Linear(6) |> tanh
  INFINITY = NULL |> Linear(6) |> sigmoid
  uint32_t = INFINITY |> Linear(6) |> dropout(0.2)
  linux = uint32_t |> Linear(1)
  place_scores = relu(sum(src.uint32_t * src.linux, axis = -1)) * squeeze(src.linux)
  z = sum(place_scores * src.uint32_t)
  return z |> Linear(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
END
sed 's/SHARED/a/g; s/NULL/b/g; s/INFINITY/c/g; s/uint32_t/e2/g; s/linux/f/g; s/place_scores/g2/g' values.gnn >plain.gnn
losses_of() { "./$1" -q --every 1 --log csv --out "$1.out" && cut -d, -f2 "$1.out/log.csv"; }
same_losses() { # MODEL OTHER OPTIONS...
  CFLAGS='-O1 -Werror' "$gnncc" -w "${@:3}" "$1.gnn" -o "$1" && CFLAGS='-O1 -Werror' "$gnncc" -w "$2.gnn" -o "$2" && diff <(losses_of "$1") <(losses_of "$2")
}
check "values called as macros and types are, and as the emitted source's own: the losses of other names" same_losses values plain
cat >parted.gnn <<'END'
data d from synth(kind = "rmat", nodes = 5000, degree = 3, features = 8, classes = 3, seed = 1)
model m on d {
  h = x |> Linear(6) |> tanh |> dropout(0.3)
  k = h |> Linear(6) |> sigmoid |> dropout(0.3)
  h_part_2_rows = k |> Linear(6) |> sigmoid
  h_part_2 = sum(src.h_part_2_rows) |> Linear(7) |> relu
  return h_part_2 |> Linear(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
END
sed 's/h_part_2_rows/zeta/g; s/h_part_2/eta/g' parted.gnn >unparted.gnn
check "values called as parts of others are" same_losses parted unparted '--cut=rows(2)'
cat >echo.gnn <<'END'
data d from karate()
model echo on d { return x }
END
check "a model that computes nothing" sh -c "'$gnncc' --verify echo.gnn -o echo && '$gnncc' --plan echo.gnn && '$gnncc' --plan=json echo.gnn && ./echo info"

# ---- hosts ----
cat >host.c <<'END'
#include <stdio.h>
#include "gcn_karate.h"
int main(void) {
  gcn_karate_options opt; gcn_karate *g = NULL; gcn_karate_result r;
  gcn_karate_options_init(&opt);
  opt.seed = 7; opt.lr = 0.005f;
  gcn_karate_status s = gcn_karate_create(&opt, &g);
  if (s == GCN_KARATE_OK) s = gcn_karate_load(g, "karate");
  for (int e = 0; s == GCN_KARATE_OK && e < 100; e++) s = gcn_karate_epoch(g, &r);
  if (s == GCN_KARATE_OK) s = gcn_karate_eval(g, GCN_KARATE_TEST, &r);
  if (s != GCN_KARATE_OK) fprintf(stderr, "%s: %s\n", gcn_karate_status_text(s), g ? gcn_karate_error(g) : "");
  else printf("test accuracy %.3f\n", r.metric);
  gcn_karate_destroy(g);
  return (int)s;
}
END
check "a static library" "$gnncc" --lib "$examples/gcn_karate.gnn" -o libgcn_karate.a
for standard in c99 c11; do
  check "a host in $standard" sh -c "gcc -std=$standard -Wall -Wextra -Wpedantic -Werror host.c -o host -L. -lgcn_karate -l:libz.a -lm -lpthread && ./host | grep 'test accuracy'"
done
check "a host in C++17" sh -c "g++ -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -c host.c -o host.o && g++ host.o -o host -L. -lgcn_karate -l:libz.a -lm -lpthread && ./host"
check "a shared library" sh -c "'$gnncc' --shared '$examples/gcn_karate.gnn' -o libgcn_karate.so && nm -D --defined-only libgcn_karate.so | grep -q gcn_karate_create"
check "an object" "$gnncc" -c "$examples/gcn_karate.gnn" -o gcn_karate.o

# ---- what gnncc does not overwrite ----
export CFLAGS=-O0
check "CFLAGS are obeyed in double precision, too" sh -c "'$gnncc' -### -fgradcheck '$examples/gcn_karate.gnn' -o no 2>&1 | grep -e -DGNN_DOUBLE | grep -v -e '-O0.* -O[1-3]'"
echo precious >mine
refuse 4 "a file gnncc did not write is not overwritten" "$gnncc" "$examples/gcn_karate.gnn" -o mine
check "it is still there" grep -q precious mine
check "--force overwrites it" "$gnncc" --force "$examples/gcn_karate.gnn" -o mine
check "its own product is overwritten" "$gnncc" "$examples/gcn_karate.gnn" -o mine
refuse 5 "no C compiler" "$gnncc" --cc=/nonexistent/cc "$examples/gcn_karate.gnn" -o no
check "nothing was written" test ! -e no

# ---- sanitizers ----
unset CFLAGS
# The runtime is compiled in by -S, so everything in the program is watched; `make watched` has compiled it under the same sanitizers.
for library in "$build/watched/share/libgnnrt.a runtime_address,undefined.o" "$build/threads/share/libgnnrt.a runtime_thread.o"; do
  read -r archive object <<<"$library"
  [ ! -e "$archive" ] || ld -r -o "$object" --whole-archive "$archive"
done
watched() { # SANITIZER DIRECTORY MODEL: makes DIRECTORY/MODEL
  rm -f "$2"/*.o
  [ ! -e "runtime_$1.o" ] || cp "runtime_$1.o" "$2/gnnrt.o"
  make -s -C "$2" CFLAGS="-O1 -g -march=native -ffp-contract=off -fsanitize=$1 -fno-sanitize-recover=all" && cp "$2/gnnrt.o" "runtime_$1.o"
}
runs_watched() { # SANITIZER MODEL
  watched "$1" "gen_$2" "$2" && (cd "gen_$2" && "./$2" -q --threads 3 --epochs 3 --out s && "./$2" predict --weights s/last.safetensors -o p.npy && "./$2" gradcheck)
}
for sanitizer in address,undefined thread; do
  for model in $models_here; do check "$model under $sanitizer" runs_watched $sanitizer $model; done
done

# Lanes beside the compute: by the host and by the staging ring to the SSD, and to the SSD directly.
plans=$models/plans
check "sources of a plan with host and SSD" "$gnncc" -w -S --target="$plans/box.gnn" --budget host=766KiB --budget device=940KiB "$plans/sage4.gnn" -o gen_ring
check "sources of a plan with an SSD of the device's own" "$gnncc" -w -S --budget ssd=64MiB --budget device=1000KiB "$plans/sage4.gnn" -o gen_direct
for compiler in gcc clang; do
  if command -v $compiler >/dev/null; then
    check "copies and waits: $compiler has no warning" clean_build $compiler gen_ring
  else
    skip "copies and waits: $compiler has no warning" "$compiler is not installed"
  fi
done
check "host, ring and SSD are used" sh -c "grep -q '\"d2h\"' gen_ring/sage4.c && grep -q '\"ssd read\"' gen_ring/sage4.c && grep -q '\"ssd read\"' gen_direct/sage4.c"

# What an engineer reads. A step that runs again, the order that keeps everything and the four parts of a step call one function.
least_of_parts() { "$gnncc" -w '--cut=rows(4)' --budget device=1KiB "$plans/parts3.gnn" -o no 2>&1 | sed -n 's/.*--budget \(device=[0-9]*KiB\) is the smallest.*/\1/p'; }
check "sources of a plan in four parts with re-runs" "$gnncc" -w -S '--cut=rows(4)' "$plans/parts3.gnn" --budget "$(least_of_parts)" -o gen_parts
defined() { grep -cE '^static void [a-z_0-9]+\(gnn_run \*g, ' "$1"; }
called() { grep -cE '^  (step_[0-9]+|update_weight[_0-9]*)\(g, ' "$1"; }
shares_functions() { # the calls of the plan and of the other order are many times the functions
  grep -q '^static gnn_status keep_forward_backward' "$1" && [ "$(defined "$1")" -gt 0 ] && [ "$(called "$1")" -gt $((2 * $(defined "$1"))) ]
}
check "equal steps share a function" shares_functions gen_parts/parts3.c
check "the parts of a step do" grep -qE '^/\* ---- steps ([0-9]+, ){3}[0-9]+ ' gen_parts/parts3.c
check "all weights are updated by one function" sh -c "[ \"\$(grep -c '^static void update_weight' gen_parts/parts3.c)\" -eq 2 ]"
check "no step asks in which order it runs" sh -c "! grep -rn 'keeps_all\|? KEEP_' gen_parts/parts3.c gen_parts/gnnrt.h"
check "no function knows where anything lies" sh -c "! sed -n '/^\/\* ---- step/,/^\/\* One epoch/p' gen_parts/parts3.c | grep -n 'V(\|AT_'"
check "a copy that fails returns its own status" sh -c "grep -q 'if ((status = gnn_copy(g, 0)) != GNN_OK) return status;' gen_ring/sage4.c && ! grep -n 'return GNN_EIO' gen_ring/sage4.c"
edited_plan() { # of sources, after make clean
  make -s -C gen CFLAGS=-O0 clean >/dev/null && cp gen/plan.json plan.bak && sed -i '1s/{/{ "mine": 1,/' gen/plan.json && make -s -C gen CFLAGS=-O0 gcn_karate.o >/dev/null && grep -q '"mine": 1' gen/gcn_karate.o
  local status=$?
  cp plan.bak gen/plan.json
  return $status
}
check "make clean keeps the plan, and one that was edited goes into the program" edited_plan
check "the plan is no string in the source" sh -c "! grep -n 'gnncc-report' gen_ring/sage4.c && grep -q 'include \"sage4_plan.inc\"' gen_ring/sage4.c && grep -q gnncc-report gen_ring/plan.json"
check "a layer's values have its name: the bits of a relu, the sum of a mean" sh -c "grep -q 'uint32_t sage1_bits = ' gen_ring/sage4.c && grep -q 'inverse_in_degree = 1 / ' gen_ring/sage4.c && ! grep -n 'relu_bits\|_part_[0-9]' gen_ring/sage4.c"

at_blocks() { # DIRECTORY: whatever goes to the SSD or comes from there lies at a multiple of 4096
  awk '/^#define AT_/ { place[$2] = substr($3, 9) + 0 } # INT64_C(532480)
       /^  \{[0-9]+, GNN_LANE_SSD/ { match($0, /GNN_DEVICE, AT_[A-Za-z0-9_]+/); name = substr($0, RSTART + 12, RLENGTH - 12); n++
         if (!(name in place) || place[name] % 4096) { print name, place[name]; bad = 1 } }
       END { exit bad || !n }' "$1/sage4.c"
}
check "what the SSD reads and writes begins where its blocks do" at_blocks gen_direct
cat >tiers.c <<'END'
#include <stdio.h>
#include "sage4.h"
int main(void) {
  sage4_options opt; sage4 *it = NULL, *other = NULL; sage4_result r, q;
  sage4_options_init(&opt);
  opt.scratch_dir = ".";
  sage4_status s = sage4_create(&opt, &it);
  if (s == SAGE4_OK) s = sage4_create(&opt, &other);
  if (s == SAGE4_OK) s = sage4_load(it, "train.safetensors");
  if (s == SAGE4_OK) s = sage4_load(other, "train.safetensors");
  for (int e = 0; s == SAGE4_OK && e < 3; e++) s = sage4_epoch(it, &r) ? SAGE4_EINVAL : sage4_epoch(other, &q);
  if (s != SAGE4_OK) fprintf(stderr, "%s: %s\n", sage4_status_text(s), it ? sage4_error(it) : "");
  else printf("%lld bytes of the SSD, losses %.9g and %.9g\n", (long long)sage4_bytes(2), r.loss, q.loss);
  sage4_destroy(it);
  sage4_destroy(other);
  return s != SAGE4_OK || r.loss != q.loss || sage4_bytes(2) == 0;
}
END
check "a library with an SSD tier, two instances of it" sh -c "'$gnncc' -w --lib --budget ssd=64MiB --budget device=1000KiB '$plans/sage4.gnn' -o libsage4.a &&
  '$build/gnndata' synth rmat train.safetensors --nodes 1500 --degree 6 --features 32 --classes 8 --seed 1 &&
  gcc -std=c99 -Wall -Wextra -Wpedantic -Werror tiers.c -o tiers -L. -lsage4 -l:libz.a -lm -lpthread && ./tiers"

lanes_watched() { # SANITIZER DIRECTORY
  gcc -std=gnu11 -O1 -g -march=native -ffp-contract=off "-fsanitize=$1" -fno-sanitize-recover=all "$2/sage4.c" "$2/main.c" "runtime_$1.o" -o watched -lz -lm -lpthread &&
    rm -rf s t && ./watched -q --threads 2 --epochs 2 --out s && ./watched -q --threads 2 --epochs 2 --out t --serial-lanes &&
    ./watched check --scratch . && cmp s/last.safetensors t/last.safetensors
}
for sanitizer in address,undefined thread; do
  for road in ring $([ "$sanitizer${EMITTED_ALL:-}" = thread ] || echo direct); do check "lanes ($road) under $sanitizer" lanes_watched $sanitizer gen_$road; done
done
finish
