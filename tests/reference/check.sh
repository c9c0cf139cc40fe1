#!/bin/sh
# Checks the reference against PyTorch Geometric's stored values and its gradients against finite differences.
# usage: check.sh REFERENCE_PROGRAM        prints a line per case; status 1 if any failed
set -u
reference=$1
data=$(cd "$(dirname "$0")/../data/pyg" && pwd)
passed=0 failed=0

# count STATUS NAME
count() {
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok $((passed + failed)) - $2"
    else
        failed=$((failed + 1))
        echo "not ok $((passed + failed)) - $2"
    fi
}

# losses GRAPH MODEL FILE [options]: twenty epochs, gradients first; both sides count in double, only the order differs
losses() {
    graph=$1 model=$2 file=$3
    shift 3
    "$reference" --data "$data/$graph" --weights "$data/$graph/$model.safetensors" --epochs 20 --check-gradients \
        --expect "$data/$graph/$file.losses" --tolerance 1e-12 "$@" > /dev/null 2>&1
    count $? "$graph $file losses"
}

for graph in karate directed; do
    for model in gcn sage graphconv gin gin_eps; do
        case $model in
        gin_eps) set -- --model gin --train-eps ;;
        *) set -- --model "$model" ;;
        esac
        "$reference" --data "$data/$graph" --weights "$data/$graph/$model.safetensors" --epochs 0 \
            --compare "$data/$graph/$model.logits.npy" --tolerance 1e-12 "$@" > /dev/null 2>&1
        count $? "$graph $model scores"
        losses "$graph" "$model" "$model" "$@"
    done
    losses "$graph" gcn gcn.decay_first --model gcn --weight-decay 0.05 --decay-first
    losses "$graph" gcn gcn.adamw --model gcn --optimizer adamw --weight-decay 0.1
    losses "$graph" gcn gcn.sgd --model gcn --optimizer sgd --lr 0.1 --weight-decay 0.01
    losses "$graph" gcn gcn.nesterov --model gcn --optimizer sgd --lr 0.1 --momentum 0.9 --nesterov
done

# A comparison that never fails proves nothing.
"$reference" --data "$data/karate" --weights "$data/karate/gcn.safetensors" --model gcn --epochs 20 --lr 0.01001 \
    --expect "$data/karate/gcn.losses" --tolerance 1e-6 > /dev/null 2>&1
[ $? -eq 1 ]
count $? "another learning rate is noticed"

echo "1..$((passed + failed))"
[ "$failed" -eq 0 ]
