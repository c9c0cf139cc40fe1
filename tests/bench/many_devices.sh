#!/bin/bash
# many_devices.sh [BUILD]: the table of docs/many_devices.md: three layers of SAGE, 256 wide, on graphs of published sizes and the targets with several devices that
# gnncc knows, simulated. Estimates of these targets, nothing is measured. ROWS=name: only the rows of that graph. Five minutes.
. "$(dirname "$0")/estimates.sh"
# nodes, edges, features, classes. ogbn-papers100M with its edges as they are given: Hu et al., Open Graph Benchmark, NeurIPS 2020; igb260m: Khatua et al., KDD 2023;
# it-2004: the Laboratory for Web Algorithmics, with 256 features and 64 classes.
declare -A sizes=([papers100M]="111059956 1615685872 128 172" [it-2004]="41291594 1150725436 256 64" [igb260m]="269346174 3995777033 1024 19")

sed 's/^target cluster128/target slow/; s/link node <-> node .*/link node <-> node { bandwidth = 1.25GB\/s; latency = 20us }/' "$root/lang/targets/cluster128.gnn" >slow.gnn
row() { # GRAPH TARGET OPTION...: its line of the table
  [ -z "${ROWS:-}" ] || [ "$1" = "$ROWS" ] || return 0
  model "$1" SAGE 3 256
  "$gnncc" -w --plan --backend=sim --target="$2" "${@:3}" m.gnn >said 2>&1 || true
  awk -v name="| $1 | \`$(basename "$2" .gnn)${3:+ ${*:3}}\` | " '
    /error\[E0501\]/ { short = $0; sub(/.* needs /, "", short); sub(/ at one moment.*/, "", short); sub(/: .*/, "", short) }
    /^  time / { epoch = $0; sub(/^  time */, "", epoch); sub(/ per epoch.*/, "", epoch)
                 waiting = $0; sub(/ waiting for transfers.*/, "", waiting); sub(/.* \+ /, "", waiting) }
    /^  net / { sent = $0; sub(/.*exchanges?(, [0-9]+ by columns \(transpose\),)? of /, "", sent); sub(/ in all.*/, "", sent)
                beside = $0; sub(/.* of which /, "", beside); sub(/ beside.*/, "", beside) }
    END { if (epoch) printf "%s%s | %s | %s | %s |\n", name, epoch, waiting, sent, beside
          else printf "%sdoes not fit: %s a device | | | |\n", name, short }' said
}
echo "| data | target and options | epoch | of it waiting | exchanged, all ranks | beside compute |"
echo "| --- | --- | ---: | ---: | ---: | ---: |"
row papers100M cluster128
for halos in 4 1; do row papers100M cluster128 --halos=$halos; done
for ranks in 64 1024; do row papers100M cluster128 --halos=1 --ranks=$ranks; done
row papers100M slow.gnn --halos=1
row papers100M slow.gnn
for halos in 0.1 0.4 1; do row papers100M h100x8 --halos=$halos; done
row papers100M h100x8
row papers100M a100x4
for halos in 0.1 0.4; do row it-2004 a100x4 --halos=$halos; done
row it-2004 a100x4
row igb260m cluster128
row igb260m cluster128 --halos=1
row igb260m a100x4 --halos=0.1
for halos in "" --halos=4 --halos=2 --halos=1; do
  for policy in --policy=halo --policy=transpose --policy=halo-recompute ""; do row papers100M cluster128 --ranks=16 $halos $policy; done
done
