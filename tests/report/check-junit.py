# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: check-junit.py FILE
# JUnit XML as Ant's and Jenkins' schemas have it: elements in their order, required attributes, at
# most one outcome per test, and numbers that add up. Beyond them, a test may say where it is: in a file
# that is named relative to the project.
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
        assert {"classname", "name", "time"} <= set(test.attrib) and len(test) <= 1
        assert set(test.attrib) <= {"classname", "name", "time", "file", "line"}, test.attrib
        assert re.fullmatch(r"\d{1,12}\.\d{3}", test.get("time")), test.attrib
        if "file" in test.attrib:
            assert not re.match(r"/|\.\.?/", test.get("file")), test.attrib
        assert "line" not in test.attrib or ("file" in test.attrib and int(test.get("line")) > 0)
        for outcome in test:
            outcomes[outcome.tag] += 1
            if outcome.tag == "failure":
                assert set(outcome.attrib) == {"type", "message"} and outcome.text
    assert int(suite.get("tests")) == len(tests)
    seconds = sum(float(test.get("time")) for test in tests)
    assert abs(float(suite.get("time")) - seconds) < 0.001 * (len(tests) + 1), suite.attrib
    assert int(suite.get("failures")) == outcomes["failure"]
    assert int(suite.get("skipped")) == outcomes["skipped"]
