# arm.sh: programs for ARM, compiled by Debian's cross compiler and run under QEMU: the bits of the program for this processor. Sourced by run.sh.
# With "long": SVE with vectors of known lengths, libraries, sources, and the tests of the kernels.
cross=aarch64-linux-gnu-gcc emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
if ! command -v $cross >/dev/null || [ -z "$emulator" ] || [ ! -f "$($cross -print-file-name=libz.a)" ]; then
  skip "programs for ARM" "gcc-aarch64-linux-gnu, qemu-user and zlib1g-dev:arm64 are not all installed"
  return 0
fi
on="$emulator -cpu" # PROCESSOR PROGRAM...
neon="$on cortex-a57" sve="$on max"

check "for ARM, with NEON and with SVE" env CFLAGS='-O1 -Wall -Wextra -Werror' "$gnncc" -q --cc=$cross --cpu=armv8-a,armv8.2-a+sve att.gnn -o arm
check "  on a processor without SVE" sh -c "$neon ./arm info | grep -x 'processor    armv8-a, which runs here'"
check "  the bits of this processor" agrees arm_neon "$neon ./arm"
check "  on one with SVE" sh -c "$sve ./arm info | grep -x '             armv8.2-a+sve, which runs here'"
check "  the bits of this processor" agrees arm_sve "$sve ./arm"
refuse 3 "  SVE is not there" $neon ./arm -q --cpu=armv8.2-a+sve
[ "${2:-}" = long ] || return 0

check "for ARM, as the compiler does" env CFLAGS=-O3 "$gnncc" -q -fgradcheck --cc=$cross att.gnn -o arm
check "  the bits of this processor" agrees arm_plain "$neon ./arm"
check "  info" sh -c "$neon ./arm info | grep -x 'processor    aarch64'"
check "  gradcheck" $neon ./arm gradcheck
check "  check" $neon ./arm check
halves_of_arm() { "$gnncc" -q --precision=bf16 --cc=$cross --cpu=armv8-a,armv8.2-a+sve att.gnn -o half_arm && like=halves agrees half_neon "$neon ./half_arm" && like=halves agrees half_sve "$sve ./half_arm"; }
check "  in bf16" halves_of_arm
refuse 2 "this processor is none of ARM's" "$gnncc" -q --cc=$cross --cpu=native att.gnn -o no
for bits in 256 512; do
  check "SVE of $bits bits" env CFLAGS='-O3 -Wall -Wextra -Werror' "$gnncc" -q --cc=$cross --cpu=armv8.2-a+sve -Xcc -msve-vector-bits=$bits att.gnn -o arm$bits
  check "  the bits of this processor" agrees arm_$bits "$on max,sve-default-vector-length=$((bits / 8)) ./arm$bits"
  refuse 3 "  another length" $on max,sve-default-vector-length=16 ./arm$bits -q
done
check "-mcpu for names of processors" sh -c "'$gnncc' -q --cc=$cross --cpu=neoverse-n1 att.gnn -o arm_n1 && $sve ./arm_n1 -q --epochs 1"
for product in "--lib libatt.a" "-c att.o"; do
  check "for ARM: $product" sh -c "'$gnncc' -q --cc=$cross ${product% *} att.gnn -o ${product#* } && $cross -O1 several.c ${product#* } -o arm_host -l:libz.a -lm -lpthread && $neon ./arm_host"
done
check "  sources" sh -c "'$gnncc' -q --cc=$cross --cpu=armv8.2-a+sve -S att.gnn -o arm_src && make -s -C arm_src CFLAGS='-O1 -Werror' LIBS='-l:libz.a -lm -lpthread'"
check "  the bits of this processor" agrees arm_made "$sve arm_src/att"

kernel_test() { # SOURCE CPU PROCESSOR [OPTION...]
  $cross -I"$root" -std=gnu11 -O2 -fno-math-errno -ffp-contract=off -fno-trapping-math -Wall -Wextra -march="$2" "${@:4}" -o kernel "$root/tests/kernels/$1" "$root/runtime/core/team.c" -lm -lpthread && $on "$3" ./kernel >said || { grep -v '^ok' said; return 1; }
}
for source in "$root"/tests/kernels/*.c; do
  name=$(basename "$source")
  check "kernels, $name: NEON" kernel_test "$name" armv8-a cortex-a57
  check "kernels, $name: SVE of any length" kernel_test "$name" armv8.2-a+sve max
  for bits in 256 512; do check "kernels, $name: SVE of $bits bits" kernel_test "$name" armv8.2-a+sve max,sve-default-vector-length=$((bits / 8)) -msve-vector-bits=$bits; done
  check "kernels, $name: in double" kernel_test "$name" armv8-a cortex-a57 -DGNN_DOUBLE
done
