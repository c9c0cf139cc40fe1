#!/bin/bash
# toolkit.sh DIRECTORY: a CUDA toolkit whose GPU is the stand-in. With CUDA_HOME=DIRECTORY and LDFLAGS=-rdynamic gnncc, the Makefiles of -S and
# whatever else compiles for CUDA make programs that run here: nvcc compiles device code for the emulation, as a shared object of the
# host, and libcudart_static.a has the calls of the runtime, cuBLASLt and cuSPARSE; libnccl.a those of NCCL, where its header is. The headers are the real ones.
set -eu
toolkit=$(realpath -m "$1")
here=$(realpath "$(dirname "$0")")
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("$here/../../runtime/cuda/home.sh")
mkdir -p "$toolkit/bin" "$toolkit/lib64"
ln -sfn "$(realpath "$cuda_headers")" "$toolkit/include"
cc -std=gnu11 -O2 -g -I"$here/../.." -I"$here/../../runtime" -isystem "$cuda_headers" -c -o "$toolkit/standin.o" "$here/standin.c"
rm -f "$toolkit"/lib64/*.a
ar rcs "$toolkit/lib64/libcudart_static.a" "$toolkit/standin.o"
if [ -e "$cuda_headers/nccl.h" ]; then
  cc -std=gnu11 -O2 -g -Wall -Wextra -isystem "$cuda_headers" -c -o "$toolkit/nccl.o" "$here/nccl.c"
  ar rcs "$toolkit/lib64/libnccl.a" "$toolkit/nccl.o"
fi
for library in cublasLt cusparse; do ar rcs "$toolkit/lib64/lib$library.a"; done
cat >"$toolkit/bin/nvcc" <<EOF
#!/bin/bash
# Compiles device code for the emulation; of nvcc's options it takes -o, -I and -D.
set -eu
kept=() output=a.out source=
while [ \$# -gt 0 ]; do
  case \$1 in
    -o) output=\$2; shift ;;
    -I* | -D*) kept+=("\$1") ;;
    -*) ;;
    *) source=\$(realpath "\$1") ;;
  esac
  shift
done
exec c++ -std=c++17 -march=native -Og -fPIC -shared -ffp-contract=off -w "\${kept[@]}" -I"$here" -DKERNELS="\"\$source\"" -o "\$output" "$here/emulated.cc"
EOF
chmod +x "$toolkit/bin/nvcc"
