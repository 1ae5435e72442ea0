"""Asks contracts for rights over an account that no log tells, one by one.

What is asked: whom the protocol itself would have a right given to, and whom calls name that the account is known to
have made. A right that was given by other means to somebody else is not found: its contract lists nobody.

See docs/decisions/0272-rights-that-no-log-tells-are-read.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call
from tools_app.portfolio.standing_rights import StandingRight
from tools_app.standards.permit2_in_calldata import list_carriers, read_inner
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Gauge, PositionsUnreadable, drive
from tools_app.toolkit.protocol import SHELF, AskedRight, ProtocolDef


def list_asked_contracts(chain_id: int) -> tuple[str, ...]:
    """The contracts that know rights which no log tells, and those whose calls may hold a signature that gives one."""
    known = list(_list_asked(chain_id))
    carriers = list_carriers(chain_id) if any(right.is_signed_inside for _, right, _ in known) else ()
    return tuple(dict.fromkeys((*(contract for _, _, contract in known), *carriers)))


def find_asked_rights(
    *, chain: ChainReader, account: str, calls: Sequence[tuple[str, bytes]]
) -> tuple[StandingRight, ...]:
    """What stands at the pinned block, in the order of protocols. `calls` are contracts and data that `account` is
    known to have sent. Raises the node's errors and PositionsUnreadable.
    """
    found = []
    for protocol, right, contract in _list_asked(chain.chain_id):
        entry = protocol.address(chain.chain_id, protocol.entry)
        # Where its entry has no code the protocol is not there.
        if entry is None or not chain.code(entry):
            continue
        known = drive(right.known(chain.chain_id, account), chain.call_many)
        named = list(dict.fromkeys((*known, *_read_calls(right, contract, calls, chain.chain_id))))
        outcomes = chain.call_many([ReadCall(contract, *right.asks(account, each)) for each in named])
        for arguments, outcome in zip(named, outcomes, strict=True):
            if not outcome.ok:
                raise PositionsUnreadable(f"{protocol.label} does not tell whether a right stands")
            if int(outcome.values[0]):
                data = _encode_end(right, arguments)
                taker = checksum(arguments[right.taker])
                found.append(StandingRight(protocol.name, contract, taker, None, right.label, data))
    return tuple(found)


def gauge_given_rights(*, chain_id: int, account: str, calls: Iterable[tuple[str, bytes]]) -> tuple[Gauge, ...]:
    """How each right that `calls` of `account` give or take back is read, each once. Pure."""
    sent, found = tuple(calls), {}
    for protocol, right, contract in _list_asked(chain_id):
        for arguments in _read_calls(right, contract, sent, chain_id):
            name = f"{protocol.label}: who {right.label}"
            found[contract, right.gives, arguments] = Gauge(name, contract, *right.asks(account, arguments))
    return tuple(found.values())


def takes_back_an_asked_right(*, chain_id: int, contract: str, data: bytes) -> bool:
    """Whether call data for `contract` ends a right as the protocol says it is ended, and does nothing else. Pure."""
    return any(
        where == contract
        and (arguments := _decode(right.ends, data)) is not None
        and _encode_end(right, arguments) == data
        for _, right, where in _list_asked(chain_id)
    )


def _list_asked(chain_id: int) -> Iterator[tuple[ProtocolDef, AskedRight, str]]:
    for protocol in SHELF.on(chain_id):
        for right in protocol.asked_rights:
            contract = protocol.address(chain_id, right.key)
            if contract is not None:
                yield protocol, right, contract


def _read_calls(
    right: AskedRight, contract: str, calls: Iterable[tuple[str, bytes]], chain_id: int
) -> Iterator[tuple[object, ...]]:
    for to, data in calls:
        arguments = _decode(right.gives, data) if to == contract else None
        if arguments is not None:
            yield arguments
        elif right.is_signed_inside and to != contract:
            for permit in read_inner(chain_id, Call(to, data, 0, "")):
                yield from ((each.token, permit.spender, each.amount, each.until) for each in permit.gives)


def _encode_end(right: AskedRight, arguments: tuple[object, ...]) -> bytes:
    return encode_call(right.ends, *right.end(arguments))


def _decode(signature: str, data: bytes) -> tuple[Any, ...] | None:  # Any: values of the ABI's types
    try:
        return decode_input(signature, data)
    except AbiDecodeError:
        return None
