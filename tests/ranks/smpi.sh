# smpi.sh: programs of ranks under SimGrid's SMPI, whose ranks are threads of one process and whose network is simulated. Sourced, with $gnncc; in a folder of its own.
# The network is a switch with 25 GB/s and 2 us between any two ranks, as the target `many` says, which has as many CPUs of one thread.

many_target() { # RANKS: many.gnn
  printf 'target many {\n  device cpu { memory = 8GiB; threads = 1; bandwidth = %s; fp32 = %s; count = %s }\n  link cpu <-> cpu { bandwidth = 25GB/s; latency = 2us }\n}\n' "${BANDWIDTH:-20GB/s}" "${FP32:-200GFLOP/s}" "$1"
}
smpi_builds() { # MODEL.gnn RANKS: MODEL/MODEL
  local name; name=$(basename "$1" .gnn)
  rm -rf "$name" && "$gnncc" -q -w -S --ranks="$2" "$1" -o "$name" && make -s -C "$name" MPI=yes MPICC=smpicc CFLAGS="${SMPI_CFLAGS:--O1}" && cat >platform.xml <<END && seq 0 $(($2 - 1)) | sed 's/^/node-/' >hosts
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" radical="0-$(($2 - 1))" suffix="" speed="1Gf" bw="25GBps" lat="1us" sharing_policy="SPLITDUPLEX" />
</platform>
END
}
# Its factors for Ethernet are left out, so that a message takes what the link says.
smpi_runs() { # RANKS COMPUTES PROGRAM ARGUMENT...: COMPUTES is yes or no: the clock goes on while the ranks compute
  smpirun -np "$1" -platform platform.xml -hostfile hosts --cfg=smpi/display-timing:yes --cfg=smpi/host-speed:1Gf --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --cfg=network/crosstraffic:0 --cfg=smpi/simulate-computation:"$2" "${@:3}" --threads 1
}
smpi_clock() { # RANKS COMPUTES PROGRAM EPOCHS: at the end; nothing of a program that failed
  rm -rf clock.out && smpi_runs "$1" "$2" "$3" --epochs "$4" --out clock.out >clock.said 2>&1 && sed -n 's/.*Simulated time: \([0-9.]*\) .*/\1/p' clock.said
}
smpi_epoch() { # RANKS COMPUTES PROGRAM: in ms, or "failed"
  echo "$(smpi_clock "$1" "$2" "$3" 2) $(smpi_clock "$1" "$2" "$3" 7)" | awk 'NF < 2 { print "failed"; exit } { printf "%.3f\n", 1e3 * ($2 - $1) / 5 }'
}
planned_ms() { # KEY MODEL.gnn RANKS: seconds of a planned epoch, in ms
  "$gnncc" -w --plan=json --backend=sim --ranks="$3" "$2" | tr -d ' \n' | sed 's/.*"epoch":{//; s/}.*//' | tr ',' '\n' | sed -n "s/^\"$1\"://p" | awk '{ printf "%.3f\n", 1e3 * $1 }'
}
