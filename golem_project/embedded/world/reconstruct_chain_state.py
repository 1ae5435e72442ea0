"""One moment of a local chain out of dumps that are none: blocks first, accounts a little later, blocks mined between.

The accounts of a dump are always those right after some block, for a node writes a block's changes as one. Which block
that is, the nonces say: each transaction uses one. So the accounts of one dump go with the blocks of a later one, up to
the last whose transactions they have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DELEGATION = "0xef0100"
# What the node keeps of the block it is at, beside the header of that block: its name there.
_OF_HEADER = {
    "number": "number",
    "timestamp": "timestamp",
    "gas_limit": "gasLimit",
    "basefee": "baseFeePerGas",
    "beneficiary": "miner",
    "prevrandao": "mixHash",
}


@dataclass(frozen=True, slots=True)
class Header:
    """A block's number, and the block as it was dumped."""

    number: int
    fields: Mapping[str, object]
    json: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction in a block, and as it was dumped."""

    block: int
    sender: str
    nonce: int
    json: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Dump:
    """What anvil dumps, as JSON. What is read of it raises ValueError where it is not there."""

    data: dict[str, Any]  # Any: the node's own format, which goes back to it as it came

    @property
    def best(self) -> int:
        """The number of its newest block."""
        match self.data:
            case {"best_block_number": best}:
                return _number(best)
        raise ValueError("a dump names no newest block")

    @property
    def environment(self) -> Mapping[str, object]:
        """What the node keeps of the block it is at."""
        match self.data:
            case {"block": dict(environment)}:
                return environment
        raise ValueError("a dump has no block that it is at")

    @property
    def accounts(self) -> Mapping[str, object]:
        """The accounts by address, as they were dumped."""
        match self.data:
            case {"accounts": dict(accounts)}:
                return accounts
        raise ValueError("a dump has no accounts")

    def nonce_of(self, address: str) -> int:
        """How many nonces of an account its state counts as used."""
        match self.accounts.get(address):
            case {"nonce": nonce}:
                return _number(nonce)
        return 0

    def list_blocks(self) -> list[Header]:
        """Its blocks."""
        match self.data:
            case {"blocks": list(blocks)}:
                return [_read_header(each) for each in blocks]
        raise ValueError("a dump has no blocks")

    def list_mined(self) -> list[Mined]:
        """The transactions in its blocks."""
        match self.data:
            case {"transactions": list(transactions)}:
                return [_read_mined(each) for each in transactions]
        raise ValueError("a dump has no transactions")

    def list_sent(self) -> list[tuple[int, str, int]]:
        """Block, sender and nonce of each transaction in its blocks."""
        return [(each.block, each.sender, each.nonce) for each in self.list_mined()]


def list_unexplained(dump: Dump) -> frozenset[tuple[str, int]]:
    """Accounts of people, with their nonces, that used more of them than the blocks of the dump show."""
    shown: dict[str, int] = {}
    for _, sender, nonce in dump.list_sent():
        shown[sender] = max(shown.get(sender, 0), nonce + 1)
    return frozenset(
        (address, dump.nonce_of(address))
        for address, account in dump.accounts.items()
        if _is_of_a_person(account) and dump.nonce_of(address) > shown.get(address, 0)
    )


def make_whole(state: Dump, later: Dump) -> Dump:
    """The accounts of `state` with the blocks they belong to, which `later` has all of."""
    mined = later.list_mined()
    held = [each.block for each in mined if each.block > state.best and each.nonce < state.nonce_of(each.sender)]
    best = max([state.best, *held])
    blocks = [each for each in later.list_blocks() if each.number <= best]
    newest = max(blocks, key=lambda each: each.number)
    env = {**state.environment, **{own: newest.fields[name] for own, name in _OF_HEADER.items()}}
    return Dump(
        {
            **state.data,
            "block": env,
            "best_block_number": best,
            "blocks": [each.json for each in blocks],
            "transactions": [each.json for each in mined if each.block <= best],
        }
    )


def _read_header(told: dict[str, object]) -> Header:
    match told:
        case {"header": dict(header)}:
            return Header(_number(header["number"]), header, told)
    raise ValueError("a block of a dump has no number")


def _read_mined(told: dict[str, object]) -> Mined:
    match told:
        case {"block_number": block, "info": {"from": sender, "nonce": nonce}}:
            return Mined(_number(block), str(sender), _number(nonce), told)
    raise ValueError("a transaction of a dump has no block, sender or nonce")


def _is_of_a_person(account: object) -> bool:
    match account:
        case {"code": str(code)}:
            return code in ("", "0x") or code.startswith(_DELEGATION)
    return True


def _number(told: object) -> int:
    if isinstance(told, str):
        return int(told, 0)
    if isinstance(told, int):
        return told
    raise ValueError(f"{told!r} is no number")
