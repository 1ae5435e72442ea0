"""Defines what a write tool returns: the exact calls, and what they must do to balances.

The same bytes are simulated at preview and signed at commit. `TokenFlow` bounds are what the permit
promises: at most this leaves, at least this arrives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.others_money import PrincipalFlow
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.positions import GaugeBound, PositionChange
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import ReceiptView, TokenMeta


@dataclass(frozen=True, slots=True)
class Call:
    """One contract call from the golem's account: `value` in wei, `data` ABI-encoded, `label` for people."""

    to: str
    data: bytes
    value: int
    label: str


@dataclass(frozen=True, slots=True)
class TokenFlow:
    """A promised movement in base units: `expected` as quoted, `bound` the worst that still passes.

    For a spend `bound` is the most that may leave; for a receipt it is the least that must arrive.
    """

    token: TokenMeta
    expected: int
    bound: int


@dataclass(frozen=True, slots=True)
class AllowanceLeft:
    """An allowance the plan leaves standing after it ran, in base units; zero when it is used up inside.

    `through` is the contract that keeps it where that is not the token, as Permit2 does: then the token's own allowance
    to that contract stands beside it, and what both let somebody take is counted there, once.
    """

    token: TokenMeta
    spender: str
    granted: int
    left: int
    through: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a call writes down at a contract without moving anything: `text` under the word `key`, about `subject`.

    It cannot be measured as money is, so whoever reads the bytes has to read the very same.
    """

    contract: str
    subject: str
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ItemGiven:
    """A token that is one of a kind, `token_id` of `contract`, which leaves the account for `recipient` by name, or
    comes back to it where `recipient` is the account.
    """

    contract: str
    token_id: int
    recipient: str


@dataclass(frozen=True, slots=True)
class AmountGiven:
    """So many, `raw`, of number `token_id` of a token that keeps many kinds under one `contract` (ERC-1155, ERC-6909):
    they leave the account for `recipient`, or come to it where `recipient` is the account.
    """

    contract: str
    token_id: int
    recipient: str
    raw: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a plan has arrive on another chain: at least `raw` base units of a token address there, paid by `protocol`
    to `recipient` until the Unix second `by`. Its own chain cannot measure it, so whoever reads the bytes has to read
    the very same.
    """

    protocol: str
    chain_id: int
    token: str
    raw: int
    recipient: str
    by: int


@dataclass(frozen=True, slots=True)
class TxPlan:
    """An immutable list of calls with its promises. `details` is JSON-ready text for the permit, amounts as strings.

    `collateral_ratio_bps` is collateral over debt after the plan, in basis points; a plan that borrows must state it.
    `changes` are what it changes in positions and `gauges` figures that no token tells; both are measured before and
    after in the same simulation, and a position that changes unannounced refuses the plan.
    `statements` are the texts that it writes down at contracts. `items` are the numbered tokens (NFTs) that it hands
    over, and `amounts` how many of one number: no others may leave.
    `arrivals` are what it has arrive on other chains of the golem; what was sent for it is under way until then.
    `hooks` are those of the pools it goes through: each is a stranger's code that runs with the plan.
    `promise` is typed data that is signed and not sent: such a plan has no calls, and its flows and changes say what
    comes of the promise when somebody carries it out whole, until its `deadline` in Unix seconds.
    `principals` are what it moves of others' money, under rights that the golem received.
    """

    chain_id: int
    calls: tuple[Call, ...]
    spends: tuple[TokenFlow, ...] = ()
    receives: tuple[TokenFlow, ...] = ()
    allowances: tuple[AllowanceLeft, ...] = ()
    action_class: ActionClass | None = None
    recipients: tuple[str, ...] = ()
    slippage_bps: int | None = None
    price_impact_bps: int | None = None
    deadline: int | None = None
    collateral_ratio_bps: int | None = None
    changes: tuple[PositionChange, ...] = ()
    gauges: tuple[GaugeBound, ...] = ()
    statements: tuple[Statement, ...] = ()
    items: tuple[ItemGiven, ...] = ()
    amounts: tuple[AmountGiven, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    hooks: tuple[PoolHooks, ...] = ()
    promise: TypedData | None = None
    principals: tuple[PrincipalFlow, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON, of the protocol's own shape

    @property
    def contracts(self) -> tuple[str, ...]:
        """Every address called or read by, of what is signed, in order, once."""
        readers = (self.promise.contract,) if self.promise is not None else ()
        return tuple(dict.fromkeys((*(call.to for call in self.calls), *readers)))

    @property
    def tokens(self) -> tuple[TokenMeta, ...]:
        """Every token whose balance or allowance the plan speaks of, once."""
        flows = [flow.token for flow in (*self.spends, *self.receives)]
        others = [*(each.token for each in self.principals), *(each.token for each in self.allowances)]
        return tuple({token.address: token for token in (*flows, *others)}.values())

    @property
    def claims(self) -> frozenset[str]:
        """Tokens that are themselves the name of a position the plan changes, as shares of a pair are."""
        return frozenset(change.ref.id for change in self.changes if change.ref is not None)

    def list_payees(self, account: str) -> tuple[tuple[str, str], ...]:
        """Whom else than `account` it pays, each with the address of a token; the chain's coin always arrives whole."""
        tokens = dict.fromkeys(flow.token.address for flow in self.spends if not flow.token.is_native)
        return tuple((to, token) for to in dict.fromkeys(self.recipients) if to != account for token in tokens)

    def list_others(self) -> tuple[tuple[str, str], ...]:
        """Whose money besides the account's own it moves, each with the address of a token."""
        return tuple(dict.fromkeys((flow.principal, flow.token.address) for flow in self.principals))


@dataclass(frozen=True, slots=True)
class LocalEffect:
    """What a write without a transaction would do, shown at preview: a sentence and JSON-ready details.

    `differences` are lines an owner reads: `words`, `before`, `after`, `note`. `bound` is JSON-ready and is what the
    effect rests on: the permit's hash covers it, and the write finds it in its capability, to refuse when it does not
    hold any more. `needs_owners`: it waits for an owner's approval.
    """

    summary: str
    details: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON, of the protocol's own shape
    differences: tuple[Mapping[str, str], ...] = ()
    bound: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON, of the protocol's own shape
    needs_owners: bool = False


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What really happened: the plan, its receipts in call order, and the golem's balance differences in base units.

    `deltas` maps token address to the difference, the chain's coin under `NATIVE` and without the fees paid.
    """

    plan: TxPlan
    account: str
    receipts: tuple[ReceiptView, ...]
    deltas: Mapping[str, int]
