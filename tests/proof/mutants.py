"""Small changes to a source file, one at a time, made on its syntax tree: what a good test suite notices.

Comparisons, conditions, boolean words, arithmetic, numbers, truth values and the words of SQL are changed; raised
errors, bare calls, members of fixed tables and conditions of queries are left out. Texts, what choices are called and
annotations are left alone: nobody decides by them. A mutant is named by the function it lies in and what it changes,
so lines that move do not rename it.

What lies in functions can be woven: one module that holds every mutant beside the original, of which `__mutant__(n)`
chooses. A constant of the module can be bound anew; only what else is computed while the module loads needs a process
of its own.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

CHOOSER = "__mutant__"

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
_IS_SQL = re.compile(r"\b(SELECT|FROM|WHERE|UPDATE)\b")
_SQL_WORDS: dict[str, str] = {
    " > ": " >= ",
    " >= ": " > ",
    " < ": " <= ",
    " <= ": " < ",
    " = ": " <> ",
    " <> ": " = ",
    " AND ": " OR ",
    " OR ": " AND ",
    " IS DISTINCT FROM ": " IS NOT DISTINCT FROM ",
    " IS NULL": " IS NOT NULL",
    " IS NOT NULL": " IS NULL",
    " AND NOT ": " AND ",
    "SUM(": "MAX(",
    "MIN(": "MAX(",
    " FOR NO KEY UPDATE": "",
    " DESC": " ASC",
}
_SQL_WORD = re.compile("|".join(re.escape(word) for word in sorted(_SQL_WORDS, key=len, reverse=True)))
_NOT_CODE = ("annotation", "returns", "decorator_list", "pattern")
# What is offered and how it is kept in memory: nobody decides by them.
_NO_RULES = ("__all__", "__slots__")
_QUERY_WORDS = ("filter", "exclude", "update", "get")
# A lambda among the module's constants is one of them: what is made of it is kept.
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a source. `line` is where, `change` what, both for people; `name` is unique in its module and stays
    when lines move. `is_woven` says whether the woven module holds it.
    """

    number: int
    name: str
    line: int
    change: str
    is_woven: bool
    make_source: Callable[[], str]
    make_binding: Callable[[], str]

    @property
    def place(self) -> str:
        """The function or constant it lies in."""
        return self.name.partition(": ")[0]

    @property
    def source(self) -> str:
        """The whole module with this change."""
        return self.make_source()

    @property
    def binding(self) -> str:
        """The changed assignment, where the change is in one of the module's constants; otherwise nothing."""
        return self.make_binding()


@dataclass(frozen=True, slots=True)
class _Spot:
    """A node that can change: `make` turns a copy of it into the changed one."""

    node: ast.expr | ast.stmt
    place: str
    is_in_function: bool
    change: str
    make: Callable[[Any], ast.AST]


def list_mutants(source: str) -> list[Mutant]:
    """Every mutant of `source`, in its order; `number` counts them from 0."""
    tree = ast.parse(source)
    seen: Counter[str] = Counter()
    found = []
    for number, spot in enumerate(_list_spots(tree)):
        name = f"{spot.place}: {spot.change}"
        seen[name] += 1
        found.append(
            Mutant(
                number=number,
                name=name if seen[name] == 1 else f"{name} (#{seen[name]})",
                line=spot.node.lineno,
                change=spot.change,
                is_woven=spot.is_in_function,
                make_source=partial(_unparse_with, tree, spot),
                make_binding=partial(_find_binding, tree, spot),
            )
        )
    return found


def weave_mutants(source: str, *, first: int, only: Container[int] | None = None) -> ast.Module:
    """One module with every mutant that lies in a function, or with `only` those; `__mutant__(first + number)` chooses
    each.
    """
    tree = ast.parse(source)
    spots: dict[int, list[tuple[int, _Spot]]] = {}
    for number, spot in enumerate(_list_spots(tree)):
        if spot.is_in_function and (only is None or number in only):
            spots.setdefault(id(spot.node), []).append((first + number, spot))
    return ast.fix_missing_locations(_Weaver(spots).visit(tree))


class _Weaver(ast.NodeTransformer):
    def __init__(self, spots: Mapping[int, list[tuple[int, _Spot]]]) -> None:
        self._spots = spots

    def visit(self, node: ast.AST) -> Any:
        here = self._spots.get(id(node), [])
        changed: list[tuple[int, Any]] = [(number, spot.make(copy.deepcopy(node))) for number, spot in here]
        woven: Any = self.generic_visit(node)
        for number, other in changed:
            choice = ast.Call(ast.Name(CHOOSER, ast.Load()), [ast.Constant(number)], [])
            if isinstance(node, ast.stmt):
                woven = ast.copy_location(ast.If(choice, [other], [woven]), node)
            else:
                woven = ast.copy_location(ast.IfExp(choice, other, woven), node)
        return woven


def _find_binding(tree: ast.Module, spot: _Spot) -> str:
    if spot.is_in_function:
        return ""
    for statement in tree.body:
        if _name_target(statement) and spot.node in ast.walk(statement):
            return _unparse_with(statement, spot)
    return ""


def _name_target(statement: ast.AST) -> str:
    """The one name an assignment binds, otherwise nothing."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return ""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _unparse_with(tree: ast.AST, spot: _Spot) -> str:
    copies: dict[int, Any] = {}
    changed = copy.deepcopy(tree, copies)
    return ast.unparse(_Replacer(copies[id(spot.node)], spot.make).visit(changed))


class _Replacer(ast.NodeTransformer):
    def __init__(self, node: ast.AST, make: Callable[[Any], ast.AST]) -> None:
        self._node = node
        self._make = make

    def visit(self, node: ast.AST) -> Any:
        return self._make(node) if node is self._node else self.generic_visit(node)


def _list_spots(tree: ast.Module) -> list[_Spot]:
    labels = _find_labels(tree)
    return [
        spot for spot in _walk(tree, place="module", is_in_function=False) if (id(spot.node), spot.change) not in labels
    ]


def _find_labels(tree: ast.Module) -> set[tuple[int, str]]:
    """The omissions of what a choice is called on a page: a text, for which Django puts another in."""
    return {
        (id(statement.value), f"without {ast.unparse(statement.value.elts[-1])}")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Choices") for base in node.bases)
        for statement in node.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple) and statement.value.elts
    }


def _walk(node: ast.AST, *, place: str, is_in_function: bool) -> Iterator[_Spot]:
    changes = [*_list_changes(node), *_list_omissions(node, is_table=not is_in_function)]
    for change, make in changes:
        assert isinstance(node, ast.expr | ast.stmt)
        yield _Spot(node, place, is_in_function, change, make)
    if isinstance(node, ast.JoinedStr):
        return
    if _name_target(node) in _NO_RULES:
        return
    is_def = isinstance(node, _FUNCTIONS)
    for name, value in ast.iter_fields(node):
        is_type = isinstance(node, ast.Subscript) and name == "slice" and not is_in_function
        if name in _NOT_CODE or is_type:
            continue
        inside = is_in_function or (is_def and name == "body")
        here = place
        if name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            here = node.name if place == "module" else f"{place}.{node.name}"
        elif not is_in_function and name == "value" and _name_target(node):
            here = _name_target(node) if place == "module" else f"{place}.{_name_target(node)}"
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, place=here, is_in_function=inside)


def _list_changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    """What to change in this very node, each with the text for people."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in _COMPARISONS:
                yield _describe(node, partial(_compare_otherwise, place=place))
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield _describe(node, _calculate_otherwise)
    elif isinstance(node, ast.BoolOp):
        yield _describe(node, _join_otherwise)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _describe(node, lambda copied: copied.operand)
    elif isinstance(node, ast.Constant | ast.JoinedStr):
        yield from _list_constant_changes(node)
    elif isinstance(node, ast.If | ast.IfExp) and not _is_negated_already(node.test):
        yield f"if {ast.unparse(node.test)} -> if not", _negate_test
    elif isinstance(node, ast.Raise) or _is_bare_call(node):
        yield f"{ast.unparse(node)} -> pass", lambda _: ast.Pass()


def _is_bare_call(node: ast.AST) -> bool:
    """A statement that is one call, for its effect; a line in the log is none."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    return not ast.unparse(node.value.func).startswith("logger.")


def _list_omissions(node: ast.AST, *, is_table: bool) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    """Members of sets and of the module's tables, and conditions and columns of queries, each left out."""
    if isinstance(node, ast.Set) or (is_table and isinstance(node, ast.Tuple | ast.List)):
        if len(node.elts) > 1:
            for place, member in enumerate(node.elts):
                if isinstance(member, ast.Name | ast.Attribute | ast.Constant):
                    yield f"without {ast.unparse(member)}", partial(_drop_at, field="elts", place=place)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _QUERY_WORDS:
        for place, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                yield (
                    f"{node.func.attr} without {ast.unparse(keyword)}",
                    partial(_drop_at, field="keywords", place=place),
                )


def _drop_at(node: Any, *, field: str, place: int) -> Any:
    del getattr(node, field)[place]
    return node


def _describe(node: ast.expr, make: Callable[[Any], ast.expr]) -> tuple[str, Callable[[Any], ast.AST]]:
    return f"{ast.unparse(node)} -> {ast.unparse(make(copy.deepcopy(node)))}", make


def _compare_otherwise(node: ast.Compare, *, place: int) -> ast.Compare:
    node.ops[place] = _COMPARISONS[type(node.ops[place])]()
    return node


def _calculate_otherwise(node: ast.BinOp) -> ast.BinOp:
    node.op = _ARITHMETIC[type(node.op)]()
    return node


def _join_otherwise(node: ast.BoolOp) -> ast.BoolOp:
    node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    return node


def _negate_test(node: Any) -> Any:
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _is_negated_already(test: ast.expr) -> bool:
    """Whether a change of the test itself turns it round: equality, membership, identity, `not`."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(
            test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
        )
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _list_constant_changes(node: ast.Constant | ast.JoinedStr) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        yield _describe(node, _count_otherwise)
        return
    texts = [node] if isinstance(node, ast.Constant) else list(node.values)
    if not any(isinstance(text, ast.Constant) and _IS_SQL.search(str(text.value)) for text in texts):
        return
    for place, text in enumerate(texts):
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            continue
        for found in _SQL_WORD.finditer(text.value):
            around = " ".join(text.value[max(0, found.start() - 30) : found.end() + 30].split())
            yield (
                f"SQL {around!r}: {found[0].strip()} -> {_SQL_WORDS[found[0]].strip() or 'nothing'}",
                partial(_say_otherwise, place=place, span=found.span(), word=found[0]),
            )


def _count_otherwise(node: ast.Constant) -> ast.Constant:
    node.value = not node.value if isinstance(node.value, bool) else int(node.value) + 1  # type: ignore[arg-type]
    return node


def _say_otherwise(node: Any, *, place: int, span: tuple[int, int], word: str) -> Any:
    text: Any = node if isinstance(node, ast.Constant) else node.values[place]
    text.value = f"{text.value[: span[0]]}{_SQL_WORDS[word]}{text.value[span[1] :]}"
    return node
