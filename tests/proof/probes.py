"""Where what is computed while a module loads is used: the functions whose tests a change of it is asked of.

A constant, a member of a class or a decorator's argument is computed once, so no test reaches its place. It reaches
what is made of it: the functions that name the constant, the constants and classes made of it, and the methods of a
class it lies in. At the beginning of each of them a probe is woven in, which notes the test that runs it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.proof.mutants import Mutant
from tests.proof.near_tests import list_users, read_product

# What is made of it, of that again, and so on: further away it says little about the mutant.
_MOST_STEPS: Final = 3
# A word that this many modules use is used by every test.
_MOST_MODULES: Final = 40
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def list_probes(module: str, mutant: Mutant) -> dict[str, list[str]]:
    """Module -> the functions in it, as `function` or `Class.method`, that use what the mutant changes."""
    if mutant.is_woven:
        return {}
    names = {module: {mutant.place.partition(".")[0]} - {"module"}}
    if not names[module]:
        names[module] = set(_list_decorated(module, mutant))
    found: dict[str, set[str]] = defaultdict(set)
    for _ in range(_MOST_STEPS):
        made: dict[str, set[str]] = defaultdict(set)
        for where, words in names.items():
            for user in _list_modules(where, words):
                for name, is_function in _list_mentioning(user, frozenset(words)):
                    if is_function:
                        found[user].add(name)
                    else:
                        made[user].add(name)
        names = {where: new for where, words in made.items() if (new := words - names.get(where, set()))}
    return {where: sorted(functions) for where, functions in sorted(found.items())}


def _list_decorated(module: str, mutant: Mutant) -> Iterator[str]:
    """What lies at the line of a mutant that no constant holds: the function it decorates, or whose default it is."""
    for statement in _parse(module).body:
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
        if first <= mutant.line <= (statement.end_lineno or first):
            yield from [statement.name] if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) else []


def _list_modules(module: str, names: set[str]) -> list[str]:
    """The module itself and the others of the product that import it or one of the names."""
    users = list_users()
    asked = {module, *(f"{module}.{name}" for name in names)}
    found = {user for each in asked for user in users.get(each, ()) if user in read_product()}
    return [module, *sorted(found - {module})] if len(found) <= _MOST_MODULES else [module]


@cache
def _parse(module: str) -> ast.Module:
    return ast.parse(read_product()[module])


@cache
def _list_mentioning(module: str, names: frozenset[str]) -> list[tuple[str, bool]]:
    """What names one of them: functions and methods, and, marked with False, constants and classes."""
    found: list[tuple[str, bool]] = []
    for statement in _parse(module).body:
        if isinstance(statement, _FUNCTIONS) and (statement.name in names or _mentions(statement, names)):
            found += [(statement.name, True), (statement.name, False)][: 1 + _mentions_outside(statement, names)]
        elif isinstance(statement, ast.ClassDef):
            is_outside = statement.name in names or _mentions_outside(statement, names)
            methods = [each for each in statement.body if isinstance(each, _FUNCTIONS)]
            found += [
                (f"{statement.name}.{each.name}", True) for each in methods if is_outside or _mentions(each, names)
            ]
            found += [(statement.name, False)] if is_outside else []
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and _mentions(statement, names):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found += [(each.id, False) for each in targets if isinstance(each, ast.Name)]
    return found


def _mentions(node: ast.AST, names: frozenset[str]) -> bool:
    return any(_is_one(each, names) for each in ast.walk(node))


def _mentions_outside(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether what is computed while the module loads names one of them."""
    return _is_one(node, names) or any(
        _mentions_outside(child, names)
        for name, value in ast.iter_fields(node)
        if not (name == "body" and isinstance(node, (*_FUNCTIONS, ast.Lambda)))
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.AST)
    )


def _is_one(node: ast.AST, names: frozenset[str]) -> bool:
    return (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
