"""A trace as the states it passes, in the values of the Informal Trace Format; runs in a worker.

The format is Apalache's, architecture decision record 15 of its documentation. Members of Enums
and Sorts become strings; None, and the dataclasses of a union, become variants with tag and value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.meaning import Meaning
from refute.specs.machine.values import Value, conforms, domain, order
from refute.verifiers.model.confirm import passed


def exported(data: Plain, case: Mapping[str, Plain]) -> dict[str, Plain]:
    """The variables' names, and their values in each state that the trace passes.

    steps: how many the trace has; it passes fewer states than that where it does not fit.
    """
    ir = MachineIR.from_plain(data)
    shown = [(at, v) for at, v in enumerate(ir.variables) if not v.hidden]
    states = [
        {v.name: itf_value(world.variables[at], v.type) for at, v in shown}
        for world in passed(Meaning(ir), case)
    ]
    return {"vars": [v.name for _, v in shown], "states": states, "steps": len(case["steps"])}


def itf_value(value: Value, kind: t.Type) -> Any:
    """A value of a type as JSON data of the format."""
    match kind:
        case t.Union():
            return _one_of(value, kind)
        case t.Int():
            return {"#bigint": str(int(value))}
        case t.Nothing():
            return {"tag": "None", "value": {}}
        case t.Atoms():
            return value.name
        case t.Tuple():
            parts = zip(value, kind.items, strict=True)
            return {"#tup": [itf_value(v, k) for v, k in parts]}
        case t.Rec():
            fields = zip(value[1:], kind.fields, strict=True)
            return {name: itf_value(v, k) for v, (name, k) in fields}
        case t.BagOf(t.Tuple((elem, often))):
            pairs = sorted(value, key=order)
            return {"#map": [[itf_value(v, elem), itf_value(n, often)] for v, n in pairs]}
        case t.SetOf():
            return {"#set": [itf_value(v, kind.elem) for v in sorted(value, key=order)]}
        case t.MapOf():
            entries = zip(domain(kind.key), value, strict=True)
            return {
                "#map": [[itf_value(k, kind.key), itf_value(v, kind.value)] for k, v in entries]
            }
        case t.SeqOf():
            return [itf_value(v, kind.elem) for v in value]
    return value


def _one_of(value: Value, kind: t.Union) -> Any:
    for option in kind.options:
        if conforms(value, option):
            inner = itf_value(value, option)
            return {"tag": option.name, "value": inner} if isinstance(option, t.Rec) else inner
    return {"#unserializable": repr(value)}
