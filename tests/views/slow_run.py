"""slow_run.py REPORT.json RUN.json: the report as of a run in which each step took twice as long as estimated, and each wait 0.2 ms more."""
import json
import sys

report = json.load(open(sys.argv[1]))
late, steps = 0, []
for s in report["steps"][:report["training_steps"]]:
    more = 0.0002 if s["phase"] == "wait" else 0
    steps.append({"step": s["step"], "start_s": 2 * s["start_seconds"] + late, "seconds": 2 * s["seconds"] + more})
    late += more
took = 2 * report["epoch"]["seconds"] + late
report["measured"] = {"epochs": 1, "epoch_s": took, "training_s": took, "evaluation_s": 0, "slowdown": 2, "device_peak_bytes": 1, "host_peak_bytes": 1, "ssd_peak_bytes": 1, "serial_lanes": False, "steps": steps}
json.dump(report, open(sys.argv[2], "w"))
