"""`match` as the `if` statements that it stands for, so that nothing else has to know it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.frozen import frozen
from refute.specs.machine.scope import MISSING, Scope


@frozen
class Pattern:
    """What a pattern asks of its subject, and the names it gives to parts of it."""

    tests: tuple[ast.expr, ...] = ()
    names: tuple[tuple[str, ast.expr], ...] = ()

    def __add__(self, other: Pattern) -> Pattern:
        return Pattern(self.tests + other.tests, self.names + other.names)


def as_ifs(scope: Scope, node: ast.Match) -> list[ast.stmt]:
    """The statements that a `match` stands for. Raises Unsupported."""
    subject: ast.expr = node.subject
    made: list[ast.stmt] = []
    if not isinstance(subject, ast.Name):
        name = f"matched_{node.lineno}_{node.col_offset}"
        made.append(ast.Assign([ast.Name(name, ast.Store())], subject))
        subject = ast.Name(name, ast.Load())
    made += _cases(scope, subject, node.cases)
    for statement in made:
        for part in ast.walk(statement):
            if "lineno" in part._attributes and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    return made


def _cases(scope: Scope, subject: ast.expr, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
    if not cases:
        return []
    first, *others = cases
    pattern = _pattern(scope, first.pattern, subject)
    rest = _cases(scope, subject, others)
    body: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], value) for name, value in pattern.names
    ]
    if first.guard is None:
        body += first.body
    else:
        body.append(ast.If(first.guard, first.body, rest))
    return [ast.If(_all(pattern.tests), body, rest)] if pattern.tests else body


def _all(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def _pattern(scope: Scope, node: ast.pattern, subject: ast.expr) -> Pattern:
    match node:
        case ast.MatchValue(value=value):
            return Pattern((ast.Compare(subject, [ast.Eq()], [value]),))
        case ast.MatchSingleton(value=value):
            how: ast.cmpop = ast.Is() if value is None else ast.Eq()
            return Pattern((ast.Compare(subject, [how], [ast.Constant(value)]),))
        case ast.MatchAs(pattern=inner, name=name):
            named = Pattern((), ((name, subject),)) if name else Pattern()
            return (_pattern(scope, inner, subject) if inner else Pattern()) + named
        case ast.MatchOr(patterns=parts):
            found = [_pattern(scope, part, subject) for part in parts]
            if any(p.names or not p.tests for p in found):
                raise scope.refuse(node, "a name inside |", "two cases")
            return Pattern((ast.BoolOp(ast.Or(), [_all(p.tests) for p in found]),))
        case ast.MatchClass():
            return _class(scope, node, subject)
        case ast.MatchSequence(patterns=parts) if not any(
            isinstance(p, ast.MatchStar) for p in parts
        ):
            length = ast.Call(ast.Name("len", ast.Load()), [subject], [])
            count = ast.Compare(length, [ast.Eq()], [ast.Constant(len(parts))])
            places = (ast.Subscript(subject, ast.Constant(at), ast.Load()) for at in range(999))
            inner_patterns = map(_pattern, [scope] * len(parts), parts, places)
            return sum(inner_patterns, Pattern((count,)))
    raise scope.refuse(
        node, f"the pattern {ast.unparse(node)}", "values, classes, names, _, |, sequences"
    )


def _class(scope: Scope, node: ast.MatchClass, subject: ast.expr) -> Pattern:
    found = scope.static(node.cls)
    names = getattr(found, "__match_args__", ())
    if found is MISSING or len(node.patterns) > len(names):
        raise scope.refuse(node, f"the pattern {ast.unparse(node)}", "a dataclass with its fields")
    test = ast.Call(ast.Name("isinstance", ast.Load()), [subject, node.cls], [])
    fields = [*names[: len(node.patterns)], *node.kwd_attrs]
    made = Pattern((test,))
    for name, part in zip(fields, [*node.patterns, *node.kwd_patterns], strict=True):
        made += _pattern(scope, part, ast.Attribute(subject, name, ast.Load()))
    return made
