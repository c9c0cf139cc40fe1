#!/bin/bash
# run.sh BUILD [NAME...]: mistakes, each made once in a copy of the sources, and the test that has to notice. A line for each: caught, survived (no
# test failed), stale (the text that it changes is not there any more), broken (it does not compile, or the test fails without it). The status is 0 if all
# were caught. NAME: only these. Logs are in BUILD/check/mutations.
set -u
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$build/check/mutations tree=$build/check/mutations/tree
wanted=("${@:2}") caught=0 wrong=0
[ -e "$build/share/libgnncuda.a" ] || { echo "make check-mutations: there is no CUDA toolkit" >&2; exit 5; }
rm -rf "$work" && mkdir -p "$tree/build"
(cd "$root" && cp -a Makefile compiler examples kernels lang runtime tests "$tree") && (cd "$build" && cp -a compiler lang runtime share gnncc gnndata "$tree/build") || exit 1

rebuild() { make -C "$tree" -s B=build all >"$work/make.log" 2>&1; }
declare -A is_sound
sound() { # TEST...: it passes without a mutation
  [ -n "${is_sound[$*]:-}" ] || { if (cd "$tree" && env "$@") >"$work/sound.log" 2>&1; then is_sound[$*]=yes; else is_sound[$*]=no; fi; }
  [ "${is_sound[$*]}" = yes ]
}
mutation() { # NAME FILE SED TEST...: the test is a command in the copy
  local name=$1 file=$tree/$2 said=survived begin=$SECONDS
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return
  if ! sound "${@:4}"; then said="broken: ${*:4} fails without it"
  else
    cp "$file" "$work/original"
    sed -E -i "$3" "$file"
    if cmp -s "$file" "$work/original"; then said="stale: there is no such text in $2"
    elif ! rebuild; then cp "$work/make.log" "$work/$name.log"; said="broken: it does not compile"
    elif ! (cd "$tree" && timeout 900 env "${@:4}") >"$work/$name.log" 2>&1 && grep -q '^not ok' "$work/$name.log"; then said=caught; fi
    cp "$work/original" "$file" && rebuild || exit 1
  fi
  if [ "$said" = caught ]; then caught=$((caught + 1)); else wrong=$((wrong + 1)); fi
  printf '%-9s %-32s %4d s\n' "${said%%:*}" "$name${said#"${said%%:*}"}" $((SECONDS - begin))
}
rebuild || { cat "$work/make.log"; exit 1; }

# ---- misplaced waits ----

streams=runtime/cuda/streams.c waits="SEEDS=0 3"
sweep=(tests/cuda/sweep.sh build GIN3)
mutation copy_before_compute $streams 's/ &&$/\&\&/; /^ +streams_wait\(cuda, copy->step, copy->lane, cuda->queued\[number\]\);$/s/streams_wait.*;/1;/' "$waits" "${sweep[@]}"
# No plan of the sweep needs the waits of copies for copies of the device: the compute has waited for the first before it queues the second.
mutation copy_before_copies $streams '/^static int streams_move/,/^}/s/i < 2 && is_fine/i < 0 \&\& is_fine/' tests/mutations/test_cuda.sh build
mutation done_before_copy $streams 's/^  is_fine = is_fine && streams_put\(cuda, copy\);/  is_fine = is_fine \&\& cudaEventRecord(cuda->done[number], cuda->stream[copy->lane]) == cudaSuccess \&\& streams_put(cuda, copy);/
  s/^  return is_fine && gnn_cuda_check\(cuda, copy->step, "copying", cudaEventRecord\(cuda->done.*/  return is_fine;/' "$waits" "${sweep[@]}"
mutation wait_for_another_copy $streams 's/streams_wait\(cuda, copy->step, GNN_LANE_COMPUTE, cuda->done\[number\]\)/streams_wait(cuda, copy->step, GNN_LANE_COMPUTE, cuda->done[number] == cuda->done[0] || !cuda->done[number - 1] ? cuda->done[0] : cuda->done[number - 1])/' "$waits" "${sweep[@]}"
mutation wait_a_step_later compiler/emit/emit.c 's|case STEP_WAIT: emit_wait_step\(m, s, out\); break;|case STEP_WAIT: fprintf(out, " */\\n"); break;|
  /^static void emit_step_list/,/^}/s|^    \}$|    }\n    if (s > first \&\& schedule_step(m->schedule, s - 1)->kind == STEP_WAIT) { fprintf(out, "  /*\\n"); emit_wait_step(m, s - 1, out); }|' "$waits" "${sweep[@]}"

# ---- the waits of rings ----

rings=(RINGS=again tests/cuda/rings.sh build)
mutation write_slot_not_awaited compiler/planner/timeline.c 's/^  if \(out\.is_by_ring\) out\.after\[0\] = wait_for_write_ring\(w, i\);/  if (out.is_by_ring) wait_for_write_ring(w, i);/' "${rings[@]}"
mutation read_slot_not_awaited compiler/planner/timeline.c 's/^    read\.after\[1\] = w->in\[w->reads\[w->oldest_read\]\];//' "${rings[@]}"
mutation disk_before_copies $streams '/^static gnn_status streams_lane_settle/,/^}/s/i < 2 && is_fine/i < 0 \&\& is_fine/' "${rings[@]}"
mutation lane_before_copies runtime/core/lanes.c '/^static void lanes_carry_out/,/^}/s/i < 2; i\+\+/i < 0; i++/' "${rings[@]}"

# ---- narrow indices ----

indices=(tests/cuda/indices.sh build gcn_cora heads wide)
mutation narrow_row kernels/cuda/rows.cuh 's/^  int64_t r = first \+ group;/  int r = (int)first + group;/' "${indices[@]}"
mutation narrow_entry kernels/cuda/rows.cuh 's/^      const int64_t begin = ptr\[r\], end = ptr\[r \+ 1\];/      const int begin = ptr[r], end = ptr[r + 1];/' "${indices[@]}"
mutation narrow_element kernels/cuda/reduce.cuh 's/for \(int64_t i = begin \+ gnn_group<1>\(\); i < end;/for (int i = begin + gnn_group<1>(); i < end;/' "${indices[@]}"
mutation narrow_walker kernels/cuda/reduce.cuh 's/^  const int64_t i = \(int64_t\)blockIdx\.x \* GNN_SUM_NUMBERS/  const int64_t i = (int)blockIdx.x * GNN_SUM_NUMBERS/' "${indices[@]}"
mutation narrow_place kernels/cuda/gemm.cuh 's/^      const int64_t p = place \+ place_of\(n\)/      const int p = place + place_of(n)/' "${indices[@]}"
mutation narrow_tile kernels/cuda/gemm.cuh 's/^    const int64_t i = i0 \+ n/    const int i = i0 + n/' "${indices[@]}"
mutation narrow_emitted_edge compiler/emit/cuda/emit_cuda_kernel.c 's/for \(int64_t i = begin; i < end; %s\)/for (int i = begin; i < end; %s)/' "${indices[@]}"
mutation narrow_emitted_row compiler/emit/cuda/emit_cuda_kernel.c 's/row_done = \[&\]\(int64_t r,/row_done = [\&](int r,/' "${indices[@]}"
mutation narrow_emitted_neighbour compiler/emit/emit_step.c 's/"const int64_t %s = %s\[i\];/"const int %s = %s[i];/' "${indices[@]}"
mutation narrow_emitted_product compiler/emit/cuda/emit_cuda_kernel.c 's/edges->idx\[i\] \* INT64_C\(%" PRId64 "\)/edges->idx[i] * %" PRId64 "/' "${indices[@]}"
mutation narrow_emitted_tile compiler/emit/cuda/emit_cuda_kernel.c 's/const int64_t row = %s\(int64_t\)blockIdx\.x \/ %" PRId64 " \* %d/const int64_t row = %s(int)blockIdx.x \/ %" PRId64 " * %d/' "${indices[@]}"

# ---- slots and waits of pieces ----

passes=(bash -c 'make -s B=build build/tests/passes/test_verifiers && GNNCC_TEST_SCALE=10 build/tests/passes/test_verifiers')
mutation slot_on_another compiler/plan/layout.c 's/^  list->top \+= bytes;$/  list->top += bytes \/ 2;/' "${passes[@]}"
mutation slot_given_back_early compiler/plan/layout.c 's/s->slots\[k\]\.last >= slot->first\) continue;/s->slots[k].last > slot->first) continue;/' "${passes[@]}"
mutation wait_of_a_piece_missing compiler/plan/schedule.c 's/^    case EVENT_WAIT: add_wait/    case EVENT_WAIT: if (q_is_piece(\&c, \&t->events[i])) break; add_wait/; s|^/\* ---- waits and kernels ---- \*/$|static bool q_is_piece(const Scheduling *c, const TimelineEvent *e) { return c->schedule->copies[c->copy_of_event[e->waits_for]].part > 2; }|' "${passes[@]}"
mutation rows_of_another_part compiler/plan/pieces.c '/^int64_t parts_bytes_before/,/^}/s/part - 1/part \/ 2/' "${passes[@]}"

# ---- the tree of blocks, and halos ----

walk=(bash -c 'make -s B=build build/tests/kernels/walk_native && build/tests/kernels/walk_native')
order=(bash -c 'make -s B=build build/tests/runtime/test_order && build/tests/runtime/test_order')
mutation bracket_of_parts kernels/cpu/walk.h '/void gnn_sum_part/,/^}/{s/__builtin_popcountll\(\(unsigned long long\)part\)/(part > 0)/; s/int64_t done = part; done & 1; done >>= 1/int64_t done = part; done > 0; done = 0/}' "${walk[@]}"
device=(bash -c 'make -s B=build build/tests/cuda/device && build/tests/cuda/device')
mutation bracket_of_parts_cuda kernels/cuda/reduce.cuh '/gnn_add_open\(gnn_real/,/^}/{s/__popcll\(\(unsigned long long\)done\)/(done > 0)/; s/for \(; done & 1; done >>= 1\)/for (; done > 0; done = 0)/}' "${device[@]}"
mutation bracket_of_runs kernels/cpu/walk.h 's/return walk->sums \+ __builtin_popcountll\(\(unsigned long long\)walk->done\)/return walk->sums + (walk->done > 0)/; s/int64_t done = walk->done; done & 1; done >>= 1/int64_t done = walk->done; done > 0; done = 0/' "${walk[@]}"
mutation halo_of_own_part runtime/data/halo.c 's/shift < fresh && shift < foreign/shift < fresh \&\& shift <= foreign/' "${order[@]}"
mutation halo_twice runtime/data/halo.c 's/last < 0 \? levels \+ 1 : halo_bits\(block \^ last\)/levels + 1/' "${order[@]}"
mutation interior_too_early runtime/data/halo.c 's/int shift = halo_bits\(differing\);/int shift = differing ? halo_bits(differing) - 1 : 0;/' "${order[@]}"
mutation halo_of_another_direction runtime/data/halo.c 's/halo->halo\[1 - d\]\);/halo->halo[d]);/' "${order[@]}"

mutation pairs_of_own_part runtime/data/halo.c 's/    own \/= 2;//' "${order[@]}"
mutation pairs_not_halved runtime/data/halo.c 's/halves \|= UINT64_C\(1\) << __builtin_ctzll\(left\) \/ 2/halves |= UINT64_C(1) << __builtin_ctzll(left)/' "${order[@]}"

# ---- codes, counts and places of halos ----

halos=(tests/end_to_end/halos.sh build)
mutation code_of_another_row runtime/data/fill_halo.c 's/q << (plan->halo\[f->direction\]\.shift) \| found\+\+\)/q << \1 | (found > 0 ? found - 1 : 0)); found++/' "${halos[@]}"
mutation rows_of_a_halo_missing runtime/data/fill_halo.c 's/if \(found < planned\) f->row/if (found + 1 < planned) f->row/' "${halos[@]}"
mutation halo_place_of_another_part kernels/cpu/gather.h 's/gnn_table_piece\(x, code >> x\.shift\)/gnn_table_piece(x, (code >> x.shift) ^ 1)/' "${halos[@]}"
mutation piece_of_another_pair compiler/emit/emit_arguments.c 's/parts_halo_piece\(step->parts, argument->value, step->part, other\)/parts_halo_piece(step->parts, argument->value, other, step->part)/' "${halos[@]}"
mutation halo_read_before_all_parts compiler/plan/base_order.c 's/^(static bool is_crossing.*return ).*(; \})$/\1false \&\& access \&\& o\2/' "${halos[@]}"

echo "$caught caught, $wrong not"
[ $wrong -eq 0 ] && [ $caught -gt 0 ]
