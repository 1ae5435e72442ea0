"""Every right over an account's assets that a contract tells of: allowances, operators, delegated credit, modules.

A right is told by an event; contracts index its arguments as they like, so every way to read a log that fits its event
is tried, and one that makes the account the giver counts. Too many rights seen refuse a plan, one not seen is money.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final

from tools_app.chain.abi import checksum, event_topic
from tools_app.chain.signatures import parse_signature
from tools_app.simulation.engine import ApprovalSeen, TransferSeen
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import LogEntry

EVERYTHING: Final = -1
_ADDRESS: Final = (1 << 160) - 1
_WORD: Final = 64
# Logs carry at most so many words as the events below have arguments; what follows them is nothing of ours.
_MOST_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class EventOfRight:
    """Where an event names giver, taker, and amount, asset and item where it has them; arguments counted from 0.

    `amount` None gives everything; an amount of zero, or false, takes the right back.
    """

    signature: str
    giver: int
    taker: int
    amount: int | None = None
    asset: int | None = None
    item: int | None = None

    @property
    def size(self) -> int:
        return self.signature.count(",") + 1


RIGHTS: Final[tuple[EventOfRight, ...]] = (
    # ERC-20 and ERC-721, whose last argument is an amount or an item
    EventOfRight("Approval(address,address,uint256)", giver=0, taker=1, amount=2),
    # ERC-721 and ERC-1155
    EventOfRight("ApprovalForAll(address,address,bool)", giver=0, taker=1, amount=2),
    # ERC-6909
    EventOfRight("Approval(address,address,uint256,uint256)", giver=0, taker=1, item=2, amount=3),
    EventOfRight("OperatorSet(address,address,bool)", giver=0, taker=1, amount=2),
    # ERC-777
    EventOfRight("AuthorizedOperator(address,address)", giver=1, taker=0),
    # Permit2
    EventOfRight("Approval(address,address,address,uint160,uint48)", giver=0, asset=1, taker=2, amount=3),
    EventOfRight("Permit(address,address,address,uint160,uint48,uint48)", giver=0, asset=1, taker=2, amount=3),
    # An operator of a whole account, as lenders without receipts know it
    EventOfRight("SetAuthorization(address,address,address,bool)", giver=1, taker=2, amount=3),
    # Debt somebody else may run up
    EventOfRight("BorrowAllowanceDelegated(address,address,address,uint256)", giver=0, taker=1, asset=2, amount=3),
    # Relayers of a shared vault
    EventOfRight("RelayerApprovalChanged(address,address,bool)", giver=1, taker=0, amount=2),
    EventOfRight("RelayerApproval(address,address,bool)", giver=0, taker=1, amount=2),
)


@lru_cache(maxsize=1)
def _by_topic(shelf_version: int) -> Mapping[str, EventOfRight]:
    """Ours by topic, and those that protocols on SHELF tell of."""
    theirs = [
        EventOfRight(
            parse_signature("event " + each.signature.removeprefix("event ")).canonical,
            each.giver,
            each.taker,
            amount=each.amount,
            asset=each.token,
        )
        for protocol in SHELF
        for each in protocol.rights
    ]
    return {event_topic("event " + one.signature): one for one in (*theirs, *RIGHTS)}


# What an account that is a contract tells of itself when somebody gets a say over it: the argument that names them.
_OWN_EVENTS: Final[Mapping[str, int]] = {
    event_topic("event " + signature): taker
    for signature, taker in {
        "EnabledModule(address)": 0,
        "AddedOwner(address)": 0,
        "ChangedFallbackHandler(address)": 0,
        "ChangedGuard(address)": 0,
        "ChangedModuleGuard(address)": 0,
        "ModuleInstalled(uint256,address)": 1,
        "OwnershipTransferred(address,address)": 1,
        "Upgraded(address)": 0,
    }.items()
}
_APPROVAL: Final = event_topic("event Approval(address,address,uint256)")
_TRANSFER: Final = event_topic("event Transfer(address,address,uint256)")
_CLAIM_TRANSFER: Final = event_topic("event Transfer(address,address,address,uint256,uint256)")
# ERC-6909 names who called before who gives.
_CLAIM_SIZE: Final = 5
_INDEXED_ITEM: Final = 4


def find_right(index: int, log: LogEntry, giver: str) -> ApprovalSeen | None:
    """The right over `giver`'s assets that a log of call `index` tells of; None for any other, or one taken back."""
    topic = log.topics[0]
    if log.address == giver and topic in _OWN_EVENTS:
        return _find_own(index, log, _OWN_EVENTS[topic])
    event = _by_topic(SHELF.version).get(topic)
    if event is None:
        return None
    wanted = int(giver, 16)
    for words in read_words(log, event.size):
        if words[event.giver] & _ADDRESS != wanted:
            continue
        amount = EVERYTHING if event.amount is None or event.signature.endswith(",bool)") else words[event.amount]
        given = True if event.amount is None else bool(words[event.amount])
        item = None if event.item is None else words[event.item]
        taker = words[event.taker] & _ADDRESS
        if topic == _APPROVAL and len(log.topics) == _INDEXED_ITEM:
            # An item is indexed, an amount is not; approving nobody takes an item's right back.
            item, amount, given = amount, 1, taker != 0
        if not given:
            return None
        asset = log.address if event.asset is None else _address(words[event.asset])
        return ApprovalSeen(index, log.address, asset, _address(taker), amount, item)
    return None


def find_unusual_transfer(index: int, log: LogEntry, account: str) -> TransferSeen | None:
    """A movement from or to `account` that is told as neither ERC-20 nor ERC-721 tells it: an ERC-6909 claim, or
    arguments that are not indexed as usual.
    """
    topic, wanted = log.topics[0], int(account, 16)
    if topic == _CLAIM_TRANSFER:
        for words in read_words(log, _CLAIM_SIZE):
            if wanted in (words[1] & _ADDRESS, words[2] & _ADDRESS):
                return TransferSeen(index, log.address, _address(words[1]), _address(words[2]), words[4], words[3])
    elif topic == _TRANSFER:
        for words in read_words(log, 3):
            if wanted in (words[0] & _ADDRESS, words[1] & _ADDRESS):
                return TransferSeen(index, log.address, _address(words[0]), _address(words[1]), words[2])
    return None


def _find_own(index: int, log: LogEntry, taker: int) -> ApprovalSeen | None:
    words = [*_topics(log), *_data(log)]
    if taker >= len(words) or not words[taker] & _ADDRESS:
        return None
    return ApprovalSeen(index, log.address, log.address, _address(words[taker]), EVERYTHING)


def read_words(log: LogEntry, size: int) -> Iterator[Sequence[int]]:
    """The event's arguments in their order, once for every choice of indexed ones that the log allows; the first
    arguments are tried first, as contracts index them, and the first that names the account counts.
    """
    topics, data = _topics(log), _data(log)
    if len(topics) + len(data) < size:
        return
    for indexed in combinations(range(size), min(len(topics), size)):
        from_topics, from_data = iter(topics), iter(data)
        yield [next(from_topics) if place in indexed else next(from_data) for place in range(size)]


def _topics(log: LogEntry) -> list[int]:
    return [int(topic, 16) for topic in log.topics[1:]]


def _data(log: LogEntry) -> list[int]:
    text = log.data.removeprefix("0x")[: _WORD * _MOST_WORDS]
    return [int(text[start : start + _WORD], 16) for start in range(0, len(text) - _WORD + 1, _WORD)]


def _address(word: int) -> str:
    return checksum(f"0x{word & _ADDRESS:040x}")
