# layered.sh: the models of the planner's sweep (tests/bench/plans_sweep.py) on a small graph; sourced. $root is set. Their values of 32 columns are of
# 65 KiB: below 64 KiB none goes to an SSD (compiler/plan/pose_problem.c).
layered() { # LAYER COUNT: its text
  sed -n '/^MODEL = """/,/^"""/{s/^MODEL = """//;/^"""/d;p}' "$root/tests/bench/plans_sweep.py" |
    sed -e 's/{{/{/g; s/}}/}/g' -e 's/{source}/synth(kind = "rmat", nodes = 520, degree = 6, features = 32, classes = 8, seed = 1)/; s/{name}/model/' \
        -e "s/{inner}/$(($2 - 1))/; s/{layer}/$1/; s/{hidden}/32/; s/{epochs}/3/; s/model model /model m /; s/train model /train m /"
}
least_of() { # MODEL OPTION...: the smallest budget that has a plan, in KiB
  "$build/gnncc" -w --backend=cuda --budget device=1KiB "${@:2}" "$1" --plan=json 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p'
}
