"""Functions of one row over texts and numbers, written for another engine under its own names.

Where an engine's function of that name does something else for some arguments, such as an empty
text, what is written says it in full, or the function is not expressible.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.nodes import literal, make
from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.conditions import Conditions
from refute.oracles.sql.transpile.kinds import (
    INT,
    LETTERS_DOUBT,
    NULL,
    NUM,
    REAL,
    TEXT,
    Inexpressible,
    Typed,
)
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.writer import call, cast, integer, paren

_CASES: dict[type[Node], str] = {exp.Upper: "UPPER", exp.Lower: "LOWER"}
_HINTS = ("LIKELY", "UNLIKELY", "LIKELIHOOD")
_TYPES = {INT: "integer", REAL: "real", TEXT: "text"}
_TRIMS = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}
_FOUND = {"postgresql": "STRPOS", "datafusion": "STRPOS"}
_CODES = {"postgresql": "ASCII", "datafusion": "ASCII", "duckdb": "UNICODE"}


_METHODS: dict[type[Node], str] = {
    exp.Upper: "_in_case",
    exp.Lower: "_in_case",
    exp.Length: "_length",
    exp.Substring: "_substring",
    exp.Replace: "_replaced",
    exp.Trim: "_trimmed",
    exp.Hex: "_hexadecimal",
    exp.Chr: "_characters",
    exp.Unicode: "_code",
    exp.StrPosition: "_place",
    exp.Typeof: "_type",
    exp.Round: "_round",
    exp.Sign: "_sign",
    exp.Anonymous: "_called",
}


class Texts(Conditions):
    """Rewrites functions of one row."""

    def of_one_row(self, node: Node, scope: Scope) -> Typed | None:
        """A call of such a function; None for what is none. Raises Inexpressible."""
        method = _METHODS.get(type(node))
        if method is None:
            return None
        made: Typed = getattr(self, method)(node, scope)
        return made

    def _called(self, node: Node, scope: Scope) -> Typed:
        """A function that the parser has no class for."""
        name, arguments = node.name.upper(), node.expressions
        if name in _HINTS and arguments:
            return self.value(arguments[0], scope)._replace(affinity="")
        if name == "QUOTE" and len(arguments) == 1:
            return self._quoted(self.value(arguments[0], scope))
        if name == "SUBSTR" and len(arguments) in (2, 3):
            names = ("this", "start", "length")
            return self._substring(
                make(exp.Substring, **dict(zip(names, arguments, strict=False))), scope
            )
        raise Inexpressible(f"{node.name.lower()}()")

    # Functions that give texts

    def _in_case(self, node: Node, scope: Scope) -> Typed:
        text = self.text(self.value(node.this, scope))
        self.doubts.add(LETTERS_DOUBT)
        return text if text.kind == NULL else Typed(call(_CASES[type(node)], text.node), TEXT)

    def _substring(self, node: Node, scope: Scope) -> Typed:
        """substr with a literal start and length that all engines take alike."""
        text = self.text(self.value(node.this, scope))
        numbers = [node.args.get(n) for n in ("start", "length")]
        found = [self.value(n, scope).constant for n in numbers if n is not None]
        values = [v for i, v in enumerate(found) if isinstance(v, int) and v >= 1 - i]
        if values != found:
            raise Inexpressible("substr() from the end, or with numbers that are computed")
        if text.kind == NULL:
            return text
        return Typed(call("SUBSTR", text.node, *[integer(v) for v in values]), TEXT)

    def _replaced(self, node: Node, scope: Scope) -> Typed:
        arguments = [node.this, node.expression, node.args["replacement"]]
        texts = [self._as_text(argument, scope) for argument in arguments]
        made = call("REPLACE", *texts)
        empty = make(exp.EQ, this=texts[1].copy(), expression=_text(""))  # the text stays as it is
        return Typed(
            make(exp.Case, ifs=[make(exp.If, this=empty, true=texts[0].copy())], default=made), TEXT
        )

    def _as_text(self, node: Node, scope: Scope) -> Node:
        return self.as_kind(self.text(self.value(node, scope)), TEXT)

    def _trimmed(self, node: Node, scope: Scope) -> Typed:
        name = _TRIMS.get(str(node.args.get("position") or ""), "TRIM")
        text, letters = self._as_text(node.this, scope), node.args.get("expression")
        if letters is None:
            return Typed(call(name, text), TEXT)
        if self.target.quote == "`":
            raise Inexpressible("trim() of several letters")
        if name == "TRIM" and self.target.name in ("postgresql", "datafusion"):
            name = "BTRIM"
        return Typed(call(name, text, self._as_text(letters, scope)), TEXT)

    def _hexadecimal(self, node: Node, scope: Scope) -> Typed:
        text = self._as_text(node.this, scope)
        if self.target.name == "postgresql":
            bits = call("CONVERT_TO", text, _text("UTF8"))
            made = call("UPPER", call("ENCODE", bits, _text("hex")))
        elif self.target.name == "datafusion":
            made = call("UPPER", call("ENCODE", text, _text("hex")))
        else:
            made = call("HEX", text)
        return Typed(call("COALESCE", made, _text("")), TEXT)

    def _characters(self, node: Node, scope: Scope) -> Typed:
        codes = [self.value(code, scope).constant for code in node.expressions]
        known = [code for code in codes if isinstance(code, int) and 0 < code < 0xD800]
        if known != codes:
            raise Inexpressible("char() of numbers that are computed")
        return self.literal(_text("".join(map(chr, known))))

    def _quoted(self, typed: Typed) -> Typed:
        if typed.kind in (REAL, NUM):
            raise Inexpressible("the text of a number with a point")
        if typed.kind != TEXT:
            return Typed(
                call("COALESCE", self.as_kind(self.text(typed), TEXT), _text("NULL")), TEXT
            )
        doubled = call("REPLACE", typed.node, _text("'"), _text("''"))
        made = self.joined_texts(_text("'"), doubled, _text("'"))
        return Typed(call("COALESCE", made, _text("NULL")), TEXT)

    def joined_texts(self, *texts: Node) -> Node:
        """Texts one after another, NULL where one is."""
        if self.target.quote == "`":
            return call("CONCAT", *texts)
        made = paren(texts[0])
        for text in texts[1:]:
            made = make(exp.DPipe, this=made, expression=paren(text))
        return made

    def _type(self, node: Node, scope: Scope) -> Typed:
        """What type a value has is known but for NULL."""
        typed = self.value(node.this, scope)
        if typed.kind == NULL:
            return self.literal(_text("null"))
        if typed.kind not in _TYPES:
            raise Inexpressible("typeof() of a number that is an integer or not")
        test = make(exp.Is, this=paren(typed.node), expression=make(exp.Null))
        made = make(
            exp.Case,
            ifs=[make(exp.If, this=test, true=_text("null"))],
            default=_text(_TYPES[typed.kind]),
        )
        return Typed(made, TEXT)

    # Functions that give numbers

    def _length(self, node: Node, scope: Scope) -> Typed:
        text = self.text(self.value(node.this, scope))
        name = "CHAR_LENGTH" if self.target.quote == "`" else "LENGTH"
        return Typed(self.whole(call(name, text.node)), INT)

    def whole(self, node: Node) -> Node:
        """A number as an integer of 64 bits."""
        return cast(node, "SIGNED" if self.target.quote == "`" else self.target.types[INT])

    def _code(self, node: Node, scope: Scope) -> Typed:
        name = _CODES.get(self.target.name)
        if name is None:
            raise Inexpressible("unicode()")
        text = call("NULLIF", self._as_text(node.this, scope), _text(""))
        return Typed(self.whole(call(name, text)), INT)

    def _place(self, node: Node, scope: Scope) -> Typed:
        name = _FOUND.get(self.target.name, "INSTR")
        texts = [self._as_text(node.args[n], scope) for n in ("this", "substr")]
        return Typed(self.whole(call(name, *texts)), INT)

    def _round(self, node: Node, scope: Scope) -> Typed:
        """round() of integers; of numbers with a point, engines round ties in different ways."""
        typed = self.numeric(self.value(node.this, scope))
        digits = node.args.get("decimals")
        known = 0 if digits is None else self.value(digits, scope).constant
        if typed.kind not in (INT, NULL) or not isinstance(known, int) or known < 0:
            raise Inexpressible("round() of a number with a point")
        return Typed(self.as_real(typed), REAL)

    def _sign(self, node: Node, scope: Scope) -> Typed:
        typed = self.value(node.this, scope)
        if typed.kind == TEXT:
            raise Inexpressible("a text used as a number")
        if typed.kind == NULL:
            return typed
        name = "SIGNUM" if self.target.name == "datafusion" else "SIGN"
        return Typed(self.whole(call(name, typed.node)), INT)


def _text(text: str) -> Node:
    return literal(text, is_string=True)
