"""JSON, SARIF and JUnit: valid, complete, and never green where the exit code is not 0."""

from __future__ import annotations

import dataclasses
import json
from xml.etree import ElementTree

import jsonschema
import pytest
import report_samples as samples

from refute import plain
from refute.claim import Where
from refute.record import Run
from refute.report.document import document, dumps, schema
from refute.report.junit import junit
from refute.report.sarif import sarif
from refute.report.text import text

RUNS = samples.every_run()
ids = [f"{i} {r.command} {r.decision}" for i, r in enumerate(RUNS)]
each_run = pytest.mark.parametrize("run", RUNS, ids=ids)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["schema"]["const"] == "refute.run/1"


@each_run
def test_documents_follow_the_schema_and_survive_json(run: Run) -> None:
    data = document(run, {c.claim.digest(): "w.json" for c in run.results})
    jsonschema.Draft202012Validator(schema()).validate(data)
    assert json.loads(dumps(data)) == data
    assert dumps(data).isascii()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "refute.run/2"),
        (("decision",), "passed"),
        (("exit_code",), 0),
        (("seed",), 5),
        (("results", 1, "verdict"), "SKIPPED"),
        (("results", 1, "evidence", "witness"), None),
        (("results", 0, "evidence", "tried"), 0),
        (("results", 3, "evidence", "reason"), ""),
    ],
)
def test_the_schema_refuses_what_would_say_more_than_was_done(
    path: tuple[str | int, ...], value: object
) -> None:
    data = document(samples.gate_refuted())
    inner = data
    for key in path[:-1]:
        inner = inner[key]  # type: ignore[index]
    inner[path[-1]] = value  # type: ignore[index]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(data)


def test_every_key_of_the_schema_is_required_and_documented_by_it() -> None:
    data = document(samples.gate_refuted())
    assert set(schema()["required"]) == set(data) == set(schema()["properties"])


def test_the_witness_in_the_document_decodes_to_the_case() -> None:
    data = document(samples.gate_refuted())
    inputs = data["results"][1]["evidence"]["witness"]["counterexample"]["inputs"]
    assert plain.decode(inputs) == {"depth": 3}


def _sarif_result_problems(result: dict[str, object]) -> list[str]:
    """What SARIF 2.1.0 (sections 3.27, 3.28, 3.29, 3.30) requires of a result, by hand."""
    problems = []
    if not result["message"]["text"]:  # type: ignore[index]
        problems.append("empty message")
    if result["level"] not in ("none", "note", "warning", "error"):
        problems.append("level")
    for location in result.get("locations", ()):  # type: ignore[attr-defined]
        physical = location["physicalLocation"]
        if physical["region"]["startLine"] < 1:
            problems.append("startLine")
        if " " in physical["artifactLocation"]["uri"]:
            problems.append("uri")
    return problems


@each_run
def test_sarif_has_what_the_standard_requires(run: Run) -> None:
    log = json.loads(dumps(sarif(run)))
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    driver = only["tool"]["driver"]
    assert driver["name"] == "refute"
    names = [rule["id"] for rule in driver["rules"]]
    assert len(names) == len(set(names))
    for result in only["results"]:
        assert _sarif_result_problems(result) == []
        assert names[result["ruleIndex"]] == result["ruleId"]
        assert all(type(v) is str for v in result["partialFingerprints"].values())
    assert only["invocations"][0]["exitCode"] == run.exit_code
    assert type(only["invocations"][0]["executionSuccessful"]) is bool


@each_run
def test_no_rendering_is_green_where_the_exit_code_is_not(run: Run) -> None:
    levels = [r["level"] for r in sarif(run)["runs"][0]["results"]]
    suite = ElementTree.fromstring(junit(run).encode())
    red = [e for e in suite.iter() if e.tag in ("failure", "error")]
    if run.exit_code:
        assert "error" in levels or "warning" in levels
        assert red
        assert not text(run).startswith(("ACCEPTED", "ESTABLISHED"))
    else:
        assert "error" not in levels
        assert red == []
    assert [e for e in suite.iter() if e.tag == "skipped"] == []


def test_sarif_carries_the_counterexample_and_a_stable_fingerprint() -> None:
    before, after = samples.refuted(), samples.refuted(steps=5)
    moved = dataclasses.replace(after.claim, where=Where("specs/claims.py", 99))
    results = [
        sarif(Run("check", "refuted", 1, results=(r,)))["runs"][0]["results"][0]
        for r in (before, dataclasses.replace(after, claim=moved))
    ]
    assert results[0]["partialFingerprints"] == results[1]["partialFingerprints"]
    assert results[0]["message"] != results[1]["message"]
    for part in ("step 3", "after write 7", "/a and /b both exist", "/a or /b"):
        assert part in results[0]["message"]["text"]
    other = sarif(Run("check", "refuted", 1, results=(samples.refuted("other"),)))
    assert (
        other["runs"][0]["results"][0]["partialFingerprints"] != results[0]["partialFingerprints"]
    )


def test_sarif_paths_are_uris() -> None:
    result = samples.refuted()
    odd = dataclasses.replace(result.claim, where=Where("dir with space/é#.py", 0))
    run = Run("check", "refuted", 1, results=(dataclasses.replace(result, claim=odd),))
    place = sarif(run)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "dir%20with%20space/%C3%A9%23.py"
    assert place["region"]["startLine"] == 1


def test_junit_counts_and_kinds() -> None:
    suite = ElementTree.fromstring(junit(samples.gate_refuted()).encode())[0]
    failures = suite.findall("testcase/failure")
    errors = suite.findall("testcase/error")
    assert suite.get("failures") == str(len(failures)) == "1"
    assert suite.get("errors") == str(len(errors)) == "2"  # UNKNOWN, and the uncovered function
    assert suite.get("tests") == str(len(suite.findall("testcase")))
    assert errors[0].get("type") == "UNKNOWN (pre-existing)"
    assert "after write 7" in (failures[0].text or "")


def test_junit_survives_hostile_text() -> None:
    suite = ElementTree.fromstring(junit(samples.hostile()).encode("utf-8"))
    assert r"\x1b[2J\x00" in ElementTree.tostring(suite, encoding="unicode")


def test_a_need_that_is_not_met_is_an_error_in_junit() -> None:
    run = Run("check", "not established", 3, results=(samples.survived(unmet="too few"),))
    suite = ElementTree.fromstring(junit(run).encode())
    assert [e.get("message") for e in suite.iter("error")] == ["too few"]
