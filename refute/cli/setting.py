"""`--set NAME=VALUE`: constants of a machine, single values or sweeps.

VALUE is an int, `a..b` (a sweep over both ends), a list `1,2,5`, `true` or `false`, or a word.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from refute.errors import UsageError
from refute.plain import Plain

SWEEP_AT_MOST = 1000


def read_settings(texts: Sequence[str]) -> dict[str, tuple[Plain, ...]]:
    """Constant → the values to take, in order. Raises UsageError."""
    found: dict[str, tuple[Plain, ...]] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier() or not value.strip():
            raise _wrong(text, "is not NAME=VALUE")
        if name.strip() in found:
            raise _wrong(text, f"sets {name.strip()} a second time")
        found[name.strip()] = _values(text, value.strip())
    return found


def combinations(settings: Mapping[str, Sequence[Plain]]) -> list[dict[str, Plain]]:
    """Every combination of the values, the last constant varying fastest."""
    names = list(settings)
    count = 1
    for values in settings.values():
        count *= len(values)
    if count > SWEEP_AT_MOST:
        raise UsageError(
            f"the sweep has {count} combinations",
            thing="--set",
            value=count,
            possible=(f"at most {SWEEP_AT_MOST}",),
            next_step="narrow the ranges",
        )
    return [
        dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*settings.values())
    ]


def _values(text: str, value: str) -> tuple[Plain, ...]:
    sweep = re.fullmatch(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})", value)
    if sweep:
        first, last = int(sweep[1]), int(sweep[2])
        if last < first:
            raise _wrong(text, "is an empty sweep: its end lies before its start")
        if last - first >= SWEEP_AT_MOST:
            raise _wrong(text, f"sweeps over more than {SWEEP_AT_MOST} values")
        return tuple(range(first, last + 1))
    return tuple(_value(text, part.strip()) for part in value.split(","))


def _value(text: str, part: str) -> Plain:
    if re.fullmatch(r"-?[0-9]{1,18}", part):
        return int(part)
    if part in ("true", "True", "false", "False"):
        return part in ("true", "True")
    if re.fullmatch(r"[A-Za-z_]\w*", part):
        return part
    raise _wrong(text, f"has the value {part!r}, which is no number or name")


def _wrong(text: str, why: str) -> UsageError:
    return UsageError(
        f"--set {text}: it {why}",
        thing="--set",
        value=text,
        possible=("RM=3", "RM=2..6", "RM=2,4,8", "lossy=true"),
        next_step="see `refute check --help`",
    )
