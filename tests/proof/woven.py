"""Modules that hold all their mutants, and which of these is on. Nothing of the product is imported here: it would be
loaded before it is woven.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

from tests.proof.mutants import CHOOSER, weave_mutants

NO_MUTANT = -1
LOADING = "while loading"


@dataclass
class Chooser:
    """Answers the woven modules: whether mutant `n` is on; meanwhile notes which test asked."""

    active: int = NO_MUTANT
    test: str | None = LOADING
    reached: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def choose(self, number: int) -> bool:
        """Called at every place that could be otherwise."""
        if self.test is not None:
            self.reached[number].add(self.test)
        return number == self.active


class WovenLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with all its mutants in it."""

    def __init__(self, name: str, path: str, *, first: int, only: frozenset[int] | None, chooser: Chooser) -> None:
        super().__init__(name, path)
        self._first = first
        self._only = only
        self._chooser = chooser

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding="utf-8")
        return compile(weave_mutants(source, first=self._first, only=self._only), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[CHOOSER] = self._chooser.choose
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Answers the named modules with their woven selves: name -> (path, number of its first mutant, those to weave or
    None for all).
    """

    def __init__(self, firsts: dict[str, tuple[str, int, frozenset[int] | None]], chooser: Chooser) -> None:
        self._firsts = firsts
        self._chooser = chooser

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._firsts:
            return None
        where, first, only = self._firsts[name]
        loader = WovenLoader(name, where, first=first, only=only, chooser=self._chooser)
        return importlib.util.spec_from_file_location(name, where, loader=loader)
