# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: check-sarif.py FILE
# A SARIF 2.1.0 log has only properties the object model knows, and all it requires (python3-sarif-
# python-om, which was made from the schema), values of the right kinds, and references that lead
# somewhere. Every result has what code hosts ask for beyond that: a line of a file that is named
# relative to the project, a text, a rule that says how severe it is and what to do, and a fingerprint.
# With ORDEAL_SARIF_SCHEMA naming the published schema, the log is validated against that, too.
import json
import os
import re
import sys

import attr
import sarif_om

KINDS = {  # property: class of its value, or of its elements
    "runs": "Run", "tool": "Tool", "driver": "ToolComponent", "rules": "ReportingDescriptor",
    "shortDescription": "MultiformatMessageString", "fullDescription": "MultiformatMessageString",
    "help": "MultiformatMessageString", "description": "Message",
    "defaultConfiguration": "ReportingConfiguration", "invocations": "Invocation",
    "toolExecutionNotifications": "Notification", "message": "Message", "results": "Result",
    "locations": "Location", "location": "Location", "physicalLocation": "PhysicalLocation",
    "artifactLocation": "ArtifactLocation", "region": "Region",
    "logicalLocations": "LogicalLocation", "stacks": "Stack", "frames": "StackFrame",
}
PLAIN = {  # property: type of its value
    "$schema": str, "version": str, "name": str, "id": str, "text": str, "level": str, "ruleId": str,
    "uri": str, "uriBaseId": str, "module": str, "fullyQualifiedName": str, "startTimeUtc": str,
    "informationUri": str, "markdown": str, "kind": str, "rank": float,
    "executionSuccessful": bool, "ruleIndex": int, "startLine": int, "occurrenceCount": int,
}
URI = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*\Z")


def check(value, name, where):
    kind = getattr(sarif_om, name)
    fields = {field.metadata["schema_property_name"]: field for field in attr.fields(kind)}
    for key, field in fields.items():
        if field.default is attr.NOTHING:
            assert key in value, f"{where} lacks {key}"
    for key, inner in value.items():
        here = f"{where}.{key}"
        assert key in fields or key == "$schema", f"{here} is not in the object model"
        if key in KINDS:
            for number, one in enumerate(inner if isinstance(inner, list) else [inner]):
                check(one, KINDS[key], f"{here}[{number}]")
        elif key == "originalUriBaseIds":
            for base in inner.values():
                check(base, "ArtifactLocation", here)
                assert "uri" not in base, f"{here} names a directory of this machine"
        elif key in ("properties", "partialFingerprints"):
            assert isinstance(inner, dict), here
        else:
            assert key in PLAIN, f"{here}: this test does not know it"
            assert type(inner) is PLAIN[key], f"{here} is {inner!r}"
        if key in ("uri", "informationUri"):
            assert URI.match(inner), f"{here} is {inner!r}"
            assert not re.search(r"%(?![0-9A-F]{2})", inner), f"{here} is {inner!r}"
        if key in ("startLine", "occurrenceCount"):
            assert inner >= 1, here
        if key == "level":
            assert inner in ("none", "note", "warning", "error"), here


with open(sys.argv[1], encoding="ascii") as file:
    log = json.load(file)
check(log, "SarifLog", "log")
assert log["version"] == "2.1.0"

def check_place(run, location):
    place = location["physicalLocation"]["artifactLocation"]
    assert place["uriBaseId"] == "%SRCROOT%" and "%SRCROOT%" in run["originalUriBaseIds"], place
    assert place["uri"] and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|/", place["uri"]), place
    assert ".." not in place["uri"].split("/") and "." not in place["uri"].split("/"), place
    assert location["physicalLocation"]["region"]["startLine"] >= 1


def check_host(run):
    driver = run["tool"]["driver"]
    assert re.match(r"[a-z]+:.", driver["informationUri"])
    for rule in driver["rules"]:
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note"), rule
        assert 0 <= float(rule["properties"]["security-severity"]) <= 10, rule
        assert "security" in rule["properties"]["tags"] and len(rule["properties"]["tags"]) <= 10
        for text in ("shortDescription", "fullDescription", "help"):
            assert rule[text]["text"], rule
        assert len(rule["shortDescription"]["text"]) <= 1024 and rule["help"]["markdown"], rule
    prints = []
    for result in run["results"]:
        assert result["message"]["text"].strip(), result
        assert result["level"] in ("error", "warning", "note"), result
        check_place(run, result["locations"][0])
        assert all(value for value in result["partialFingerprints"].values())
        prints.append(json.dumps([result["ruleId"], result["partialFingerprints"]]))
        for stack in result.get("stacks", []):
            for frame in stack["frames"]:
                if "physicalLocation" in frame["location"]:
                    check_place(run, frame["location"])
    if driver["rules"][0]["id"] == "crash":  # two calls of one function may be alike
        assert len(set(prints)) == len(prints), prints


for run in log["runs"]:
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    check_host(run)
schema = os.environ.get("ORDEAL_SARIF_SCHEMA")
if schema:
    import jsonschema
    with open(schema, encoding="utf-8") as file:
        jsonschema.validate(log, json.load(file), format_checker=jsonschema.FormatChecker())
