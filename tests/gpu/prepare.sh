# prepare.sh: for check.sh and bench.sh, sourced with the build directory in $1: $build with a gnncc that makes programs for the GPU that is
# here, the toolkit ($cuda, $cuda_headers, $cuda_libraries, $nvcc), $gpu (its name) and $architecture; ends with a message and status 5 where one of them
# is missing.
#
# `make gpu-kit` leaves gnncc, gnndata and share, which can be carried to a machine that cannot build them, and share/gpu-kit, which says of which
# sources they are. Of these sources, and running here, they are used as they are, whoever made them; else what is here is built anew, where
# flex, bison and jansson are, and used all the same where they are not.
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
build=$(realpath -m "$1")
here_not() { echo "make $(basename "$0" .sh)-gpu: $*" >&2; exit 5; }

runs() { "$build/gnncc" --version >/dev/null 2>&1 && "$build/gnndata" --version >/dev/null 2>&1; }
is_kit() { runs && [ "$(cat "$build/share/gpu-kit" 2>/dev/null)" = "$("$root/tests/gpu/stamp.sh")" ]; }
can_build() { command -v flex >/dev/null && command -v bison >/dev/null && echo '#include <jansson.h>' | cc -E - >/dev/null 2>&1; }
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("$root/runtime/cuda/home.sh")
export CUDA_HOME=$cuda

[ -e "$cuda_headers/cuda_runtime_api.h" ] || here_not "there is no CUDA toolkit in $cuda (CUDA_HOME)"
if ! is_kit && can_build; then
  make -s -C "$root" B="$build" gpu-kit >&2 || here_not "gnncc was not built"
fi
runs || here_not "there is no gnncc in $build, and what builds it (flex, bison, jansson) is not here: \`make gpu-kit\` elsewhere, and carry gnncc, gnndata and share"
is_kit || echo "make $(basename "$0" .sh)-gpu: what is in $build is of other sources than these" >&2
for file in libgnnrt.a libgnncuda.a libz.a gnndevice.cuh measure_cuda.c; do
  [ -e "$build/share/$file" ] || here_not "there is no $file in $build/share: it is not of \`make gpu-kit\`"
done
[ -x "$cuda/bin/nvcc" ] || here_not "there is no nvcc in $cuda/bin"
export LIBRARY_PATH=$build/share${LIBRARY_PATH:+:$LIBRARY_PATH} # the libz.a of make gpu-kit

probe=$(mktemp)
cc -O1 -I"$cuda_headers" -o "$probe" "$build/share/measure_cuda.c" -L"$cuda_libraries" -Wl,-rpath,"$cuda_libraries" -lcublasLt -lcudart_static -lm -ldl -lrt -lpthread ${LDFLAGS:-} ||
  here_not "a program for CUDA was not linked"
found=$("$probe" name 2>&1) || { rm -f "$probe"; here_not "$found"; }
rm -f "$probe"
read -r architecture gpu_bytes gpu_free gpu <<<"$found"
