"""Rebuilds a cage's rules, pending changes, sessions and windows from its events alone.

`apply_event` is the only thing that changes a state; the mirror keeps its JSON form in the database. Pure: no chain,
no clock, no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from eth_utils.crypto import keccak

from permits_app.policy_cage.cage_events import (
    AllowanceUsed,
    BatchExecuted,
    ChangeCancelled,
    ChangeProposed,
    DrawdownAcknowledged,
    DrawdownBreached,
    GasToppedUp,
    Halted,
    OutflowCounted,
    PayoutMade,
    PricesNoted,
    Resumed,
    RuleChanged,
    SessionSet,
    read_cage_event,
)
from permits_app.policy_cage.contract import (
    SLOT_SECONDS,
    WINDOW_SECONDS,
    AssetRule,
    AssetState,
    BatchClass,
    CageEvent,
    Limit,
    Refill,
    RuleKind,
    address_key,
    key_address,
    limit_key,
)
from tools_app.core.stored_json import read_stored

LOSSES: Final = "0x0000000000000000000000000000000000000001"
REBALANCES: Final = "0x0000000000000000000000000000000000000002"
TOP_UPS: Final = "0x0000000000000000000000000000000000000003"
POOLED: Final = "0x0000000000000000000000000000000000000004"
_SLOTS: Final = WINDOW_SECONDS // SLOT_SECONDS

NO_RULES: Final = "0x" + "00" * 32
"""The contract's chain of hashes before its first rule."""

RuleId = tuple[int, str]


@dataclass(frozen=True, slots=True)
class PendingChange:
    """A loosening that waits: `ready_at` in unix seconds. Those of one `bundle` take effect together or not at all."""

    value: int
    base: int
    ready_at: int
    bundle: int


@dataclass(frozen=True, slots=True)
class SessionState:
    """The session key and what is left to it; budget in micro-USD."""

    key: str = "0x" + "00" * 20
    expires_at: int = 0
    operations_left: int = 0
    budget_left: int = 0


@dataclass(frozen=True, slots=True)
class PurseState:
    """What of an allowance that refills was used up to `at` (unix seconds), and had not come back by then."""

    used: int = 0
    at: int = 0


@dataclass
class CageState:
    """One cage after some block. Rules are keyed by (kind, 0x-hex key); windows by what they count.

    No batch runs before `settled_at` (unix seconds), because prices that had jumped were noted.
    """

    cage: str
    account: str
    base_asset: str
    rules: dict[RuleId, int] = field(default_factory=dict)
    rules_digest: str = NO_RULES
    pending: dict[RuleId, PendingChange] = field(default_factory=dict)
    assets: list[str] = field(default_factory=list)
    positions: list[str] = field(default_factory=list)
    sessions: dict[int, SessionState] = field(default_factory=dict)
    purses: dict[RuleId, PurseState] = field(default_factory=dict)
    windows: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    last_rebalance_at: int = 0
    is_halted: bool = False
    is_drawdown_breached: bool = False
    settled_at: int = 0

    # ---- reading -------------------------------------------------------------------------------------------------

    def rule(self, kind: RuleKind, key: bytes) -> int:
        return self.rules.get((int(kind), "0x" + key.hex()), 0)

    def limit(self, limit: Limit) -> int:
        return self.rule(RuleKind.LIMIT, limit_key(limit))

    def asset(self, token: str) -> AssetRule | None:
        """The asset's rule, None for what is neither approved nor retiring."""
        value = self.rule(RuleKind.ASSET, address_key(token))
        return AssetRule.unpack(value) if value else None

    def is_approved(self, token: str) -> bool:
        asset = self.asset(token)
        return asset is not None and asset.state is AssetState.APPROVED

    @property
    def session(self) -> SessionState:
        """The golem's own, of role 0."""
        return self.sessions.get(0, SessionState())

    @property
    def keys(self) -> dict[int, str]:
        """Whose each role is."""
        return {role: session.key for role, session in self.sessions.items()}

    def find_role(self, key: str) -> int | None:
        """The role whose key this is."""
        return next((role for role, session in sorted(self.sessions.items()) if session.key == key), None)

    def used(self, kind: RuleKind, key: bytes, *, now: int) -> int:
        """What was used of an allowance that refills and is not back by now (unix seconds)."""
        purse = self.purses.get((int(kind), "0x" + key.hex()), PurseState())
        refill = Refill.unpack(self.rule(kind, key))
        # A chain's clock may be ahead of the one asked by.
        elapsed = max(0, now - purse.at)
        periods = elapsed // refill.period_seconds if refill.period_seconds else 0
        return max(0, purse.used - periods * refill.back)

    def spent(self, what: str, *, now: int) -> int:
        """What counts in the window that ends now."""
        slot = now // SLOT_SECONDS
        return sum(amount for at, amount in self.windows.get(what, ()) if at + _SLOTS >= slot)

    # ---- following -----------------------------------------------------------------------------------------------

    def apply_event(self, event: CageEvent, *, block_time: int) -> None:
        """Become what the contract is after `event`, mined at `block_time` (unix seconds)."""
        told = read_cage_event(event)
        match told:
            case RuleChanged() | ChangeProposed() | ChangeCancelled() | AllowanceUsed():
                self._follow_rule(told)
            case Halted() | Resumed():
                self.is_halted = isinstance(told, Halted)
            case DrawdownBreached() | DrawdownAcknowledged():
                self.is_drawdown_breached = isinstance(told, DrawdownBreached)
            case PricesNoted():
                self.settled_at = told.settled_at
            case SessionSet():
                self.sessions[told.role] = SessionState(told.key, told.expires_at, told.operations, told.budget)
            case PayoutMade():
                self._charge(told.key, told.operations_left, told.budget_left)
            case OutflowCounted():
                self._count(told.asset, told.amount, block_time)
            case GasToppedUp():
                self._count(TOP_UPS, told.amount, block_time)
                left = self.session
                self._charge(told.key, left.operations_left - 1, left.budget_left)
            case BatchExecuted():
                self._follow_batch(told, block_time)

    def _follow_rule(self, told: RuleChanged | ChangeProposed | ChangeCancelled | AllowanceUsed) -> None:
        match told:
            case RuleChanged():
                self._change_rule(told)
            case ChangeProposed():
                self.pending[told.rule] = PendingChange(told.to, told.from_, told.ready_at, told.bundle)
            case ChangeCancelled():
                self.pending.pop(told.rule, None)
            case AllowanceUsed():
                self.purses[told.rule] = PurseState(told.used, told.at)

    def _change_rule(self, told: RuleChanged) -> None:
        rule, was, now = told.rule, told.from_, told.to
        self.pending.pop(rule, None)
        words = (bytes.fromhex(self.rules_digest[2:]), _word(told.kind), told.key, _word(now))
        self.rules_digest = "0x" + keccak(b"".join(words)).hex()
        if now:
            self.rules[rule] = now
        else:
            self.rules.pop(rule, None)
        if told.kind == RuleKind.ASSET:
            _keep_list(self.assets, key_address(told.key), was=bool(was), now=bool(now))
        elif told.kind == RuleKind.VALUER:
            _keep_list(self.positions, key_address(told.key), was=bool(was), now=bool(now))

    def _follow_batch(self, told: BatchExecuted, block_time: int) -> None:
        self._charge(told.key, told.operations_left, told.budget_left)
        if told.loss:
            self._count(LOSSES, told.loss, block_time)
        if told.batch_class in (BatchClass.REBALANCE, BatchClass.OPENING_AND_REBALANCE):
            self._count(REBALANCES, 1, block_time)
            self.last_rebalance_at = block_time

    def _charge(self, key: str, operations_left: int, budget_left: int) -> None:
        role = self.find_role(key)
        if role is not None:
            self.sessions[role] = replace(self.sessions[role], operations_left=operations_left, budget_left=budget_left)

    def _count(self, what: str, amount: int, block_time: int) -> None:
        slot = block_time // SLOT_SECONDS
        entries = [entry for entry in self.windows.get(what, []) if entry[0] + _SLOTS >= slot]
        if entries and entries[-1][0] == slot:
            entries[-1] = (slot, entries[-1][1] + amount)
        else:
            entries.append((slot, amount))
        self.windows[what] = entries

    # ---- keeping -------------------------------------------------------------------------------------------------

    def write_rules(self) -> list[list[object]]:
        """The rules as JSON, in order."""
        return [[kind, key, str(value)] for (kind, key), value in sorted(self.rules.items())]

    def write_pending(self) -> list[list[object]]:
        """What waits as JSON, in order."""
        return [
            [kind, key, str(change.value), str(change.base), change.ready_at, change.bundle]
            for (kind, key), change in sorted(self.pending.items())
        ]

    def as_dict(self) -> dict[str, object]:
        """JSON-ready; integers as decimal strings."""
        return {
            "cage": self.cage,
            "account": self.account,
            "base_asset": self.base_asset,
            "rules": self.write_rules(),
            "rules_digest": self.rules_digest,
            "pending": self.write_pending(),
            "assets": list(self.assets),
            "positions": list(self.positions),
            "session": _write_session(self.session),
            "roles": {str(role): _write_session(each) for role, each in sorted(self.sessions.items()) if role},
            "purses": [[kind, key, str(purse.used), purse.at] for (kind, key), purse in sorted(self.purses.items())],
            "windows": {
                what: [[slot, str(amount)] for slot, amount in entries]
                for what, entries in sorted(self.windows.items())
            },
            "last_rebalance_at": self.last_rebalance_at,
            "is_halted": self.is_halted,
            "is_drawdown_breached": self.is_drawdown_breached,
            "settled_at": self.settled_at,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, object]) -> CageState:
        """Read the state that `as_dict` wrote. Raises ValueError naming the field that is none of its type."""
        stored = read_stored(_StoredState, kept)
        return cls(
            cage=stored.cage,
            account=stored.account,
            base_asset=stored.base_asset,
            rules={(kind, key): value for kind, key, value in stored.rules},
            rules_digest=stored.rules_digest,
            pending={
                (kind, key): PendingChange(value, base, ready_at, *bundle or (0,))
                # Of a contract before version 4 no bundle is told.
                for kind, key, value, base, ready_at, *bundle in stored.pending
            },
            assets=stored.assets,
            positions=stored.positions,
            sessions={role: each.session for role, each in {0: stored.session, **stored.roles}.items()},
            purses={(kind, key): PurseState(used, at) for kind, key, used, at in stored.purses},
            windows=stored.windows,
            last_rebalance_at=stored.last_rebalance_at,
            is_halted=stored.is_halted,
            is_drawdown_breached=stored.is_drawdown_breached,
            settled_at=stored.settled_at,
        )


@dataclass(frozen=True, slots=True)
class _StoredSession:
    """A session as `_write_session` wrote it."""

    key: str
    expires_at: int
    operations_left: int
    budget_left_micro_usd: int

    @property
    def session(self) -> SessionState:
        """The same as a state has it."""
        return SessionState(self.key, self.expires_at, self.operations_left, self.budget_left_micro_usd)


@dataclass(frozen=True, slots=True)
class _StoredState:
    """A state as `as_dict` wrote it; what contracts of former versions do not tell has a default."""

    cage: str
    account: str
    base_asset: str
    rules: list[tuple[int, str, int]]
    pending: list[tuple[int, str, int, int, int] | tuple[int, str, int, int, int, int]]
    assets: list[str]
    positions: list[str]
    session: _StoredSession
    windows: dict[str, list[tuple[int, int]]]
    last_rebalance_at: int
    is_halted: bool
    is_drawdown_breached: bool
    rules_digest: str = NO_RULES
    roles: dict[int, _StoredSession] = field(default_factory=dict)
    """Of a contract before version 5 no role but the golem's own is told."""
    purses: list[tuple[int, str, int, int]] = field(default_factory=list)
    settled_at: int = 0
    """A contract before version 6 knows no prices that were noted."""


def _write_session(session: SessionState) -> dict[str, object]:
    return {
        "key": session.key,
        "expires_at": session.expires_at,
        "operations_left": session.operations_left,
        "budget_left_micro_usd": str(session.budget_left),
    }


def _keep_list(items: list[str], item: str, *, was: bool, now: bool) -> None:
    """The contract's own order: new ones at the end, the last one moves into a gap."""
    if was == now:
        return
    if now:
        items.append(item)
        return
    index = items.index(item)
    last = items.pop()
    if index < len(items):
        items[index] = last


def _word(value: int) -> bytes:
    return value.to_bytes(32, "big")
