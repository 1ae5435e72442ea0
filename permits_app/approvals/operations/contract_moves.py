"""Compares one cage contract with the next: which rules differ, and which owners set at all. Pure."""

from __future__ import annotations

from typing import Final

from permits_app.policy_cage.contract import Limit, Rule, RuleKind, limit_key
from permits_app.policy_cage.state import CageState
from tools_app.core.hashing import hash_canonical

_MOVES_BY_ITSELF: Final = frozenset(
    "0x" + limit_key(limit).hex() for limit in (Limit.HIGH_WATER_MARK_MICRO_USD, Limit.PHASE)
)
"""The mark follows what the account is worth, and the phase how the golem is."""


def list_moved(standing: CageState, other: CageState) -> list[Rule]:
    """Each rule of either that the other contract has otherwise, with its value there; 0 for a rule it has not."""
    names = sorted(set(standing.rules) | set(other.rules))
    return [
        Rule(RuleKind(kind), bytes.fromhex(key[2:]), other.rules.get((kind, key), 0))
        for kind, key in names
        if standing.rules.get((kind, key), 0) != other.rules.get((kind, key), 0)
    ]


def hash_owned(state: CageState) -> str:
    """What owners set of it: its rules but those that move by themselves, and what of them waits."""
    rules = {f"{kind}:{key}": str(value) for (kind, key), value in state.rules.items() if not _moves(kind, key)}
    waiting = {f"{kind}:{key}": f"{each.value} at {each.ready_at}" for (kind, key), each in state.pending.items()}
    return hash_canonical({"rules": rules, "waiting": waiting})


def _moves(kind: int, key: str) -> bool:
    return kind == RuleKind.LIMIT and key in _MOVES_BY_ITSELF
