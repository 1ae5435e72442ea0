"""Every threshold outside the safety chain, read from the sources: a number or a span that something is held to.

A constant counts where it is an operand of an order (`<`, `<=`, `>`, `>=`), the end of a slice, what `min` or `max`
holds a figure to, or a bound of a field or a query. So does a span that is added to a time or taken from one: it says
how long something lives. The safety chain has a table of its own (`test_boundaries.py`), and
so have the fields of forms (`test_form_edges.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from tests.architecture.sources import list_sources, parse

# A chain to develop on, and what fills it: nothing of it runs where golems have money.
_NOT_ASKED: Final = ("golem_project/embedded/", "golem_project/demo/")
_ELSEWHERE: Final = (
    "permits_app/limits/",
    "permits_app/safety/",
    "permits_app/permits/risk_tier_rules.py",
    "tools_app/portfolio/holdings.py",
    "golem_project/settings/safety.py",
)
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BOUNDS: Final = ("ge", "le", "gt", "lt", "max_length", "min_length", "max_value", "min_value")
_OF_QUERIES: Final = ("__gt", "__gte", "__lt", "__lte")
_SPAN: Final = "timedelta"
_OF_CALLS: Final = ("min", "max", "islice", "shorten", "MinValueValidator", "MaxValueValidator")

Constant = tuple[str, str]
"""Its module and its name."""


def list_thresholds() -> set[str]:
    """Each as `module.NAME`."""
    constants = {each for path in _list_paths() for each in _list_constants(path)}
    spans = {each for path in _list_paths() for each in _list_constants(path, only_spans=True)}
    held = {each for path in _list_paths() for each in _list_held(path, constants, spans)}
    return {f"{module}.{name}" for module, name in held if not _path_of(module).startswith(_ELSEWHERE)}


def _list_paths() -> list[str]:
    return [path for path in list_sources() if not path.startswith(_NOT_ASKED)]


def _path_of(module: str) -> str:
    path = f"{module.replace('.', '/')}.py"
    return path if path in list_sources() else path.replace(".py", "/__init__.py")


def _module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _list_constants(path: str, *, only_spans: bool = False) -> Iterator[Constant]:
    for node in parse(path).body:
        value = getattr(node, "value", None)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper() and _is_number(value):
                if not only_spans or _holds_a_span(value):
                    yield _module_of(path), target.id


def _is_number(node: ast.AST | None) -> bool:
    """A number, a span of time, or what is made of numbers and other constants by arithmetic."""
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return all(_is_number(each) or _names_a_constant(each) for each in (left, right))
        case ast.Call(func=ast.Name(id="timedelta")):
            return True
    return False


def _holds_a_span(node: ast.AST | None) -> bool:
    return node is not None and any(isinstance(each, ast.Call) and _is_span(each) for each in ast.walk(node))


def _is_span(node: ast.Call) -> bool:
    return ast.unparse(node.func).rpartition(".")[2] == _SPAN


def _names_a_constant(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.isupper()


def _list_held(path: str, constants: set[Constant], spans: set[Constant]) -> Iterator[Constant]:
    names = _read_names(path, constants)
    for node in ast.walk(parse(path)):
        for part in _list_bounds(node):
            yield from (each for each in _list_named(part, names) if each in constants)
        for part in _list_shifts(node):
            # A whole number that a span is made of where it is added counts as one.
            made = {each for call in ast.walk(part) if _holds_a_span(call) for each in _list_named(call, names)}
            yield from (each for each in _list_named(part, names) if each in spans or each in made & constants)


def _list_named(part: ast.AST, names: Mapping[str, Constant]) -> Iterator[Constant]:
    for each in ast.walk(part):
        if isinstance(each, ast.Name) and each.id in names:
            yield names[each.id]
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            yield names.get(each.value.id, ("", ""))[0], each.attr


def _list_shifts(node: ast.AST) -> Iterator[ast.AST]:
    """What is added to something or taken from it."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        yield from (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)


def _list_bounds(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which a constant is a threshold."""
    if isinstance(node, ast.Slice) or (
        isinstance(node, ast.Compare) and any(isinstance(order, _ORDERS) for order in node.ops)
    ):
        yield node
    elif isinstance(node, ast.Call):
        if ast.unparse(node.func).rpartition(".")[2] in _OF_CALLS:
            yield from node.args
        for keyword in node.keywords:
            if keyword.arg in _BOUNDS or (keyword.arg or "").endswith(_OF_QUERIES):
                yield keyword.value


def _read_names(path: str, constants: set[Constant]) -> Mapping[str, Constant]:
    """What a module calls each constant; a module that it imports stands with its own name and no constant's."""
    here = _module_of(path)
    names: dict[str, Constant] = {name: (module, name) for module, name in constants if module == here}
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                known = (node.module, each.name)
                names[each.asname or each.name] = known if known in constants else (f"{node.module}.{each.name}", "")
    return {name: found for name, found in names.items() if found in constants or found[1] == ""}
