"""Compares a cage's mirror with what the contract itself says.

A node that leaves a log out, by mistake or on purpose, would leave the mirror of a cage looser than the cage. So the
state that follows from the logs is held against the contract's own words at the same block, in one round trip.
"""

from __future__ import annotations

from datetime import datetime

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import MOST_ROLES, SLOT_SECONDS, RuleKind
from permits_app.policy_cage.state import LOSSES, POOLED, REBALANCES, TOP_UPS, CageState, PurseState, SessionState
from tools_app.toolkit.context import ChainReader, ReadCall


def find_contradiction(*, chain: ChainReader, state: CageState, now: datetime) -> str | None:
    """Find where the contract contradicts the mirror at the reader's block; None when they agree. `now` is the wall
    clock's. Compared are every rule and its order (by the contract's chain of hashes), the lists, every role's session,
    the use of every allowance, the switches, every window, and those pending changes that the mirror knows.

    Every rule and its order (by the contract's chain of hashes), the lists, every role's session, what is used of every
    allowance, the switches, every window and what is pending of what is known to be. A proposal nobody heard of is not
    seen until it is applied.
    """
    sessions = [(role, state.sessions.get(role, SessionState())) for role in range(MOST_ROLES)]
    refilling = [rule for rule in sorted(state.rules) if rule[0] in (RuleKind.ROLE_ALLOWANCE, RuleKind.PAYOUT)]
    purses = [(rule, state.purses.get(rule, PurseState())) for rule in refilling]
    pending = sorted(state.pending.items())
    expected: list[tuple[str, tuple[object, ...], tuple[object, ...]]] = [
        ("rulesDigest", (), (bytes.fromhex(state.rules_digest[2:]),)),
        *(
            ("sessionOf", (role,), (each.key, each.expires_at, each.operations_left, each.budget_left))
            for role, each in sessions
        ),
        *(("purseOf", (kind, bytes.fromhex(key[2:])), (purse.used, purse.at)) for (kind, key), purse in purses),
        ("isHalted", (), (state.is_halted,)),
        ("isDrawdownBreached", (), (state.is_drawdown_breached,)),
        ("lastRebalanceAt", (), (state.last_rebalance_at,)),
        ("assets", (), (tuple(state.assets),)),
        ("positions", (), (tuple(state.positions),)),
        *(
            ("pending", (kind, bytes.fromhex(key[2:])), (change.value, change.base, change.ready_at, change.bundle))
            for (kind, key), change in pending
        ),
    ]
    windows = [*state.assets, LOSSES, REBALANCES, TOP_UPS, POOLED]
    reads = [ReadCall(state.cage, FUNCTIONS[name], args) for name, args, _ in expected]
    reads += [ReadCall(state.cage, FUNCTIONS["spent"], (what,)) for what in windows]
    outcomes = chain.call_many(reads)
    for (name, args, values), outcome in zip(expected, outcomes, strict=False):
        if not outcome.ok or _plain(outcome.values) != values:
            return f"{name}({', '.join(map(_show, args))})"
    # A window is shorter the later one looks, and nodes differ in what time it is in a read of a block.
    earliest, latest = chain.block.timestamp, max(chain.block.timestamp, int(now.timestamp())) + SLOT_SECONDS
    for what, outcome in zip(windows, outcomes[len(expected) :], strict=True):
        least, most = state.spent(what, now=latest), state.spent(what, now=earliest)
        if not outcome.ok or not least <= int(outcome.values[0]) <= most:
            return f"spent({what})"
    return None


def _plain(values: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(tuple(value) if isinstance(value, list | tuple) else value for value in values)


def _show(value: object) -> str:
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
