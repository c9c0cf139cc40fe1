# prepare.sh: for check.sh and bench.sh, sourced with the build directory in $1: $build with a gnncc that makes programs for the GPU that
# is here, $cuda, $gpu (its name) and $architecture; ends with a message and status 5 where one of them is missing.
#
# Where flex, bison or jansson are missing, gnncc cannot be built but what was built elsewhere can be carried: `make gpu-kit` on a machine that
# has them, then BUILD/gnncc, BUILD/gnndata and BUILD/share beside this checkout.
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
build=$(realpath -m "$1")
cuda=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
export CUDA_HOME=$cuda
here_not() { echo "make $(basename "$0" .sh)-gpu: $*" >&2; exit 5; }

if command -v flex >/dev/null && command -v bison >/dev/null && echo '#include <jansson.h>' | cc -E - >/dev/null 2>&1; then
  make -s -C "$root" B="$build" gpu-kit >&2 || here_not "gnncc was not built"
fi
"$build/gnncc" --version >/dev/null 2>&1 || here_not "there is no gnncc in $build, and what builds it (flex, bison, jansson) is not here: \`make gpu-kit\` elsewhere, and carry gnncc, gnndata and share"
[ -e "$cuda/include/cuda_runtime_api.h" ] || here_not "there is no CUDA toolkit in $cuda (CUDA_HOME)"
[ -x "$cuda/bin/nvcc" ] || here_not "there is no nvcc in $cuda/bin"
make -s -C "$root" B="$build" cuda >&2 || here_not "the CUDA runtime was not built"
export LIBRARY_PATH=$build/share${LIBRARY_PATH:+:$LIBRARY_PATH} # the libz.a of make gpu-kit

probe=$(mktemp)
cc -O1 -I"$cuda/include" -o "$probe" "$build/share/measure_cuda.c" -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lcublasLt -lcudart_static -lm -ldl -lrt -lpthread ${LDFLAGS:-} ||
  here_not "a program for CUDA was not linked"
found=$("$probe" name 2>&1) || { rm -f "$probe"; here_not "$found"; }
rm -f "$probe"
read -r architecture gpu_bytes gpu_free gpu <<<"$found"
