"""What the keepers' calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools_app.chain.abi import decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

from .addresses import DEPLOYED

NAME = "made_up_keeper"
_PLACE = "function place(uint256,uint256,uint256,address)"
_CANCEL = "function cancel(uint256)"
_CLOSE = "function close(uint256)"
_ORDER = (
    "function orders(uint256) view returns (address, address, uint256, uint256, uint256, uint256, uint256, uint256,"
    " uint256)"
)
_LOT = "function lots(uint256) view returns (address, uint256)"


class KeeperEffects:
    """One reader for all of it."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        at = DEPLOYED[chain.chain_id]
        if call.to != at["keeper"] or call.value:
            raise UnknownCall("the keepers take no coin")
        signature, args = _read(call.data)
        if signature == _PLACE:
            give, _, _, heir = args
            into.spends[at["cash"]] += give
            into.changes.append(ChangeRead(NAME, "order", at["cash"], give))
            into.recipients.append(heir)
        elif signature == _CANCEL:
            owner, _, give, *_ = chain.call(at["keeper"], _ORDER, args[0])
            _check_owner(owner, account)
            into.receives[at["cash"]] += give
            ref = PositionRef(NAME, "order", chain.chain_id, str(args[0]))
            into.changes.append(ChangeRead(NAME, "order", at["cash"], -give, ref))
            into.recipients.append(account)
        else:
            owner, amount = chain.call(at["keeper"], _LOT, args[0])
            _check_owner(owner, account)
            into.receives[at["loan"]] += amount
            ref = PositionRef(NAME, "lot", chain.chain_id, str(args[0]))
            into.changes.append(ChangeRead(NAME, "lot", at["loan"], -amount, ref))
            into.recipients.append(account)


def _check_owner(owner: str, account: str) -> None:
    if owner != account:
        raise UnknownCall("it is somebody else's")


def _read(data: bytes) -> tuple[str, tuple[Any, ...]]:
    for signature in (_PLACE, _CANCEL, _CLOSE):
        if data[:4] == parse_signature(signature).selector:
            args = decode_input(signature, data)
            if encode_call(signature, *args) != data:
                raise UnknownCall("the keepers' call has bytes that say nothing")
            return signature, args
    raise UnknownCall(f"selector 0x{data[:4].hex()} of the keepers is not known")
