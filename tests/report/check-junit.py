# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: check-junit.py FILE
# JUnit XML as Ant's and Jenkins' schemas have it: elements in their order, required attributes, at
# most one outcome per test, and numbers that add up.
import re
import sys
import xml.etree.ElementTree as ElementTree

SUITE = {"id", "name", "package", "timestamp", "hostname", "tests", "failures", "errors", "skipped",
         "time"}
root = ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and not root.attrib
assert [suite.get("id") for suite in root] == [str(i) for i in range(len(root))]
for suite in root:
    assert suite.tag == "testsuite" and set(suite.attrib) == SUITE, suite.attrib
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    assert re.fullmatch(r"\d{1,12}\.\d{3}", suite.get("time")), suite.get("time")
    tags = [element.tag for element in suite]
    tests = suite.findall("testcase")
    assert tags == ["properties"] + ["testcase"] * len(tests) + ["system-out", "system-err"], tags
    for entry in suite.find("properties"):
        assert entry.tag == "property" and set(entry.attrib) == {"name", "value"}
    outcomes = {"failure": 0, "skipped": 0}
    for test in tests:
        assert set(test.attrib) == {"classname", "name", "time"} and len(test) <= 1
        for outcome in test:
            outcomes[outcome.tag] += 1
            if outcome.tag == "failure":
                assert set(outcome.attrib) == {"type", "message"} and outcome.text
    assert int(suite.get("tests")) == len(tests)
    assert int(suite.get("failures")) == outcomes["failure"]
    assert int(suite.get("skipped")) == outcomes["skipped"]
