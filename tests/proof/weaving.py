"""Weaves probes into a module; nothing of the product is imported here, or it would be loaded before it is woven."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from tests.proof.mutants import CHOOSER, weave_mutants
from tests.proof.woven import Chooser, WovenLoader

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def weave_probes(tree: ast.Module, probes: Mapping[str, Sequence[int]], chooser: str) -> ast.Module:
    """`chooser(number)` at the beginning of each named function, for each of its numbers."""
    for statement in tree.body:
        inner: list[tuple[str, Any]] = [(getattr(statement, "name", ""), statement)]
        if isinstance(statement, ast.ClassDef):
            inner = [(f"{statement.name}.{each.name}", each) for each in statement.body if isinstance(each, _FUNCTIONS)]
        for name, function in inner:
            if isinstance(function, _FUNCTIONS):
                at = int(ast.get_docstring(function, clean=False) is not None)
                function.body[at:at] = [
                    ast.Expr(ast.Call(ast.Name(chooser, ast.Load()), [ast.Constant(number)], []))
                    for number in probes.get(name, ())
                ]
    return ast.fix_missing_locations(tree)


class _ProbedLoader(WovenLoader):
    """Loads a module with the wanted of its mutants, and with the probes of mutants that it uses."""

    def __init__(self, name: str, path: str, *, probes: Mapping[str, Sequence[int]], **told: Any) -> None:
        super().__init__(name, path, **told)
        self._probes = probes

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        tree = weave_mutants(source, first=self._first, only=self._only)
        return compile(weave_probes(tree, self._probes, CHOOSER), self.path, "exec", dont_inherit=True)


class ProbedFinder(importlib.abc.MetaPathFinder):
    """Answers the plan's modules: name -> (path, number of its first mutant, those to weave)."""

    def __init__(
        self,
        found: Mapping[str, tuple[str, int, frozenset[int]]],
        probes: Mapping[str, Mapping[str, Sequence[int]]],
        chooser: Chooser,
    ) -> None:
        self._found, self._probes, self._chooser = found, probes, chooser

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        full = f"{name}.__init__" if f"{name}.__init__" in self._found else name
        if full not in self._found:
            return None
        where, first, only = self._found[full]
        loader = _ProbedLoader(
            name, where, first=first, only=only, chooser=self._chooser, probes=self._probes.get(full, {})
        )
        return importlib.util.spec_from_file_location(name, where, loader=loader)
