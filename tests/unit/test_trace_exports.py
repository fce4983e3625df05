"""Traces for other tools: the Informal Trace Format and Mermaid's sequence diagrams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refute.cli.main import main
from refute.replay import Counterexample, Step
from refute.report.diagram import diagram_text
from refute.specs.machine import types as t
from refute.specs.machine.values import atom, tag
from refute.verifiers.model.exporting import itf_value

# As Apalache's ADR 15 describes the format, by hand.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["vars", "states"],
    "properties": {
        "#meta": {"type": "object"},
        "params": {"type": "array", "items": {"type": "string"}},
        "vars": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "loop": {"type": "integer", "minimum": 0},
        "states": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"#meta": {"type": "object"}},
                "additionalProperties": {"$ref": "#/$defs/value"},
            },
        },
    },
    "additionalProperties": False,
    "$defs": {
        "values": {"type": "array", "items": {"$ref": "#/$defs/value"}},
        "value": {
            "oneOf": [
                {"type": ["boolean", "string"]},
                {"$ref": "#/$defs/values"},
                {
                    "type": "object",
                    "propertyNames": {"pattern": "^[^#]"},
                    "additionalProperties": {"$ref": "#/$defs/value"},
                },
                {
                    "type": "object",
                    "properties": {
                        "#bigint": {"type": "string", "pattern": "^-?[0-9]+$"},
                        "#tup": {"$ref": "#/$defs/values"},
                        "#set": {"$ref": "#/$defs/values"},
                        "#map": {
                            "type": "array",
                            "items": {
                                "type": "array",
                                "items": {"$ref": "#/$defs/value"},
                                "minItems": 2,
                                "maxItems": 2,
                            },
                        },
                    },
                    "propertyNames": {"pattern": "^#"},
                    "additionalProperties": False,
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ]
        },
    },
}
DOOR = """
from __future__ import annotations
import enum
from dataclasses import dataclass
from typing import Annotated
from refute.machine import (Formula, Machine, Map, Range, Set, Sort, Var, action, empty_set,
    invariant, leads_to, temporal, var, when)

class P(Sort, size=2):
    \"\"\"People.\"\"\"

@dataclass(frozen=True)
class Ring:
    by: P

class Door(Machine):
    rings: Var[Annotated[int, Range(0, 2)]] = var(0)
    last: Var[Ring | None] = var(None)
    at: Var[Map[P, bool]] = var(each=False)
    seen: Var[Set[P]] = var(empty_set)

    @action(fair="weak")
    def ring(self, p: P) -> None:
        when(self.rings < 2)
        self.rings += 1
        self.last = Ring(p)
        self.seen.add(p)
        self.at[p] = True

    @action(fair="weak")
    def leave(self, p: P) -> None:
        when(self.at[p])
        self.at[p] = False
        self.rings = 1

    @temporal
    def is_opened(self) -> Formula:
        return leads_to(lambda: self.rings > 0, lambda: self.rings == 0)

    @invariant
    def few(self) -> bool:
        return len(self.seen) < 2
"""
RM0 = atom("RM", 0, "RM0")
RM = t.Atoms("RM", ("RM0", "RM1"), "sort")
NOTE = t.Rec("Note", (("rm", RM),))


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (True, t.Bool(), True),
        (-3, t.Int(), {"#bigint": "-3"}),
        (RM0, RM, "RM0"),
        (None, t.Union((t.Nothing(), RM)), {"tag": "None", "value": {}}),
        (RM0, t.Union((t.Nothing(), RM)), "RM0"),
        ((tag("Note", ("rm",)), RM0), NOTE, {"rm": "RM0"}),
        (
            (tag("Note", ("rm",)), RM0),
            t.Union((RM, NOTE)),
            {"tag": "Note", "value": {"rm": "RM0"}},
        ),
        ((True, 1), t.Tuple((t.Bool(), t.Int())), {"#tup": [True, {"#bigint": "1"}]}),
        (frozenset({RM0}), t.SetOf(RM), {"#set": ["RM0"]}),
        ((RM0, RM0), t.SeqOf(RM), ["RM0", "RM0"]),
        ((False, True), t.MapOf(RM, t.Bool()), {"#map": [["RM0", False], ["RM1", True]]}),
        (
            frozenset({(RM0, 2)}),
            t.BagOf(t.Tuple((RM, t.Int()))),
            {"#map": [["RM0", {"#bigint": "2"}]]},
        ),
    ],
)
def test_values(value: Any, kind: t.Type, expected: Any) -> None:
    assert itf_value(value, kind) == expected
    document = {"vars": ["x"], "states": [{"x": expected}]}
    jsonschema.validate(document, SCHEMA)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exports")
    (root / "pyproject.toml").write_text("")
    (root / "door.py").write_text(DOOR)
    assert main(["check", str(root / "door.py")]) == 1
    return root


def witness(project: Path, name: str) -> str:
    (found,) = (project / ".refute" / "witnesses").glob(f"*{name}*.json")
    return str(found)


def test_a_trace_as_itf(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = project / "trace.itf.json"
    assert main(["replay", witness(project, "few"), "--itf", str(target)]) == 0
    document = json.loads(target.read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["vars"] == ["rings", "last", "at", "seen"] and "loop" not in document
    assert [s["#meta"]["step"] for s in document["states"]] == ["start", "ring(P0)", "ring(P1)"]
    assert document["states"][2]["last"] == {"tag": "Ring", "value": {"by": "P1"}}
    assert document["states"][2]["at"] == {"#map": [["P0", True], ["P1", True]]}


def test_a_lasso_as_itf(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["replay", witness(project, "opened"), "--itf", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    states = [{k: v for k, v in s.items() if k != "#meta"} for s in document["states"]]
    assert document["loop"] < len(states)
    assert states[-1] != states[document["loop"]] or document["loop"] == len(states) - 1


def test_a_lasso_as_diagram(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["replay", witness(project, "opened"), "--diagram", "-"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == ["sequenceDiagram", "participant machine as Door"]
    assert "participant p0 as P0" in lines and any(line.startswith("p0->>") for line in lines)
    assert ("loop for ever" in lines) == ("end" in lines)


def test_diagrams_of_processes_and_of_steps_of_nobody() -> None:
    steps = (Step("start", {"x": "1"}), Step("work(P0) from line 3 choosing a; b#"), Step("tick()"))
    moves = [{"do": "work", "params": []}, {"do": "tick", "params": [("atom", "K", 0)]}]
    case = Counterexample("e", {}, steps, observed="x is wrong")
    text = diagram_text("M", case, {"steps": moves, "loop": 1})
    assert text.splitlines() == [
        "sequenceDiagram",
        "    participant machine as M",
        "    participant p0 as work(P0)",
        "    Note over machine: x = 1",
        "    p0->>machine: work(P0) from line 3 choosing a#59; b#35;",
        "    loop for ever",
        "    machine->>machine: tick()",
        "    end",
        "    Note over machine: x is wrong",
    ]


def test_what_cannot_be_exported(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = Path(witness(project, "few"))
    data = json.loads(file.read_text("utf-8"))
    data["counterexample"]["inputs"]["cases"][0]["steps"][0]["do"] = "leave"
    other = project / "other.json"
    other.write_text(json.dumps(data))
    asked = ["replay", str(other), "--tree", str(project), "--itf", "-"]
    assert main(asked) == 2
    assert "does not take this trace now" in capfd.readouterr().err
    data["claim"]["statement"]["kind"] = "holds"
    other.write_text(json.dumps(data))
    assert main(["replay", str(other), "--tree", str(project), "--diagram", "-"]) == 2
    assert "for traces of machines" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--itf {witness}", "--itf {witness} would overwrite the witness file"),
        ("--diagram {witness}", "--diagram {witness} would overwrite the witness file"),
        ("--itf {folder}/new.json", "would overwrite what is saved in .refute/witnesses"),
        ("--itf {project}/door.py", "door.py: the path is a file with other content"),
        ("--itf {project}/package.json", "package.json: the path is a file with other content"),
        ("--diagram {project}/own.mmd", "own.mmd: the path is a file with other content"),
        ("--itf {project}/x --diagram {project}/./x", "x can carry one document only"),
        ("--itf - --diagram -", "stdout can carry one document only"),
        ("--to-test {project}/t.py --itf {project}/t.py", "would overwrite the test"),
        ("--to-test {witness}", "exists already"),
        ("--itf - --json -", "--json: nothing is replayed where a trace or test is written"),
        ("--itf {project}/none/x", "lies in a directory that does not exist"),
    ],
)
def test_what_would_be_lost_is_refused(
    arguments: str, words: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = Path(witness(project, "few"))
    (project / "package.json").write_text('{"name": "a", "description": "by hand"}')
    (project / "own.mmd").write_text("sequenceDiagram\n    Alice->>Bob: hello\n")
    before = file.read_bytes()
    places = {"witness": str(file), "folder": str(file.parent), "project": str(project)}
    assert main(["replay", str(file), *arguments.format(**places).split()]) == 2
    assert words.format(**places) in capfd.readouterr().err
    assert file.read_bytes() == before
    assert sorted(p.name for p in file.parent.glob("new*")) == []


def test_an_earlier_trace_is_replaced(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = witness(project, "few")
    for option in ("--itf", "--diagram"):
        target = project / f"again{option}"
        assert main(["replay", file, option, str(target)]) == 0
        first = target.read_bytes()
        assert main(["replay", file, option, str(target)]) == 0
        assert target.read_bytes() == first
    capfd.readouterr()
    assert main(["replay", file, "--itf", "-", "--diagram", str(project / "again--diagram")]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["vars"] and err.startswith("wrote ")
