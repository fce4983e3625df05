"""What a statement uses, read off its words: cheap enough for every one of many failures.

A tree costs a quarter of a millisecond for a short query; words cost a tenth of that and are there
for any dialect. Names and values are left out, so that two statements that say the same of other
tables have the same words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile(
    r"(?P<text>'(?:[^']|'')*')|(?P<name>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\])"
    r"|(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<float>\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+|\d+[eE][+-]?\d+)|(?P<int>\d+)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<sign><=|>=|<>|!=|==|\|\||<<|>>|::|[-+*/%<>=&|~(),.;])",
    re.DOTALL,
)
_WORDS = """
    ALL ALTER ASC BETWEEN CASE CAST COLLATE CREATE CROSS DEFAULT DELETE DESC DISTINCT DROP ELSE
    ESCAPE EXCEPT EXISTS EXPLAIN FILTER FIRST FULL GLOB GROUP HAVING IN INDEX INDEXED INNER INSERT
    INTERSECT IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH NATURAL NOT NOTNULL NULL NULLS OFFSET OR
    ORDER OVER PARTITION PRAGMA PRIMARY RECURSIVE REGEXP REINDEX REPLACE RIGHT SELECT TRIGGER
    UNION UNIQUE UPDATE USING VALUES VIEW WHERE WINDOW WITH AND DIV MOD
"""
_KNOWN = frozenset(_WORDS.split())
_PAIRS = {("IS", "NULL"), ("UNION", "ALL"), ("NULLS", "FIRST"), ("NULLS", "LAST")} | {
    ("PRIMARY", "KEY")
}
_SYNONYMS = {"<>": "!=", "==": "=", "ISNULL": "IS NULL"}
_QUIET = "( ) , . ; SELECT ALL ASC FIRST LAST KEY INNER ELSE AND VALUES JOIN"
_SILENT = frozenset(_QUIET.split())
_OPERATORS = "( , = < > <= >= <> != == + - * / % || & | ~ << >>"
_BEFORE_SIGN = frozenset(_OPERATORS.split())
_OPENING = "SELECT WHERE ON AND OR NOT IN BETWEEN CASE WHEN THEN ELSE BY HAVING"
_CLAUSES = frozenset(_OPENING.split())
_NAMING = "AS ON FROM BY WHEN THEN SET INTO TABLE CHECK"
_NO_FUNCTIONS = frozenset(_NAMING.split())

_FEW = 6  # tokens of a run, from which on each length is tried
_NEXT = re.compile(r"(?<=[a-z0-9_'\"])[.!] +(?=[A-Z])")  # between sentences
_DIGITS = 30  # of a number that are looked at

Words = frozenset[str]


@functools.lru_cache(maxsize=20_000)
def words_of(sql: str) -> Words:
    """What a statement uses, such as "LEFT JOIN", "NOT", "COUNT()", "/" and "NULL"."""
    return frozenset(_words(list(_tokens(sql))))


def words_of_all(statements: Iterable[str]) -> Words:
    """The constructs of several statements; of INSERT only whether NULL is inserted."""
    found: set[str] = set()
    for sql in statements:
        words = words_of(sql)
        found |= _of_setup(words, sql)
    return frozenset(found)


def _of_setup(words: Words, sql: str) -> set[str]:
    head = sql.lstrip()[:20].upper()
    if head.startswith(("INSERT", "REPLACE")):
        found = {"setup NULL"} & {f"setup {w}" for w in words}
        if "SELECT" in sql.upper():
            found.add("setup INSERT SELECT")
        return found
    if head.startswith("CREATE TABLE"):
        kept = {"COLLATE", "PRIMARY KEY", "UNIQUE", "DEFAULT", "NOT"}
        return {f"setup {word}" for word in words & kept}
    first = head.split(None, 2)
    name = " ".join(first[:2]) if first[:1] == ["CREATE"] or first[:1] == ["DROP"] else first[0]
    return {f"setup {name.strip('(;')}"} if first else set()


def shorter(sql: str) -> Iterator[str]:
    """The statement with runs of its tokens left out, long runs first."""
    tokens = [text for _, text in _tokens(sql, upper=False)]
    run = len(tokens) // 2
    while run:
        for start in range(0, len(tokens) - run + 1, max(1, run // 2)):
            yield " ".join([*tokens[:start], *tokens[start + run :]])
        run = run // 2 if run > _FEW else run - 1


def _tokens(sql: str, *, upper: bool = True) -> Iterator[tuple[str, str]]:
    """Kind and text of each token; words that are keywords in upper case."""
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or ""
        if kind != "comment":
            text = match[0]
            yield kind, text.upper() if upper and kind == "word" else text


def _words(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """The constructs, some of them more than once."""
    tokens = list(_plainer(tokens))
    last = len(tokens) - 1
    previous = ""
    for at, (kind, text) in enumerate(tokens):
        following = tokens[at + 1][1] if at < last else ""
        if kind in ("text", "float"):
            yield kind if text != "''" else "empty text"
        elif kind == "int" and int(text[:_DIGITS]) >= 2**31:
            yield "large number"
        elif kind == "word":
            yield from _of_word(text, previous, following, tokens, at)
        elif kind == "sign" and text not in _SILENT:
            yield from _of_sign(text, previous, following)
        previous = text
    yield from _joins(tokens)


def _plainer(tokens: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The tokens with one spelling for each thing: NOT apart from what it negates."""
    previous = ""
    for place, (kind, text) in enumerate(tokens):
        following = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        if text == "NOTNULL" or (text, following) == ("IS", "NOT"):
            yield "word", "NOT"  # IS NOT NULL is NOT … IS NULL
        if text == "NOTNULL":
            yield "word", "ISNULL"
        elif (previous, text) != ("IS", "NOT") and text != "OUTER":
            yield kind, text
        previous = text


def _of_word(
    text: str, previous: str, following: str, tokens: list[tuple[str, str]], at: int
) -> Iterator[str]:
    third = tokens[at + 2][1] if at + 2 < len(tokens) else ""
    if (text, following) in _PAIRS:
        yield _SYNONYMS.get(f"{text} {following}", f"{text} {following}")
    elif (previous, text) in _PAIRS:
        return
    elif text == "SELECT" and previous == "(":
        before = tokens[at - 2][1] if at >= 2 else ""
        if before not in ("IN", "EXISTS"):
            yield "subquery"
    elif text == "IN":
        yield "IN (SELECT)" if third == "SELECT" else "IN"
    elif text == "DISTINCT" and previous == "(":
        return  # told with the function
    elif text in ("LEFT", "RIGHT", "FULL", "NATURAL") and following == "JOIN":
        yield f"{text} JOIN"
    elif following == "(" and (text not in _KNOWN or text in ("REPLACE", "LEFT", "RIGHT")):
        if text not in _NO_FUNCTIONS:
            yield f"{text}({'DISTINCT' if third == 'DISTINCT' else '*' if third == '*' else ''})"
    elif text in _KNOWN and text not in _SILENT:
        yield _SYNONYMS.get(text, text)


def _of_sign(text: str, previous: str, following: str) -> Iterator[str]:
    if text in "+-" and (not previous or previous in _BEFORE_SIGN or previous in _CLAUSES):
        return  # a sign of a number
    if text == "*" and (previous in ("(", ",", ".", "SELECT", "ALL", "DISTINCT") or not following):
        return
    yield _SYNONYMS.get(text, text)


def _joins(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """ "join" where a FROM has a comma or a JOIN."""
    texts = [text for _, text in tokens]
    if "JOIN" in texts:
        yield "join"
        return
    for at, text in enumerate(texts):
        if text == "FROM":
            rest = [t for t in texts[at + 1 : at + 5] if t != "AS"]
            if "," in rest[1:3] and ")" not in rest[: rest.index(",")]:
                yield "join"
                return


_IN_MESSAGE = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\d+(?:\.\d+)?|[A-Za-z_][\w$]*(?:\.\w+)*")


def normal_message(message: str, statements: Sequence[str]) -> str:
    """An error's first sentence, with names and values of these statements left out.

    What comes after it is advice: the columns that there are, names that are alike.
    """
    line = next((line for line in message.splitlines() if line.strip()), "")[:300]
    first = _NEXT.split(line, maxsplit=1)[0]
    names = _names(tuple(statements))

    def plain(match: re.Match[str]) -> str:
        text = match[0]
        if text[0].isdigit():
            return "N"
        if text.startswith("__"):  # a name that the engine made up
            return re.sub(r"\d+", "N", text)
        bare = text.strip("'\"`")
        if text[0] in "'\"`":
            if bare.upper() in _KNOWN or bare.upper() in _SYNTAX:
                return text.upper()
            return "'" + _IN_MESSAGE.sub(plain, bare) + "'" if "(" in bare else "'?'"
        return "?" if all(p.casefold() in names for p in bare.split(".")) else text

    return " ".join(_IN_MESSAGE.sub(plain, first).split())


_TYPES = """
    FROM TABLE ON AS SET INTO BY IF WHEN THEN END BEGIN ADD COLUMN INTEGER TEXT REAL VARCHAR
    NUMERIC DECIMAL DOUBLE BOOLEAN FLOAT INT BIGINT BLOB
"""
_SYNTAX = frozenset(_TYPES.split())


@functools.lru_cache(maxsize=256)
def _names(statements: tuple[str, ...]) -> frozenset[str]:
    """Words of the statements that are neither keywords nor functions."""
    found = set()
    for sql in statements:
        tokens = list(_tokens(sql))
        for at, (kind, text) in enumerate(tokens):
            called = at + 1 < len(tokens) and tokens[at + 1][1] == "("
            named = at and tokens[at - 1][1] in ("TABLE", "INTO", "VIEW", "INDEX", "ON")
            if kind == "word" and text not in _KNOWN | _SYNTAX and (named or not called):
                found.add(text.casefold())
            elif kind in ("text", "name"):
                found.add(text[1:-1].casefold())
    return frozenset(found)
