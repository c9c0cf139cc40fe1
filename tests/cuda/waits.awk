# waits.awk: of a program's source, what its copies wait for by the table: "COPY PLACE OTHER HOW", HOW being "implied" where COPY comes after OTHER all the
# same: a lane does one copy after the other, a copy comes after what was computed when it was queued, and what was awaited is awaited by whatever is
# queued later. Two clocks say what is complete: the compute's when the next step begins, and every copy's; a number for each lane.
/^  \{[0-9]+, GNN_LANE_/ {
  copy = copies++
  lane[copy] = $2
  match($0, /\{-?[0-9]+, -?[0-9]+\}/)
  split(substr($0, RSTART + 1, RLENGTH - 2), after, ", ")
  waits_for[copy, 0] = after[1]
  waits_for[copy, 1] = after[2]
  is_ring[copy] = /GNN_(WRITE|READ)_RING/
}
function take(clock_of, l) { for (l in lanes) if (ended[clock_of, l] > start[l]) start[l] = ended[clock_of, l] }
function starts(copy, without, i, l) {
  for (l in lanes) start[l] = computed[l]
  if (lane[copy] in last) take(last[lane[copy]])
  for (i = 0; i < 2; i++) if (i != without && waits_for[copy, i] >= 0) take(waits_for[copy, i])
}
/^static gnn_status [a-z_]*\(gnn_run \*g\) \{/ {
  is_plan = $3 !~ /^keep_/
  split("", computed); split("", last); split("", count)
}
is_plan && match($0, /gnn_(copy|await)\(g, [0-9]+\)/) {
  what = substr($0, RSTART, RLENGTH)
  number = what; gsub(/[^0-9]/, "", number); number += 0
  if (what ~ /^gnn_await/) { for (l in lanes) if (ended[number, l] > computed[l]) computed[l] = ended[number, l]; next }
  lanes[lane[number]] = 1
  order[number] = ++count[lane[number]]
  for (i = 0; i < 2; i++) {
    other = waits_for[number, i]
    if (other < 0 || (!is_ring[number] && !is_ring[other])) continue
    starts(number, i)
    print number, i, other, (start[lane[other]] >= order[other] ? "implied" : "needed"), lane[number], lane[other]
  }
  starts(number, -1)
  for (l in lanes) ended[number, l] = start[l]
  ended[number, lane[number]] = order[number]
  last[lane[number]] = number
}
