"""One moment of a local chain out of dumps that are none: blocks first, accounts a little later, blocks mined between.

The accounts of a dump are always those right after some block, for a node writes a block's changes as one. Which block
that is, the nonces say: each transaction uses one. So the accounts of one dump go with the blocks of a later one, up to
the last whose transactions they have.
"""

from __future__ import annotations

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
class Dump:
    """What anvil dumps, as JSON."""

    # The node's own format, of which only these few fields are read.
    data: dict[str, Any]

    @property
    def best(self) -> int:
        """The number of its newest block."""
        return _number(self.data["best_block_number"])

    def nonce_of(self, address: str) -> int:
        """How many nonces of an account its state counts as used."""
        return _number(self.data["accounts"].get(address, {}).get("nonce", 0))

    def list_sent(self) -> list[tuple[int, str, int]]:
        """Block, sender and nonce of each transaction in its blocks."""
        return [
            (_number(each["block_number"]), str(each["info"]["from"]), _number(each["info"]["nonce"]))
            for each in self.data["transactions"]
        ]


def list_unexplained(dump: Dump) -> frozenset[tuple[str, int]]:
    """Accounts of people, with their nonces, that used more of them than the blocks of the dump show."""
    shown: dict[str, int] = {}
    for _, sender, nonce in dump.list_sent():
        shown[sender] = max(shown.get(sender, 0), nonce + 1)
    return frozenset(
        (address, dump.nonce_of(address))
        for address, account in dump.data["accounts"].items()
        if _is_of_a_person(account) and dump.nonce_of(address) > shown.get(address, 0)
    )


def make_whole(state: Dump, later: Dump) -> Dump:
    """The accounts of `state` with the blocks they belong to, which `later` has all of."""
    beyond = [(block, sender, nonce) for block, sender, nonce in later.list_sent() if block > state.best]
    held = [block for block, sender, nonce in beyond if nonce < state.nonce_of(sender)]
    best = max([state.best, *held])
    blocks = [each for each in later.data["blocks"] if _number(each["header"]["number"]) <= best]
    newest = max(blocks, key=lambda each: _number(each["header"]["number"]))
    env = {**state.data["block"], **{own: newest["header"][name] for own, name in _OF_HEADER.items()}}
    return Dump(
        {
            **state.data,
            "block": env,
            "best_block_number": best,
            "blocks": blocks,
            "transactions": [each for each in later.data["transactions"] if _number(each["block_number"]) <= best],
        }
    )


def _is_of_a_person(account: dict[str, object]) -> bool:
    code = str(account.get("code") or "0x")
    return code == "0x" or code.startswith(_DELEGATION)


def _number(told: Any) -> int:
    return int(told, 0) if isinstance(told, str) else int(told)
