"""A witness as a pytest file that carries the case and fails while it breaks the claim.

The file holds the whole witness, so it keeps working when `.refute/` is cleaned. It needs refute
installed, because the case is still played in a worker and never in the test process.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from refute.errors import UsageError
from refute.report.trace import trace_lines
from refute.report.visible import visible
from refute.report.witness_file import WitnessFile

_TEMPLATE = '''\
"""{title}

{trace}

Written by `refute replay --to-test`.
"""

import json
from pathlib import Path

from refute.pytest_plugin.cases import assert_not_broken

TREE = (Path(__file__).parent / {tree}).resolve()

WITNESS = r"""
{witness}
"""


def test_{name}() -> None:
    assert_not_broken(json.loads(WITNESS), TREE)
'''


def test_source(file: WitnessFile, tree: str) -> str:
    """The test's source. tree: path of the judged tree, relative to the folder of the test."""
    trace = trace_lines(file.case, width=96, steps_shown=40, all_shown="in WITNESS below")
    name = re.sub(r"[^a-z0-9]+", "_", file.claim.name.lower()).strip("_")[:60] or "claim"
    # JSON in ASCII has no control characters; \u0022 keeps quotes from ending the string early
    witness = json.dumps(file.to_json(), indent=1).replace('"""', '""\\u0022')
    return _TEMPLATE.format(
        title=_docstring(f"A counterexample to the claim {file.claim.name!r}."),
        trace=_docstring("\n".join(trace)),
        tree=json.dumps(tree),
        witness=witness,
        name=name,
    )


def write_test(file: WitnessFile, tree: Path, target: Path) -> Path:
    """Write the test to `target`; returns it. Raises UsageError when it exists or cannot be."""
    problem = ""
    if target.exists():
        problem = "exists already"
    elif target.suffix != ".py":
        problem = "is not a Python file"
    elif not target.parent.is_dir():
        problem = "lies in a directory that does not exist"
    if problem:
        raise UsageError(
            f"--to-test {target}: the path {problem}",
            thing="--to-test",
            value=target,
            next_step="give a new file, e.g. tests/test_regression.py",
        )
    source = test_source(file, os.path.relpath(tree, target.parent.resolve()))
    try:
        target.write_text(source, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"--to-test {target}: {error.strerror}", thing="--to-test", value=target
        ) from error
    return target


def _docstring(words: str) -> str:
    lines = [visible(line).replace("\\", "\\\\").replace('"', "'") for line in words.splitlines()]
    return "\n".join(line.rstrip() for line in lines)
