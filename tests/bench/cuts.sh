#!/bin/bash
# cuts.sh [BUILD [TIERS [MODEL.gnn...]]]: an epoch with all of the memory that keeping everything takes, and with a half, a quarter and a tenth of what is not weights,
# gradients or optimiser state in it (graph and features are). TIERS: options, as in "--budget host=8GiB" (the default) or "--budget ssd=8GiB".
# The programs of a model run in turn, ROUNDS times (3); the shortest epoch counts, and its ratio to that of whole values kept. Without models, a GCN and a SAGE of
# three layers on a generated graph of NODES nodes (60,000), and the same layers 256 wide; DATA=FOLDER: on the arrays of that folder. The bound is the lane that the plan has busy longest, and how many times as long
# the shortest epoch of `bench` takes, in which nothing is evaluated. Compute is then busy with what runs again, too, and as long as copies beside it make it.
# POLICIES="hongtu grinnder ...": programs of these policies run in the same rounds, on the same kernels, with the same memory, cut and homes of features and graph.
. "$(dirname "$0")/epochs.sh"
tiers=${2:---budget host=8GiB}
models=("${@:3}")
[ ${#models[@]} -gt 0 ] || { model gcn_128 GCN 128; model sage_128 SAGE 128; model gcn_256 GCN 256; }
# Bytes of the peak, and of that what stays in any case.
peak_of() { "$build/gnncc" -w --plan=json "$1" | python3 -c '
import json, sys
report = json.load(sys.stdin)
most = max(report["memory"], key=lambda m: m["device_bytes"])
gradients = sum(b["bytes"] for b in report["blocks"] if b.get("value", "").startswith("d_") and b["value"].endswith(("weight", "bias")))
print(report["tiers"]["device"]["peak_bytes"], most["weights"] + most["optimizer"] + gradients)'; }
policy_model() { # MODEL REPORT: the model with its features and graph where the report has them
  cat "$1"
  python3 -c '
import json, sys
cut = json.load(open(sys.argv[1]))["cut"]
pins = [f"fate \"{of}\" = {cut[home]}" for of, home in (("x", "fields_home"), ("graph_*_idx", "graph_home")) if cut[home] != "device"]
if pins: print("plan {", *pins, "}", sep="\n")' "$2"
}
cut_of() { # REPORT: as --cut names the cut that was chosen
  python3 -c '
import json, sys
cut = json.load(open(sys.argv[1]))["cut"]
print("slices(%d)" % cut["slices"] if cut["slices"] > 1 else "whole" if cut["parts"] == 1 else "halos(%d)" % cut["parts"] if cut["halos"] else "rows(%d)" % cut["parts"])' "$1"
}
run_program() { # FOLDER PROGRAM NAME: an epoch with what is evaluated, and one without
  rm -rf "$1/out"
  "$1/$2" -q --epochs 5 --every 1 --log csv --out "$1/out" >/dev/null && epoch_of "$1/out" >>"$1/seconds_$3" && trained_of "$1/$2" >>"$1/trained_$3"
}
trained_of() { "$1" bench -q --json --epochs 5 | python3 -c 'import json, sys; print(json.load(sys.stdin)["min"])'; }
echo "| model | of the memory | device | cut | planned | epoch | to whole | bound |"
echo "| --- | ---: | ---: | --- | ---: | ---: | ---: | --- |"
for model in "${models[@]}"; do
  name=$(basename "$model" .gnn)
  read -r peak stays < <(peak_of "$model")
  for share in 100 50 25 10; do
    bytes=$((stays + (peak - stays) * share / 100 / 1024 * 1024 + 1024))
    # shellcheck disable=SC2086
    "$build/gnncc" -w --budget device=$((bytes / 1024 + 1))KiB $tiers "$model" -o "$folder/at_$share" >"$folder/said_$share" 2>&1 || { echo "| $name | $share % | | $(grep -m1 -o 'no plan fits[^:]*: .*' "$folder/said_$share" | cut -c1-100) |"; rm -f "$folder/at_$share"; continue; }
    # shellcheck disable=SC2086
    "$build/gnncc" -w --budget device=$((bytes / 1024 + 1))KiB $tiers --plan=json "$model" >"$folder/report_$share"
    for policy in ${POLICIES:-}; do
      policy_model "$model" "$folder/report_$share" >"$folder/policy.gnn"
      # shellcheck disable=SC2086
      "$build/gnncc" -w --policy="$policy" --cut="$(cut_of "$folder/report_$share")" --budget device=$((bytes / 1024 + 1))KiB $tiers "$folder/policy.gnn" -o "$folder/at_${share}_$policy" >/dev/null 2>&1 || rm -f "$folder/at_${share}_$policy"
    done
  done
  for round in $(seq "${ROUNDS:-3}"); do
    for share in 100 50 25 10; do
      [ -e "$folder/at_$share" ] || continue
      run_program "$folder" "at_$share" "$share"
      for policy in ${POLICIES:-}; do [ ! -e "$folder/at_${share}_$policy" ] || run_program "$folder" "at_${share}_$policy" "${share}_$policy"; done
    done
  done
  for share in 100 50 25 10; do
    [ -s "$folder/seconds_$share" ] || continue
    # shellcheck disable=SC2086
    python3 - "$folder" "$name" "$share" ${POLICIES:-} <<'END'
import json, os, sys
folder, name, share, *policies = sys.argv[1:]
best = lambda s, of="seconds": min(float(line) for line in open(f"{folder}/{of}_{s}"))
report = json.load(open(f"{folder}/report_{share}"))
cut = report["cut"]
fields, graph = cut["fields_home"], cut["graph_home"]
words = "whole" if cut["parts"] == 1 and fields == "device" else f'{cut["parts"]} parts'
if cut["slices"] > 1: words += f', {cut["slices"]} slices'
if fields != "device": words += f", features and graph on {fields}" if fields == graph else f", features on {fields}"
if graph not in (fields, "device"): words += f", graph on {graph}"
epoch, longest = best(share), max(report["lanes"], key=lambda lane: lane["busy_seconds"])
print(f'| {name} | {share} % | {report["tiers"]["device"]["peak_bytes"] / 2**20:.1f} MiB | {words} | {1e3 * report["epoch"]["seconds"]:.1f} ms | {1e3 * epoch:.1f} ms | {epoch / best(100):.2f} | {longest["lane"]}, {best(share, "trained") / longest["busy_seconds"]:.2f} |')
for policy in policies:
    if os.path.exists(f"{folder}/seconds_{share}_{policy}"):
        theirs = best(f"{share}_{policy}")
        print(f"| {name} | {share} % | | {policy} | | {1e3 * theirs:.1f} ms | {theirs / best(100):.2f} | {theirs / epoch:.2f} of ours |")
    else: print(f"| {name} | {share} % | | {policy} | | does not fit | | |")
END
  done
  rm -f "$folder"/at_* "$folder"/seconds_* "$folder"/trained_*
done
