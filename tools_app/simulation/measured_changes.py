"""Measures balances and positions before and after the calls, for every engine, and builds the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.abi import AbiDecodeError, checksum, decode_output, encode_call
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.simulation.engine import CallOutcome, SimulationRequest, SimulationResult, StateDiff
from tools_app.simulation.side_effects import find_approvals, find_transfers
from tools_app.standards.erc20 import ALLOWANCE, BALANCE_OF
from tools_app.toolkit.views import NATIVE, BlockRef

READ_FROM: Final = "0x0000000000000000000000000000000000000000"
READ_GAS: Final = 1_000_000
ASK_GAS: Final = 5_000_000
"""For one read of a position: a protocol adds up an account over all its markets in it."""
# What is beyond this stays in the result as unexpected, unmeasured.
_MOST_UNMEASURED: Final = 32


@dataclass(frozen=True, slots=True)
class Read:
    """One value measured before and after: a balance (account, token) or an allowance (token, owner, spender).

    The coin's balance has no `signature`; `to` is then the account itself.
    """

    key: tuple[str, ...]
    signature: str | None
    to: str
    data: bytes
    is_requested: bool


def normalise(request: SimulationRequest, block: BlockRef) -> SimulationRequest:
    """The same request with every address in its checksummed form, as logs give them."""
    return replace(
        request,
        block=block,
        sender=checksum(request.sender),
        acts_for=checksum(request.acts_for) if request.acts_for else None,
        watch=tuple((checksum(account), checksum(token)) for account, token in request.watch),
        allowances=tuple(
            (checksum(token), checksum(owner), checksum(spender)) for token, owner, spender in request.allowances
        ),
    )


def list_reads(request: SimulationRequest, extra: Iterable[tuple[str, ...]]) -> list[Read]:
    """What a normalised request asks to measure, each once, and then `extra`."""
    asked = dict.fromkeys((*request.watch, *request.allowances))
    reads = [_read(key, is_requested=True) for key in asked]
    return reads + [_read(key, is_requested=False) for key in extra]


def value_of(read: Read, *, succeeded: bool, output: bytes) -> int | None:
    """The measured value; None where a token nobody asked about does not answer. Raises ContractOutputUnexpected."""
    if succeeded:
        try:
            if read.signature is None:
                return int.from_bytes(output, "big")
            return int(decode_output(read.signature, output)[0])
        except AbiDecodeError:
            pass
    if not read.is_requested:
        return None
    raise ContractOutputUnexpected(
        f"{read.to} does not tell {'balances' if len(read.key) == 2 else 'allowances'} like an ERC-20",
        address=read.to,
    )


def build_result(
    *,
    engine: str,
    fidelity: str,
    request: SimulationRequest,
    block: BlockRef,
    calls: tuple[CallOutcome, ...],
    reads: Sequence[Read],
    before: Sequence[int | None],
    after: Sequence[int | None],
    state_diff: StateDiff | None = None,
    undecided: tuple[tuple[str, str], ...] = (),
    ran: tuple[tuple[str, str], ...] = (),
) -> SimulationResult:
    """The result of a normalised request; `before` and `after` are the values of `reads`, in their order.

    `after` is as it was read, so what the sender paid for gas is put back: a result counts no fees.
    """
    first: dict[tuple[str, ...], int] = {}
    last: dict[tuple[str, ...], int] = {}
    price = request.terms.gas_price if request.terms is not None else 0
    fees = sum(call.gas_used for call in calls) * price
    for read, old, new in zip(reads, before, after, strict=True):
        if old is not None and new is not None:
            paid = fees if read.signature is None and read.to == request.sender else 0
            first[read.key], last[read.key] = old, new + paid
    return SimulationResult(
        engine=engine,
        fidelity=fidelity,
        block=block,
        sender=request.sender,
        acts_for=request.acts_for,
        calls=calls,
        balances_before={(key[0], key[1]): value for key, value in first.items() if len(key) == 2},
        balances_after={(key[0], key[1]): value for key, value in last.items() if len(key) == 2},
        allowances_before={(key[0], key[1], key[2]): value for key, value in first.items() if len(key) == 3},
        allowances_after={(key[0], key[1], key[2]): value for key, value in last.items() if len(key) == 3},
        unexpected_transfers=find_transfers(calls, request),
        unexpected_approvals=find_approvals(calls, request),
        state_diff=state_diff,
        terms=request.terms,
        undecided=undecided,
        ran=ran,
    )


def find_unmeasured(request: SimulationRequest, calls: Sequence[CallOutcome]) -> tuple[tuple[str, ...], ...]:
    """What moved or was approved without being watched: balances and allowances to measure as well."""
    balances: list[tuple[str, ...]] = [(request.account, seen.token) for seen in find_transfers(calls, request)]
    allowances: list[tuple[str, ...]] = [
        (seen.token, request.account, seen.spender)
        for seen in find_approvals(calls, request)
        if seen.contract == seen.token and seen.token_id is None and seen.amount >= 0
    ]
    return tuple(dict.fromkeys((*balances, *allowances)))[:_MOST_UNMEASURED]


def _read(key: tuple[str, ...], *, is_requested: bool) -> Read:
    if len(key) == 3:
        token, owner, spender = key
        return Read(key, ALLOWANCE, token, encode_call(ALLOWANCE, owner, spender), is_requested)
    account, token = key
    if token == NATIVE:
        return Read(key, None, account, b"", is_requested)
    return Read(key, BALANCE_OF, token, encode_call(BALANCE_OF, account), is_requested)
