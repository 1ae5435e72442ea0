"""Defines a simulation's question and answer, whichever engine runs it.

An engine that cannot run says so with an error; it never answers success. The result is a value: for one block and
one request it is always the same, so its `as_dict()` can be hashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Gauge, Position, PositionQuestion
from tools_app.toolkit.views import BlockRef, LogEntry


class SimulationUnavailable(
    GolemError,
    code="REVM_FORK_FAILED",
    status=503,
    recovery=Recovery.WAIT,
    title="The action could not be simulated",
    cleared_by="an engine can run the calls again",
):
    """No engine could run the calls. Nothing is known about what they would do."""


class SimulationTimeout(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The simulation did not finish in time",
    cleared_by="an engine that is less busy",
):
    """The engine did not finish in time. Nothing is known about what the calls would do."""


@dataclass(frozen=True, slots=True)
class _KeptTerms:
    gas_limits: tuple[int, ...]
    base_fee: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int


@dataclass(frozen=True, slots=True)
class SigningTerms:
    """What the transactions are signed with, so that a contract sees in a simulation what it will see when it is mined.

    Gas in units by call; prices in wei per gas. A cap of zero is a sender who pays for no gas itself. `randomness` is
    32 bytes for the block that nobody could know before: none at all, or the parent's, would tell a simulation.
    """

    gas_limits: tuple[int, ...]
    base_fee: int = 0
    max_fee_per_gas: int = 0
    max_priority_fee_per_gas: int = 0
    randomness: bytes = b""

    @property
    def pays(self) -> bool:
        """Whether the sender pays for gas."""
        return self.max_fee_per_gas > 0

    @property
    def gas_price(self) -> int:
        """What a unit of gas costs the sender in that block."""
        return min(self.max_fee_per_gas, self.base_fee + self.max_priority_fee_per_gas)

    def as_dict(self) -> JsonObject:
        """JSON-ready, integers as decimal strings."""
        return {
            "gas_limits": [str(limit) for limit in self.gas_limits],
            "base_fee": str(self.base_fee),
            "max_fee_per_gas": str(self.max_fee_per_gas),
            "max_priority_fee_per_gas": str(self.max_priority_fee_per_gas),
        }

    @classmethod
    def of_dict(
        cls,
        kept: Mapping[str, Any],  # Any: JSON, as nodes tell it
        *,
        randomness: bytes = b"",
    ) -> SigningTerms:
        """What `as_dict` kept; the randomness is not kept."""
        told = read_stored(_KeptTerms, kept)
        return cls(
            gas_limits=told.gas_limits,
            base_fee=told.base_fee,
            max_fee_per_gas=told.max_fee_per_gas,
            max_priority_fee_per_gas=told.max_priority_fee_per_gas,
            randomness=randomness,
        )


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """Calls to run in order, each as a transaction of `sender`, on the state after `block` (None: the newest).

    `watch` holds (account, token address) pairs, the chain's coin under NATIVE; `allowances` (token, owner, spender).
    `timestamp` is the simulated block's time in seconds; None means the usual block time after its parent.
    `acts_for` is the account whose tokens and rights are looked at when it is another one, which the calls act for.
    `wants_state_diff` is for a result that must tell the whole state difference, also where that takes longer.
    `positions` and `gauges` are asked of the simulated block before and after the calls.
    `terms` is how the calls are signed. Without them each call has the gas of a block and nobody pays: that tells what
    they need and is no promise.
    """

    chain_id: int
    sender: str
    calls: tuple[Call, ...]
    watch: tuple[tuple[str, str], ...] = ()
    allowances: tuple[tuple[str, str, str], ...] = ()
    block: BlockRef | None = None
    timestamp: int | None = None
    acts_for: str | None = None
    wants_state_diff: bool = False
    terms: SigningTerms | None = None
    positions: PositionQuestion | None = None
    gauges: tuple[Gauge, ...] = ()

    @property
    def account(self) -> str:
        """Whose tokens and rights are looked at."""
        return self.acts_for or self.sender


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What one call did. `gas_used` is what its receipt will say; logs of a reverted call are empty.

    `gas_before_refunds` is what the gas limit must cover at least, None from an engine that cannot know it.
    """

    succeeded: bool
    output: bytes
    gas_used: int
    logs: tuple[LogEntry, ...]
    revert_reason: str | None = None
    error_name: str | None = None
    gas_before_refunds: int | None = None


@dataclass(frozen=True, slots=True)
class AccountDiff:
    """How one account differs after the calls: (before, after) of what changed, None for what did not."""

    address: str
    nonce: tuple[int, int] | None = None
    balance: tuple[int, int] | None = None
    code_hash: tuple[str, str] | None = None
    storage: tuple[tuple[int, int, int], ...] = ()

    def as_dict(self) -> JsonObject:
        """JSON-ready: integers as decimal strings, slots and their values as hex words."""
        shown: dict[str, object] = {"address": self.address}
        if self.nonce is not None:
            shown["nonce"] = [str(value) for value in self.nonce]
        if self.balance is not None:
            shown["balance"] = [str(value) for value in self.balance]
        if self.code_hash is not None:
            shown["code_hash"] = list(self.code_hash)
        if self.storage:
            shown["storage"] = [[f"0x{part:064x}" for part in change] for change in self.storage]
        return shown


@dataclass(frozen=True, slots=True)
class StateDiff:
    """Everything the calls changed, fees not counted; and the contracts they left behind. Both by address."""

    accounts: tuple[AccountDiff, ...]
    created: tuple[str, ...] = ()

    def as_dict(self) -> JsonObject:
        """JSON-ready, in an order that depends on nothing but the content."""
        return {"accounts": [account.as_dict() for account in self.accounts], "created": list(self.created)}


@dataclass(frozen=True, slots=True)
class TransferSeen:
    """A token movement that touches the account. `amount` is in base units; an ERC-721 is 1 of its `token_id`."""

    call_index: int
    token: str
    sender: str
    recipient: str
    amount: int
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class ApprovalSeen:
    """A right the account gave away, held by `contract` (the token itself, or Permit2).

    `amount` -1 means everything of that contract; an ERC-721 right over one token carries its id.
    """

    call_index: int
    contract: str
    token: str
    spender: str
    amount: int
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The outcome. Amounts are base units; `deltas` are the account's by token address, the coin's without fees.

    `unexpected_transfers` and `unexpected_approvals` are those the request did not speak of; their tokens are
    measured too, where they answer. `state_diff` is None where nobody asked and the engine does not know it anyway.
    `positions_*` and `gauges_*` are what the request asked for, None and empty where it did not.
    `terms` is what it ran with; `undecided` is what contracts asked for that only mining decides, as (what, contract),
    from an engine that sees it. `ran` is every (account, whose code ran there) of the calls, by such an engine too; it
    is no part of what a permit shows, which binds the code itself.
    """

    engine: str
    fidelity: str
    block: BlockRef
    sender: str
    calls: tuple[CallOutcome, ...]
    balances_before: Mapping[tuple[str, str], int]
    balances_after: Mapping[tuple[str, str], int]
    allowances_before: Mapping[tuple[str, str, str], int]
    allowances_after: Mapping[tuple[str, str, str], int]
    unexpected_transfers: tuple[TransferSeen, ...] = ()
    unexpected_approvals: tuple[ApprovalSeen, ...] = ()
    state_diff: StateDiff | None = None
    acts_for: str | None = None
    terms: SigningTerms | None = None
    undecided: tuple[tuple[str, str], ...] = ()
    ran: tuple[tuple[str, str], ...] = ()
    positions_before: tuple[Position, ...] | None = None
    positions_after: tuple[Position, ...] | None = None
    gauges_before: tuple[int, ...] = ()
    gauges_after: tuple[int, ...] = ()

    @property
    def account(self) -> str:
        """Whose tokens and rights were looked at."""
        return self.acts_for or self.sender

    @property
    def is_told_by_two(self) -> bool:
        """Whether two engines ran it and agreed."""
        return "+" in self.engine

    @property
    def succeeded(self) -> bool:
        """Whether every call succeeded; false for no calls at all."""
        return bool(self.calls) and all(call.succeeded for call in self.calls)

    @property
    def gas_used(self) -> int:
        """Gas of all calls together."""
        return sum(call.gas_used for call in self.calls)

    @property
    def deltas(self) -> Mapping[str, int]:
        """What the account gains or loses, by token address."""
        return {
            token: self.balances_after[account, token] - before
            for (account, token), before in self.balances_before.items()
            if account == self.account
        }

    @property
    def failure(self) -> str | None:
        """The first revert in one line, or None."""
        for index, call in enumerate(self.calls):
            if not call.succeeded:
                return f"call {index + 1} of {len(self.calls)} reverted: {call.revert_reason}"
        return None

    def delta_of(self, account: str, token: str) -> int:
        """The difference of one watched balance. Raises KeyError when it was not watched."""
        return self.balances_after[account, token] - self.balances_before[account, token]

    def as_dict(self) -> JsonObject:
        """JSON-ready, integers as decimal strings, in an order that depends on nothing but the content."""
        return {
            "engine": self.engine,
            "fidelity": self.fidelity,
            "block": {
                "number": str(self.block.number),
                "hash": self.block.hash,
                "timestamp": str(self.block.timestamp),
                "base_fee": str(self.block.base_fee),
            },
            "sender": self.sender,
            **({} if self.acts_for is None else {"acts_for": self.acts_for}),
            "succeeded": self.succeeded,
            "calls": [_call_as_dict(call) for call in self.calls],
            "balances": [
                {
                    "account": account,
                    "token": token,
                    "before": str(before),
                    "after": str(self.balances_after[account, token]),
                }
                for (account, token), before in sorted(self.balances_before.items())
            ],
            "allowances": [
                {
                    "token": token,
                    "owner": owner,
                    "spender": spender,
                    "before": str(before),
                    "after": str(self.allowances_after[token, owner, spender]),
                }
                for (token, owner, spender), before in sorted(self.allowances_before.items())
            ],
            "unexpected_transfers": [
                {
                    "call_index": str(seen.call_index),
                    "token": seen.token,
                    "sender": seen.sender,
                    "recipient": seen.recipient,
                    "amount": str(seen.amount),
                    "token_id": None if seen.token_id is None else str(seen.token_id),
                }
                for seen in self.unexpected_transfers
            ],
            "unexpected_approvals": [
                {
                    "call_index": str(seen.call_index),
                    "contract": seen.contract,
                    "token": seen.token,
                    "spender": seen.spender,
                    "amount": str(seen.amount),
                    "token_id": None if seen.token_id is None else str(seen.token_id),
                }
                for seen in self.unexpected_approvals
            ],
            **({} if self.state_diff is None else {"state_diff": self.state_diff.as_dict()}),
            **({} if self.terms is None else {"signed_with": self.terms.as_dict()}),
            **({} if not self.undecided else {"undecided": [list(pair) for pair in self.undecided]}),
            **({} if not self.positions_before and not self.positions_after else {"positions": self._list_positions()}),
            **(
                {}
                if not self.gauges_before
                else {"gauges": [[str(a), str(b)] for a, b in zip(self.gauges_before, self.gauges_after, strict=True)]}
            ),
        }

    def _list_positions(self) -> list[dict[str, object]]:
        before = {str(position.ref): position for position in self.positions_before or ()}
        after = {str(position.ref): position for position in self.positions_after or ()}
        return [
            {
                "ref": ref,
                "label": (after.get(ref) or before[ref]).label,
                "before": _position_as_dict(before.get(ref)),
                "after": _position_as_dict(after.get(ref)),
            }
            for ref in sorted({*before, *after})
        ]


class SimulationEngine(Protocol):
    """Runs a request. Raises SimulationUnavailable, SimulationTimeout, and InsufficientFunds for a value nobody has."""

    def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult: ...


def _position_as_dict(position: Position | None) -> dict[str, object] | None:
    if position is None:
        return None
    return {
        "legs": [{"token": leg.token, "raw": str(leg.raw)} for leg in position.legs],
        "health_bps": None if position.health_bps is None else str(position.health_bps),
        **({"claim_tokens": sorted(position.claim_tokens)} if position.claim_tokens else {}),
        **(
            {"uncounted": [{"token": each.token, "raw": str(each.raw)} for each in position.uncounted]}
            if position.uncounted
            else {}
        ),
    }


def _call_as_dict(call: CallOutcome) -> dict[str, object]:
    return {
        "succeeded": call.succeeded,
        "output": "0x" + call.output.hex(),
        "gas_used": str(call.gas_used),
        **({} if call.gas_before_refunds is None else {"gas_before_refunds": str(call.gas_before_refunds)}),
        "revert_reason": call.revert_reason,
        "logs": [{"address": log.address, "topics": list(log.topics), "data": log.data} for log in call.logs],
    }
