"""Functions mean in a machine what they mean in Python: all arguments, against Python itself.

The functions are data: one of two small integers each, on what is easily got wrong, such as signs,
ties, scopes and the order of patterns.
"""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path

from test_temporal_meanings import loaded  # type: ignore[import-not-found]

FUNCTIONS = Path(__file__).parents[1] / "cases" / "machines" / "python_functions.txt"
OFFSET = 5_000  # outputs start below every result


def test_every_function_for_all_arguments(tmp_path: Path) -> None:
    text = FUNCTIONS.read_text()
    functions = dict(inspect.getmembers(loaded(tmp_path, "python_functions", text)))
    names = [n for n in functions if n.startswith("f_")]
    lines = ["", "class All(Machine):"]
    lines += [f"    {n}: Var[I] = var(0)" for n in "ab"]
    kind = f"Var[Annotated[int, Range({-OFFSET}, 1_000_000)]] = var({-OFFSET})"
    lines += [f"    o{n}: {kind}" for n in names]
    lines += ["    @action", "    def go(self, a: I, b: I) -> None:", "        self.a = a"]
    lines += ["        self.b = b", *(f"        self.o{n} = {n}(a, b)" for n in names)]
    machine = loaded(tmp_path, "functions_in_a_machine", text + "\n".join(lines) + "\n").All
    met = set()
    for state in machine.build().space().states():
        a, b = state["a"], state["b"]
        found = {n: state[f"o{n}"] for n in names}
        if set(found.values()) == {-OFFSET}:
            continue
        met.add((a, b))
        assert found == {n: int(functions[n](a, b)) for n in names}
    assert met == set(itertools.product(range(-3, 4), repeat=2))
