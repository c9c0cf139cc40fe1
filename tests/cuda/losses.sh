# losses.sh: how far the losses of a program for CUDA may lie from those of the CPU's; sourced. $build and $work are set.
#
# Both compute the same formulas in fp32, with other orders of sums and other elementary functions: every step rounds otherwise. What rounding
# does to this model's losses is measured: the CPU's program trains from weights that are each moved to a neighbouring number
# (nudge.c), three times; d is the largest relative change of a loss up to an epoch, and no less than u = 2^-24, by which the loss itself is
# rounded. That stands for the rounding of one step. By epoch e there were s e steps, s of an epoch and its evaluation. Their errors are
# independent and of either sign, so they add up as sqrt(s e), with a probability of failing of 2 exp(-l^2 / 2) for l times as much (Higham and
# Mary, A new approach to probabilistic rounding error analysis, 2019, theorem 2.4); l = 4, 1 in 1500, as d is itself a sample:
# |CUDA's - CPU's| <= 4 sqrt(s e) d |CPU's|. A wrong term, epoch or rate of learning changes losses by more than that in the first epochs.

loss_curve() { cut -d, -f1-6 "$1/log.csv"; } # FOLDER
numbers() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"; } # FILE.safetensors: what follows the header
is_same() { # PROGRAM OTHER: losses and weights, to the last bit
  diff <(loss_curve "$1.out") <(loss_curve "$2.out") && cmp <(numbers "$1.out/last.safetensors") <(numbers "$2.out/last.safetensors")
}

losses_near() { # OUT OTHER SHARE: losses of OUT within that part of those of OTHER
  paste -d, <(loss_curve "$1") <(loss_curve "$2") | awk -F, -v share="$3" 'NR > 1 { d = $3 - $9; if (d < 0) d = -d; if (d > share * $9) { print; bad = 1 } } END { exit bad || NR < 2 }'
}

# CPU_PROGRAM OUT OPTION...: what OUT/log.csv, written with these options by a program for CUDA, has against the CPU's.
# Hits are counted, and a tie may go either way: of them one in a hundred may differ.
losses_agree() {
  local cpu=$1 out=$2 steps nudge
  shift 2
  [ "$work/nudge" -nt "$root/tests/cuda/nudge.c" ] || cc -O1 -o "$work/nudge" "$root/tests/cuda/nudge.c" -lm || return 1
  rm -rf "$cpu".{start,out,nudged.*}
  timeout -s KILL 200 "$cpu" "$@" --epochs 0 --out "$cpu.start" && timeout -s KILL 200 "$cpu" "$@" --out "$cpu.out" || return 1
  for nudge in 1 2 3; do
    "$work/nudge" "$cpu.start/last.safetensors" "$cpu.nudged.safetensors" $nudge && timeout -s KILL 200 "$cpu" "$@" --weights "$cpu.nudged.safetensors" --out "$cpu.nudged.$nudge" || return 1
  done
  steps=$("$cpu" info | sed -n 's/.*; \([0-9]*\) steps;.*/\1/p')
  paste -d, <(loss_curve "$out") <(loss_curve "$cpu.out") <(loss_curve "$cpu.nudged.1") <(loss_curve "$cpu.nudged.2") <(loss_curve "$cpu.nudged.3") |
    awk -F, -v steps="$steps" 'function size(x) { return x < 0 ? -x : x }
      BEGIN { d = 2 ^ -24 }
      NR > 1 {
        for (n = 0; n < 3; n++) { change = size($(15 + 6 * n) - $9) / $9; if (change > d) d = change }
        bound = 4 * sqrt(steps * (NR - 1)) * d
        printf "epoch %d: %s, the CPU has %s: %.2g of it, allowed %.2g\n", NR - 1, $3, $9, size($3 - $9) / $9, bound
        if (!(size($3 - $9) <= bound * $9)) bad = 1
        for (c = 4; c <= 6; c++) if ($c != "" && size($c - $(c + 6)) > 0.01) { print "hits:", $c, $(c + 6); bad = 1 }
      } END { exit bad || NR < 2 || steps < 1 }'
}
