"""Finds rights over an account that protocols' own contracts still give: operators, delegated credit, managers.

They are told by logs, and only by logs; the last word about a taker counts. Only contracts that a protocol knows for
its own are believed: anybody can write a log that names an account. Only logs that name it where the giver stands are
asked for: anybody can give it rights, without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call, event_topic
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.signatures import parse_signature
from tools_app.simulation.rights import read_words
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef, RightEvent
from tools_app.toolkit.views import LogEntry, LogQuery

MOST_RANGES: Final = 50
"""So many ranges of blocks, as wide as a node gives logs for, are searched backwards from the head."""
NOBODY: Final = "0x" + "0" * 40
_ADDRESS: Final = (1 << 160) - 1
Topics: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class StandingRight:
    """What `taker` may do by `contract`, over one token or (None) the whole account, and the `data` that ends it."""

    protocol: str
    contract: str
    taker: str
    token: str | None
    label: str
    data: bytes


@dataclass(frozen=True, slots=True)
class RightsFound:
    """The rights, in the order of contracts and takers, and the first block that was looked at."""

    rights: tuple[StandingRight, ...]
    since_block: int


def find_standing_rights(*, chain: ChainReader, account: str) -> RightsFound:
    """What is given and was not taken back. Raises the node's errors and PositionsUnreadable."""
    head, size = chain.block.number, KNOWN_NETWORKS[chain.chain_id].max_log_range
    lowest = max(0, head - size * MOST_RANGES + 1)
    found: dict[tuple[str, str, str | None, str], StandingRight | None] = {}
    told = [
        (protocol, event, _filters(event, contracts, account)) for protocol, event, contracts in _list_events(chain)
    ]
    ranges = [(start, min(start + size - 1, head)) for start in range(lowest, head + 1, size)]
    # One round trip for a range, whatever is looked for in it.
    for start, end in ranges:
        chain.preload_logs([LogQuery(*each, start, end) for _, _, filters in told for each in filters])
    for protocol, event, filters in told:
        for log in _read_logs(chain, filters, ranges):
            right, is_given = _read(log, protocol, event, account)
            if right is not None:
                key = (right.contract, "" if event.amount is None else right.taker, right.token, event.signature)
                found[key] = right if is_given else None
    standing = sorted(
        (right for right in found.values() if right is not None),
        key=lambda right: (right.contract, right.taker, right.token or ""),
    )
    return RightsFound(tuple(standing), lowest)


def takes_back_a_right(*, chain_id: int, contract: str, data: bytes) -> bool:
    """Whether call data for `contract` ends a right as the protocol says it is ended, and does nothing else. Pure."""
    for protocol in SHELF.on(chain_id):
        for event in protocol.rights:
            is_told_here = contract in _list_own(protocol, event, chain_id) or event.tellers is not None
            if is_told_here and _ends(event, contract, data):
                return True
    return False


def _ends(event: RightEvent, contract: str, data: bytes) -> bool:
    signature, _ = event.revoke(contract, NOBODY, "0")
    try:
        arguments = decode_input(signature, data)
    except AbiDecodeError:
        return False
    takers = [NOBODY, *(checksum(each) for each in arguments if isinstance(each, str))]
    tokens = [None, "0", *(str(each) for each in arguments if isinstance(each, int))]
    return any(
        encode_call(*_flat(event.revoke(contract, taker, token))) == data for taker in takers for token in tokens
    )


def _flat(call: tuple[str, tuple[object, ...]]) -> tuple[Any, ...]:  # Any: values of the ABI's types
    signature, arguments = call
    return signature, *arguments


def _list_events(chain: ChainReader) -> Iterator[tuple[ProtocolDef, RightEvent, tuple[str, ...]]]:
    known = [(each, each.address(chain.chain_id, each.entry)) for each in SHELF.on(chain.chain_id) if each.rights]
    chain.preload(contracts=[entry for _, entry in known if entry is not None])
    for protocol, entry in known:
        # Where its entry has no code the protocol is not there.
        if entry is None or not chain.code(entry):
            continue
        for event in protocol.rights:
            own = _list_own(protocol, event, chain.chain_id)
            more = drive(event.tellers(chain.chain_id), chain.call_many) if event.tellers is not None else ()
            yield protocol, event, tuple(dict.fromkeys((*own, *map(checksum, more))))


def _list_own(protocol: ProtocolDef, event: RightEvent, chain_id: int) -> tuple[str, ...]:
    """The protocol's contracts that tell the event."""
    place = protocol.deployments(chain_id) or {}
    return tuple(address for key, address in place.items() if not event.keys or key in event.keys)


def _filters(event: RightEvent, contracts: tuple[str, ...], account: str) -> list[tuple[tuple[str, ...], Topics]]:
    """The event by these contracts with the account where the giver stands."""
    text = "event " + event.signature.removeprefix("event ")
    topic, named = event_topic(text), "0x" + account[2:].lower().rjust(64, "0")
    return [(contracts, (topic, *([None] * place), named)) for place in _list_places(text, event.giver)]


def _list_places(text: str, giver: int) -> range:
    """Which topics may hold the giver: as many indexed arguments stand before it, where the event says which are."""
    indexed = [each.is_indexed for each in parse_signature(text).inputs]
    before = sum(indexed[:giver])
    return range(before, before + 1) if any(indexed) else range(giver + 1)


def _read_logs(
    chain: ChainReader, filters: list[tuple[tuple[str, ...], Topics]], ranges: list[tuple[int, int]]
) -> list[LogEntry]:
    """In the order of the chain, each once."""
    logs = {
        (log.block_number, log.log_index): log
        for start, end in ranges
        for contracts, topics in filters
        for log in chain.logs(address=contracts, topics=list(topics), from_block=start, to_block=end)
    }
    return [logs[key] for key in sorted(logs)]


def _read(log: LogEntry, protocol: ProtocolDef, event: RightEvent, account: str) -> tuple[StandingRight | None, bool]:
    for words in read_words(log, event.signature.count(",") + 1):
        if words[event.giver] & _ADDRESS != int(account, 16):
            continue
        taker = checksum(f"0x{words[event.taker] & _ADDRESS:040x}")
        token = None if event.token is None else str(words[event.token])
        data = encode_call(*_flat(event.revoke(log.address, taker, token)))
        right = StandingRight(protocol.name, log.address, taker, token, event.label, data)
        return right, taker != NOBODY and (event.amount is None or bool(words[event.amount]))
    return None, False
