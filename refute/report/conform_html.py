"""A conformance run as one HTML file that needs nothing else: no network, no other file.

The template, `conform.html`, has all style and script; what comes from a run is text in it, never
markup: escaped where it is written into the page, and JSON without `<` where the script reads it.
Causes stand first and can be read without JavaScript. Failures are data, drawn a page at a time,
so that a hundred thousand are no burden; their texts are cut so that the file stays small, which
the page says. The JSON document of the run has them whole.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute import __version__
from refute.report.conform import counts, known_lines, notes_of, verdict
from refute.report.conform_causes import causes_of, rest_lines, told
from refute.report.conform_differences import difference_lines
from refute.report.conform_scope import scope_lines
from refute.report.visible import visible, visible_lines
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import ConformRun

TEXTS = 12_000_000  # bytes for the texts of all failures, as they stand in the file
MOST = 100_000  # failures
FILES = 20_000
CAUSES = 200
LONGEST = 4_000  # bytes of one text
SHORTEST = 24
_SCRIPT = 8_000  # characters of one cause's script

_ESCAPED = re.compile(r"[<\"\\\x00-\x1f]")

NEW, KNOWN, FOLLOWS, MAY_FOLLOW, UPDATED = range(5)


def html_text(run: ConformRun) -> str:
    """The run as the text of an HTML file."""
    template = Path(__file__).with_name("conform.html").read_text("utf-8")
    parts = {
        "title": html.escape(visible(f"{verdict(run)}: refute conform {run.choice.shown}")),
        "head": _head(run),
        "causes": _causes(run),
        "foot": html.escape(f"refute {__version__}, {run.wall_s:.2f} s"),
        "data": _script_safe(_data(run)),
    }
    pieces = template.split("⟦")
    made = [pieces[0]]
    for piece in pieces[1:]:  # one pass, so that what is put in is not looked through again
        name, _, rest = piece.partition("⟧")
        made += [parts[name], rest]
    return "".join(made)


def _head(run: ConformRun) -> str:
    number = counts(run)
    engine = run.choice.shown + (f" ({run.version})" if run.version else "")
    known = {"established", "refuted", "unreadable"}
    look = run.decision if run.decision in known else "other"
    figures = {
        "files": len(run.files),
        "records run": run.run,
        "skipped": run.skipped,
        "failed": number.failed,
        "of those known": number.known,
        "follow from an earlier failure": number.follow,
        "may follow from one": number.may_follow,
        "updated": number.updated,
    }
    told = [f"{words}: {value:,}" for words, value in figures.items() if value or words == "failed"]
    notes = [*difference_lines(run), *scope_lines(run)]
    notes += known_lines(run.known) if run.known is not None else []
    return "\n".join(
        [
            f"<h1>{_shown(f'refute conform, engine {engine}')}</h1>",
            f'<p class="verdict {look}">{_shown(verdict(run))}</p>',
            f"<p>{_shown(', '.join(told))}</p>",
            _list(run.reasons[:50]),
            _list(notes),
        ]
    )


def _causes(run: ConformRun) -> str:
    causes = causes_of(run)
    rest = _list(rest_lines(run))
    if not causes:
        return rest
    parts = [f"<h2>{len(causes):,} cause{'' if len(causes) == 1 else 's'} of failure</h2>"]
    for cause in causes[:CAUSES]:
        places = ", ".join(cause.places[:8]) + (" …" if cause.count > 8 else "")
        sure = "it failed twice more by itself" if cause.verified else "not seen to fail by itself"
        sure += f"; {cause.note}" if cause.note else ""
        script = cause.script or "\n".join(f"{sql};" for sql in cause.statements)
        script = script if len(script) <= _SCRIPT else f"{script[:_SCRIPT]}…"
        whole = f"<pre>{_lines(script)}</pre>" if script else ""
        parts.append(
            f'<details{" open" if cause is causes[0] else ""}><summary><span class="n">'
            f"{cause.count:,}</span> {_shown(f'{cause.number}. {cause.title}')}</summary>"
            f'<p class="place">{_shown(told(cause))}: {_shown(places)}</p>{whole}'
            f"<p>expected {_shown(cause.expected)}, got {_shown(cause.got)}"
            f' <span class="faint">({_shown(sure)})</span></p></details>'
        )
    if len(causes) > CAUSES:
        parts.append(f"<p>{len(causes) - CAUSES:,} more causes are in the JSON of the run only</p>")
    return "\n".join([*parts, rest])


def _data(run: ConformRun) -> dict[str, Any]:
    """What the script of the page reads."""
    files = run.files[:FILES]
    kinds: dict[str, int] = {}
    failures = [(at, file, f) for at, file in enumerate(files) for f in file.failures]
    left = sum(len(file.failures) for file in run.files) - len(failures[:MOST])
    rows = []
    room = TEXTS
    for index, (at, file, failure) in enumerate(failures[:MOST]):
        share = room // (min(len(failures), MOST) - index)
        texts, used = _texts(file, failure, share)
        room -= used
        kind = kinds.setdefault(failure.kind, len(kinds))
        rows.append([at, failure.line, kind, _state(failure), failure.cause, *texts])
    return {
        "files": [_file(file) for file in files],
        "kinds": list(kinds),
        "causes": [[c.number, visible(c.title)[:200]] for c in causes_of(run)[:CAUSES]],
        "failures": rows,
        "left": left,
    }


def _file(file: FileResult) -> list[Any]:
    problems = [file.error, file.lost, file.unstable, "interrupted" if file.cut else ""]
    known = sum(bool(failure.known) for failure in file.failures)
    note = visible("; ".join(filter(None, problems)))[:500]
    return [visible(file.path), file.run, file.skipped, len(file.failures), known, note]


def _state(failure: Failure) -> int:
    if failure.updated:
        return UPDATED
    if failure.known:
        return KNOWN
    return FOLLOWS if failure.follows else MAY_FOLLOW if failure.may_follow else NEW


def _texts(file: FileResult, failure: Failure, share: int) -> tuple[list[str], int]:
    """SQL, expected, got and notes, none longer than its part of a share of bytes; and theirs."""
    sql = failure.sql if failure.sql.isprintable() else "\n".join(visible_lines(failure.sql))
    notes = [f"in {failure.path}"] if failure.path else []
    notes += [failure.round] if failure.round else []
    notes += notes_of(failure)
    wanted = (sql, visible(failure.expected), visible(failure.got), visible("; ".join(notes)))
    each = min(LONGEST, max(SHORTEST, share // len(wanted)))
    cut = [_cut(text, each) for text in wanted]
    return [text for text, _ in cut], sum(size for _, size in cut)


def _cut(text: str, most: int) -> tuple[str, int]:
    """As much of a text as takes no more than so many bytes in the file, and how many it takes."""
    kept = text[:most]
    while (size := _size(kept)) > most:
        kept = kept[: len(kept) * 3 // 4]
    return (text, size) if len(kept) == len(text) else (f"{kept}…", size + 3)


def _size(text: str) -> int:
    """Bytes of a text as it stands in the file."""
    if text.isascii() and not _ESCAPED.search(text):
        return len(text)
    return len(_script_safe(text).encode("utf-8", "surrogatepass"))


def _script_safe(data: object) -> str:
    """JSON that an HTML parser takes as text, whatever is in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _shown(text: str) -> str:
    return html.escape(visible(text))


def _lines(text: str) -> str:
    return html.escape("\n".join(visible_lines(text)))


def _list(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{_shown(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
