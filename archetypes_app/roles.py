"""Defines the powers over a golem and the roles that give them. Pure.

Roles are per golem: who administers one may only look at another. An owner and the co-owners administer; the other
roles are rows (`GolemMember`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """A person's part in one golem, the least first."""

    VIEWER = "VIEWER"
    OPERATOR = "OPERATOR"
    APPROVER = "APPROVER"
    ADMINISTRATOR = "ADMINISTRATOR"


class Power(StrEnum):
    """One kind of thing that is done with a golem."""

    SEE = "see"
    OPERATE = "operate"
    DECIDE = "decide"
    ADMINISTER = "administer"


POWERS: Final[Mapping[Role, frozenset[Power]]] = {
    Role.VIEWER: frozenset({Power.SEE}),
    Role.OPERATOR: frozenset({Power.SEE, Power.OPERATE}),
    Role.APPROVER: frozenset({Power.SEE, Power.DECIDE}),
    Role.ADMINISTRATOR: frozenset(Power),
}
ROLE_WORDS: Final[Mapping[Role, str]] = {
    Role.VIEWER: "sees every page and changes nothing",
    Role.OPERATOR: "runs it: stops it, tightens, ends permits, makes keys, asks for changes; decides nothing",
    Role.APPROVER: "decides what is asked of the owners, with a second factor; changes nothing by itself",
    Role.ADMINISTRATOR: "does everything its owner does, people and wallets too",
}


def roles_with(power: Power) -> frozenset[Role]:
    """The roles that allow `power`."""
    return frozenset(role for role, powers in POWERS.items() if power in powers)


def holds_at_once(before: Role | None, after: Role | None) -> bool:
    """Whether a person's role may change without the owners' approval: only what takes away, and only where it does not
    change how many must agree to a decision.
    """
    return _rank(after) < _rank(before) and not counts_for_decisions(before)


def _rank(role: Role | None) -> int:
    return -1 if role is None else list(Role).index(role)


def counts_for_decisions(role: Role | None) -> bool:
    """Whether who has it is one of those who decide, so that gaining or losing it changes how many must agree."""
    return role is not None and Power.DECIDE in POWERS[role]
