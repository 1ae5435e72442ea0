"""Declares what is asked of a cage's contract, what was seen for it, and what a request keeps of it."""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.approvals.operations.base import SeenSafe
from tools_app.core.stored_json import IntText


@dataclass(frozen=True, slots=True)
class SeenCage(SeenSafe):
    """The Safe, what the contract says each rule would wait (seconds), and what stands before the module that ends."""

    delays: tuple[int, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule in its JSON form: `key` as 0x-hex. `before` is the value it had, of one that was proposed."""

    kind: int
    key: str
    value: IntText
    before: str = ""


@dataclass(frozen=True, slots=True)
class CageAsked:
    """What is asked of the contract."""

    act: str


@dataclass(frozen=True, slots=True)
class CageAct(CageAsked):
    """The same with the Safe as it was seen for it."""

    seen: SeenCage


@dataclass(frozen=True, slots=True)
class RulesAsked:
    """The rules to propose, and the local limits that go with them."""

    rules: tuple[dict[str, object], ...]
    policy: tuple[dict[str, object], ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """The waiting change to cancel."""

    kind: int
    key: str


@dataclass(frozen=True, slots=True)
class SessionAsked:
    """A key, until when (unix seconds), and for how much; of role 0 it is the golem's own."""

    key: str
    expires_at: int
    operations: int
    budget_micro_usd: int
    role: int = 0


@dataclass(frozen=True, slots=True)
class CageChange:
    """What was asked for, as its request keeps it. `before` is what its act started from, of one without rules."""

    act: str
    contract: str
    before: str = ""
    rules: tuple[RuleText, ...] = ()
    policy: tuple[dict[str, object], ...] = ()
    kind: int = 0
    key: str = ""
    role: int = 0
