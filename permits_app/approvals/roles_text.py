"""The roles of a cage in words: whose key, until when, which calls, and what is left of each allowance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from permits_app.approvals.cage_rules_text import name_rule, say_terms, show_rule
from permits_app.policy_cage.contract import Refill, RuleKind, key_address
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.wording.address_names import format_token_amount

_PLACE_OF_ROLE = {RuleKind.ROLE_CALL: 192, RuleKind.ROLE_ALLOWANCE: 160, RuleKind.PAYOUT: 168}


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One thing of one role: its key, a call, an allowance or a payout."""

    role: str
    words: str
    allows: str


def list_roles(state: CageState, *, chain_id: int, now: datetime) -> Iterator[RoleLine]:
    """Every role that was given something, the golem's own with its payouts alone; role by role."""
    lines = [
        (role, 0, RoleLine(_name(role), "Key", say_terms(session)))
        for role, session in state.sessions.items()
        if role and session.key != ZERO_ADDRESS
    ]
    for (kind, key), value in state.rules.items():
        if kind in _PLACE_OF_ROLE and value:
            raw = bytes.fromhex(key[2:])
            role = int(key, 16) >> _PLACE_OF_ROLE[RuleKind(kind)]
            words = name_rule(kind, raw, chain_id=chain_id).removeprefix(f"Role {role}: ")
            shown = show_rule(kind, raw, value, chain_id=chain_id)
            if kind != RuleKind.ROLE_CALL:
                shown += f"; {_say_left(state, RuleKind(kind), raw, value, chain_id, now)} left now"
            lines.append((role, kind, RoleLine(_name(role), words[0].upper() + words[1:], shown)))
    return (line for *_, line in sorted(lines, key=lambda each: (each[0], each[1], each[2].words)))


def _name(role: int) -> str:
    return f"Role {role}" if role else "The golem's own"


def _say_left(state: CageState, kind: RuleKind, key: bytes, value: int, chain_id: int, now: datetime) -> str:
    left = Refill.unpack(value).most - state.used(kind, key, now=int(now.timestamp()))
    return format_token_amount(chain_id, key_address(key), max(0, left))
