"""Text of a judged subject made safe to show.

What a subject returned ends up in terminals, XML and annotations. A control character there could
move the cursor over the verdict, and a lone surrogate could crash the printer, so everything that
does not print is shown as its escape.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"(\w{1,4}?)\1{15,}")
_CUT = re.compile(r"\w{0,3}(…|\.\.\.)")


def visible(text: str) -> str:
    """`text` on one line, every character that does not print as a backslash escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def visible_lines(text: str) -> list[str]:
    """As `visible`, but line ends stay line ends."""
    return [visible(line) for line in text.splitlines()] or [""]


def squeezed(text: str) -> str:
    """`text` with runs of one to four letters counted: `'yyyy…'` of 700 becomes `'700×y'`.

    A run that was cut off has no known count; its beginning stays, before the ellipsis.
    """
    return _RUN.sub(_counted, text)


def _counted(run: re.Match[str]) -> str:
    if _CUT.match(run.string, run.end()):
        return run[0][:8]
    return f"{len(run[0]) // len(run[1])}×{run[1]}"


def shortened(text: str, width: int) -> str:
    """`text` cut to `width` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
