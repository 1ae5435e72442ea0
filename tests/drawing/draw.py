"""The draw itself: which tests of the families run for one seed.

Each test of a family lies in one of `one_in` heaps by its name, and the seed names one heap a family. So a heap is
drawn whole or not, whoever is collected beside it, and all heaps together are the family. Slow files lie in a heap
whole: what their tests begin with takes as long for one of them as for all.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.drawing.families import OF_ONE_OF_MANY, Family, find_family

NO_KIND: Final = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A collected test. `kind` is the protocol it is about, for those that say so."""

    name: str
    path: str
    is_example: bool = False
    kind: str = NO_KIND
    is_one_of_many: bool = False
    """One more walk or number of the same test."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What runs whole: everything, for a reason; or families, test files and tests of protocols."""

    everything: str = ""
    families: Mapping[str, str] = field(default_factory=dict)
    """Family -> the changed file that is why."""
    paths: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    unchanged_inputs: frozenset[str] = frozenset()
    """Families with inputs that passed as those are."""

    def holds(self, family: Family) -> bool:
        """Whether all of it runs."""
        return bool(self.everything) or (family.name in self.families and family.name not in self.unchanged_inputs)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The names of the tests that are left out, and of each family how many run of how many."""

    left_out: frozenset[str]
    counts: Mapping[str, tuple[int, int]]


def draw(candidates: Iterable[Candidate], *, seed: str, whole: Whole) -> Drawn:
    """Which of `candidates` run for `seed`."""
    of_family: dict[str, list[Candidate]] = defaultdict(list)
    families: dict[str, Family] = {}
    for each in candidates:
        family = OF_ONE_OF_MANY if each.is_one_of_many else find_family(each.path)
        if family is not None:
            families[family.name] = family
            of_family[family.name].append(each)
    left: set[str] = set()
    counts = {}
    for name, members in of_family.items():
        kept = _keep(families[name], members, seed=seed, whole=whole)
        left |= {each.name for each in members} - kept
        counts[name] = (len(kept), len(members))
    return Drawn(frozenset(left), counts)


def _keep(family: Family, members: list[Candidate], *, seed: str, whole: Whole) -> set[str]:
    if whole.holds(family):
        return {each.name for each in members}
    if family.is_of_one_of_many:
        changed = {each.name for each in members if each.path in whole.paths}
        return changed | _list_first_of_each({each.name: each.name.partition("[")[0] for each in members}, seed)
    heap = -1 if family.name in whole.unchanged_inputs else _number(f"{seed} {family.name}") % family.one_in
    kept = {
        each.name
        for each in members
        if each.path in whole.paths
        or _is_about(each.kind, whole.kinds)
        or (family.is_of_examples and not each.is_example)
        or (heap >= 0 and _number(each.path if family.is_of_slow_files else each.name) % family.one_in == heap)
    }
    if not family.has_one_of_each_kind:
        return kept
    return kept | _list_first_of_each({each.name: (each.path, each.kind) for each in members}, seed)


def _is_about(kind: str, changed: frozenset[str]) -> bool:
    """Whether a test is about a changed protocol, whose folder may say more than its name: `maker_sky`."""
    return any(one.startswith(other) or other.startswith(one) for one in kind.split() for other in changed)


def _list_first_of_each(members: Mapping[str, Hashable], seed: str) -> set[str]:
    """One test of each group, another for another seed. `members` says of each test which group it is of."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name, group in members.items():
        groups[group].append(name)
    return {min(names, key=lambda name: _number(f"{seed} {name}")) for names in groups.values()}


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
