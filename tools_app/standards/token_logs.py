"""Decodes logs of token contracts, the same for what is simulated and what was mined.

Whoever runs can emit any log, so a claim is read only in the exact shape of its standard: the right number of topics,
nothing above an address, data of exactly the words the event has. Everything else says nothing. A claim that is read is
still a claim: it leads to measuring and is never the measure. Rights over tokens have their place beside movements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.standards import erc20, erc721
from tools_app.toolkit.views import LogEntry

TRANSFER_SINGLE: Final = (
    "event TransferSingle(address indexed operator, address indexed from, address indexed to,"
    " uint256 id, uint256 value)"
)
TRANSFER_BATCH: Final = (
    "event TransferBatch(address indexed operator, address indexed from, address indexed to,"
    " uint256[] ids, uint256[] values)"
)
_TRANSFER: Final = event_topic(erc20.TRANSFER_EVENT)
_SINGLE: Final = event_topic(TRANSFER_SINGLE)
_BATCH: Final = event_topic(TRANSFER_BATCH)
_MOVING: Final = frozenset({_TRANSFER, _SINGLE, _BATCH})
_WORD: Final = 64
_MOST_DATA: Final = 2 * 65_536
"""Hex digits of the longest batch that is read."""


@dataclass(frozen=True, slots=True)
class _Single:
    from_: str
    to: str
    id: int
    value: int


@dataclass(frozen=True, slots=True)
class _Batch:
    from_: str
    to: str
    ids: tuple[int, ...]
    values: tuple[int, ...]


_ONE_OF_MANY: Final = AbiEvent(TRANSFER_SINGLE, _Single)
_SEVERAL_OF_MANY: Final = AbiEvent(TRANSFER_BATCH, _Batch)


@dataclass(frozen=True, slots=True)
class TokenMoved:
    """A movement as a log claims it: base units of `token`; an ERC-721 is 1 of its `token_id`.

    `is_of_many` is a token that keeps many kinds under one contract, whose `balanceOf(address)` tells nothing.
    """

    token: str
    sender: str
    recipient: str
    amount: int
    token_id: int | None = None
    is_of_many: bool = False


def read_transfers(log: LogEntry) -> tuple[TokenMoved, ...]:
    """The movements that `log` claims; none when it is another event or not in the exact shape of one. Never raises."""
    if not log.topics or any(len(topic) != 2 + _WORD for topic in log.topics):
        return ()
    topic, digits = log.topics[0].lower(), len(log.data.removeprefix("0x"))
    if topic == _TRANSFER:
        return _read_plain(log, digits)
    if topic == _SINGLE and digits == 2 * _WORD:
        moved = _ONE_OF_MANY.read(log)
        if moved is not None:
            return (TokenMoved(log.address, moved.from_, moved.to, moved.value, moved.id, True),)
    if topic == _BATCH and digits <= _MOST_DATA:
        many = _SEVERAL_OF_MANY.read(log)
        if many is not None and len(many.ids) == len(many.values):
            return tuple(
                TokenMoved(log.address, many.from_, many.to, amount, token_id, True)
                for token_id, amount in zip(many.ids, many.values, strict=True)
            )
    return ()


def is_garbled(log: LogEntry, account: str) -> bool:
    """Whether `log` has the topic of a movement and names `account`, but not in a shape that can be read."""
    if not log.topics or log.topics[0].lower() not in _MOVING or read_transfers(log):
        return False
    name = account.lower().removeprefix("0x")
    return any(topic.lower().endswith(name) for topic in log.topics[1:])


def _read_plain(log: LogEntry, digits: int) -> tuple[TokenMoved, ...]:
    """ERC-20 has three topics and one word, ERC-721 four topics and no data."""
    if digits == _WORD and len(log.topics) == 3:
        fungible = erc20.MOVED.read(log)
        if fungible is not None:
            return (TokenMoved(log.address, fungible.from_, fungible.to, fungible.value),)
    elif digits == 0 and len(log.topics) == 4:
        single = erc721.MOVED.read(log)
        if single is not None:
            return (TokenMoved(log.address, single.from_, single.to, 1, single.token_id),)
    return ()
