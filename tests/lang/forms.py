"""forms.py LANGTEST PROGRAM...: --diagnostics=json and =sarif of wrong programs. JSON: a line each, and the program with a diagnostic's fixes no
longer has that diagnostic there. SARIF: what its schema of version 2.1.0 requires of the properties that are written, and nothing beside."""
import json
import re
import subprocess
import sys

langtest, programs = sys.argv[1], sys.argv[2:]


def said(form, path):
    text = subprocess.run([langtest, f"--diagnostics={form}", path], stdout=subprocess.PIPE, check=False).stdout.decode("utf-8")
    return [line for line in text.splitlines() if not re.fullmatch(r"exit \d+", line)]


# Of each object: the properties that the schema requires, and the others that it knows and we write.
SHAPES = {
    "log": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool"}, {"results", "columnKind"}),
    "driver": ({"name"}, {"rules"}),
    "rule": ({"id"}, {"shortDescription", "fullDescription"}),
    "result": ({"message"}, {"ruleId", "level", "locations", "relatedLocations", "fixes"}),
    "text": ({"text"}, set()),
    "location": (set(), {"physicalLocation", "message"}),
    "physical": (set(), {"artifactLocation", "region"}),
    "artifact": (set(), {"uri"}),
    "region": (set(), {"startLine", "startColumn", "endColumn"}),
    "fix": ({"artifactChanges"}, set()),
    "change": ({"artifactLocation", "replacements"}, set()),
    "replacement": ({"deletedRegion"}, {"insertedContent"}),
}


def is_shaped(kind, value):
    required, known = SHAPES[kind]
    assert isinstance(value, dict) and required <= set(value) <= required | known, (kind, value)
    return value


def check_region(region):
    is_shaped("region", region)
    assert region["startLine"] >= 1 and 1 <= region["startColumn"] <= region["endColumn"], region


def check_artifact(artifact):
    assert re.fullmatch(r"(?:[A-Za-z0-9\-._~/!$&'()*+,=@]|%[0-9A-F]{2})+", is_shaped("artifact", artifact)["uri"]), artifact


def check_location(location):
    physical = is_shaped("physical", is_shaped("location", location)["physicalLocation"])
    check_artifact(physical["artifactLocation"])
    if "region" in physical:
        check_region(physical["region"])
    if "message" in location:
        is_shaped("text", location["message"])


def check_sarif(path):
    (line,) = said("sarif", path)
    log = is_shaped("log", json.loads(line))
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = is_shaped("run", log["runs"][0])
    assert run["columnKind"] == "unicodeCodePoints"
    driver = is_shaped("driver", run["tool"]["driver"])
    rules = [is_shaped("rule", rule)["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        is_shaped("result", result)
        is_shaped("text", result["message"])
        assert result["level"] in ("error", "warning") and result["ruleId"] in rules, result
        for location in result["locations"] + result["relatedLocations"]:
            check_location(location)
        for fix in result.get("fixes", []):
            for change in is_shaped("fix", fix)["artifactChanges"]:
                check_artifact(is_shaped("change", change)["artifactLocation"])
                for replacement in change["replacements"]:
                    check_region(is_shaped("replacement", replacement)["deletedRegion"])
                    is_shaped("text", replacement["insertedContent"])
    return sum(len(result.get("fixes", [])) for result in run["results"])


def check_json(path):
    """The number of diagnostics whose fixes were tried."""
    tried = 0
    for item in map(json.loads, said("json", path)):
        assert item["severity"] in ("error", "warning") and item["message"] and isinstance(item["fixes"], list), item
        if not item["fixes"] or any(fix["file"] != path for fix in item["fixes"]):
            continue
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        for fix in sorted(item["fixes"], key=lambda fix: (-fix["line"], -fix["byte_column"])):
            line, at = fix["line"] - 1, fix["byte_column"] - 1
            rest = b"\n".join(lines[line:])
            rest = rest[:at] + fix["replacement"].encode() + rest[at + fix["bytes"] :]
            lines[line:] = rest.split(b"\n")
        mended = subprocess.run([langtest, "--diagnostics=json", "/dev/stdin"], input=b"\n".join(lines), stdout=subprocess.PIPE, check=False).stdout.decode()
        left = [json.loads(line) for line in mended.splitlines() if line.startswith("{")]
        again = [other for other in left if (other["code"], other["line"], other["message"]) == (item["code"], item["line"], item["message"])]
        assert not again, (path, item, again)
        tried += 1
    return tried


json_fixes = sum(map(check_json, programs))
sarif_fixes = sum(map(check_sarif, programs))
print(f"{json_fixes} diagnostics with fixes in JSON, {sarif_fixes} in SARIF")
assert json_fixes >= 5 and sarif_fixes >= json_fixes
