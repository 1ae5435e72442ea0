"""Reads the whole state difference of a plan from the node, in one round trip for each call.

`eth_simulateV1` answers no state, so each call is traced on the pinned block with what the calls before it changed laid
over it. What the trace did must be what was simulated, and what it found before must be what it was told to lay there:
a node that cannot do either is no source of a state difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from eth_utils.crypto import keccak
from pydantic import Field

from tools_app.chain.abi import checksum
from tools_app.chain.node_errors import RpcNonsense
from tools_app.chain.rpc import RpcRequest, parse_bytes, parse_quantity
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.stored_json import read_stored
from tools_app.simulation.engine import AccountDiff, CallOutcome, SigningTerms, StateDiff
from tools_app.simulation.prestate import TRACER, ToldAccount, parse_accounts, parse_sized

_NOTHING: Final = ToldAccount(None, None, None, {})
_DELEGATION: Final = bytes.fromhex("ef0100")


@dataclass(slots=True)
class _Known:
    nonce: int
    balance: int
    code: bytes
    storage: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ToldChanges:
    """What a call changed, as a node tells it, before anything of it is checked."""

    pre: object = None
    post: object = None


@dataclass(frozen=True, slots=True)
class _ToldFrame:
    """A call's first frame, likewise."""

    error: object = None
    output: object = None
    gas_used: Annotated[object, Field(alias="gasUsed")] = None


class _Changes:
    """What was before the first call and what is after the last, of everything any call changed."""

    def __init__(self) -> None:
        self._first: dict[bytes, _Known] = {}
        self._last: dict[bytes, _Known] = {}

    def add(self, pre: Mapping[bytes, ToldAccount], post: Mapping[bytes, ToldAccount]) -> None:
        """One call's changes. Raises RpcNonsense when it did not begin where the one before it ended."""
        for address in {**pre, **post}:
            was, now = pre.get(address, _NOTHING), post.get(address)
            old = _Known(was.nonce or 0, was.balance or 0, was.code or b"")
            first = self._first.setdefault(address, old)
            last = self._last.setdefault(address, _Known(old.nonce, old.balance, old.code))
            if (last.nonce, last.balance, last.code) != (old.nonce, old.balance, old.code):
                raise RpcNonsense("The node traced a call without what the calls before it changed")
            if now is None:
                # Gone: made and destroyed in one transaction, or left with nothing.
                last.nonce, last.balance, last.code = 0, 0, b""
                now = _NOTHING
            last.nonce = last.nonce if now.nonce is None else now.nonce
            last.balance = last.balance if now.balance is None else now.balance
            last.code = last.code if now.code is None else now.code
            for slot in {**was.storage, **now.storage}:
                before = was.storage.get(slot, 0)
                first.storage.setdefault(slot, before)
                if last.storage.get(slot, before) != before:
                    raise RpcNonsense("The node traced a call without what the calls before it changed")
                last.storage[slot] = now.storage.get(slot, 0)

    def as_overrides(self) -> dict[str, object]:
        """For the next call's trace."""
        return {
            "0x" + address.hex(): {
                "nonce": hex(last.nonce),
                "balance": hex(last.balance),
                **({} if last.code == self._first[address].code else {"code": "0x" + last.code.hex()}),
                "stateDiff": {f"0x{slot:064x}": f"0x{word:064x}" for slot, word in last.storage.items()},
            }
            for address, last in self._last.items()
        }

    def refund(self, *, sender: bytes, miner: bytes, fees: int, tips: int) -> None:
        """Put back what was paid for gas, in wei, so that a difference counts no fees.

        Raises RpcNonsense when the miner got nothing, so that the calls did not run with the fees.
        """
        if sender not in self._last or (tips and miner not in self._last):
            raise RpcNonsense("The node traced the calls without the fees they are signed with")
        self._last[sender].balance += fees
        if tips:
            self._last[miner].balance -= tips

    def as_diff(self) -> StateDiff:
        """What differs in the end, by address."""
        accounts, created = [], []
        for address, last in sorted(self._last.items()):
            first = self._first[address]
            told = AccountDiff(
                address=checksum("0x" + address.hex()),
                nonce=_differing(first.nonce, last.nonce),
                balance=_differing(first.balance, last.balance),
                code_hash=None if first.code == last.code else (_hash_of(first.code), _hash_of(last.code)),
                storage=tuple(
                    (slot, first.storage[slot], word)
                    for slot, word in sorted(last.storage.items())
                    if first.storage[slot] != word
                ),
            )
            if told.nonce or told.balance or told.code_hash or told.storage:
                accounts.append(told)
            if last.code and not first.code and not last.code.startswith(_DELEGATION):
                created.append(told.address)
        return StateDiff(tuple(accounts), tuple(created))


def read_state_diff(
    pool: RpcPool,
    *,
    calls: Sequence[Mapping[str, str]],
    outcomes: Sequence[CallOutcome],
    terms: SigningTerms | None,
    block_hash: str,
    block_overrides: Mapping[str, str],
    deadline: Deadline,
) -> StateDiff:
    """What `calls`, as nodes take them, change after the block, where they do what `outcomes` say; fees not counted.

    Raises RpcNonsense, RpcMethodMissing for a node without `debug_traceCall`, and what a node raises.
    """
    changes = _Changes()
    miner: bytes | None = None
    pays = terms is not None and terms.pays
    for call, outcome in zip(calls, outcomes, strict=True):
        laid_over = {"blockOverrides": dict(block_overrides), "stateOverrides": changes.as_overrides()}
        # The frames below the first may be a thousand deep, more than an answer can be read.
        tracers = (
            {"tracer": TRACER, "tracerConfig": {"diffMode": True}},
            {"tracer": "callTracer", "tracerConfig": {"onlyTopCall": True}},
        )
        replies = pool.send(
            [
                *(
                    RpcRequest("debug_traceCall", (dict(call), {"blockHash": block_hash}, {**tracer, **laid_over}))
                    for tracer in tracers
                ),
                *([RpcRequest("eth_getBlockByHash", (block_hash, False))] if pays and miner is None else []),
            ],
            deadline=deadline,
        )
        changed, frame = (reply.unwrap() for reply in replies[:2])
        if len(replies) > 2:
            miner = _miner_of(replies[2].unwrap())
        if not isinstance(changed, dict) or not isinstance(frame, dict):
            raise RpcNonsense("The node answered something that is no trace")
        _check_same(read_stored(_ToldFrame, frame), outcome)
        told = read_stored(_ToldChanges, changed)
        changes.add(parse_accounts(told.pre), parse_accounts(told.post))
    if terms is not None and miner is not None:
        gas = sum(outcome.gas_used for outcome in outcomes)
        changes.refund(
            sender=parse_sized(calls[0]["from"], 20),
            miner=miner,
            fees=gas * terms.gas_price,
            tips=gas * (terms.gas_price - terms.base_fee),
        )
    return changes.as_diff()


def _miner_of(block: object) -> bytes:
    """Whom simulated blocks pay their tips: the miner of the one they follow. Raises RpcNonsense."""
    if not isinstance(block, dict):
        raise RpcNonsense("The node answered something that is no block")
    return parse_sized(block.get("miner"), 20)


def _check_same(frame: _ToldFrame, outcome: CallOutcome) -> None:
    """A failed call's gas may be all it was given, which a trace gives otherwise than a block."""
    is_same = outcome.succeeded is not bool(frame.error)
    if is_same and outcome.succeeded:
        output = parse_bytes(frame.output or "0x")
        is_same = parse_quantity(frame.gas_used) == outcome.gas_used and output == outcome.output
    if not is_same:
        raise RpcNonsense("The node's trace of a call did something else than its simulation did")


def _differing(before: int, after: int) -> tuple[int, int] | None:
    return None if before == after else (before, after)


def _hash_of(code: bytes) -> str:
    return "0x" + bytes(keccak(code)).hex()
