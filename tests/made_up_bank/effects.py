"""What the bank's calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, RightRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

from .addresses import DEPLOYED

NAME = "made_up_bank"
_DEPOSIT = "function deposit(uint256)"
_BORROW = "function borrow(uint256)"
_REPAY = "function repay(uint256)"
_REQUEST = "function request(uint256)"
_CLAIM = "function claim(uint256)"
_CANCEL = "function cancelOffer(uint256)"
_SET_TELLER = "function setTeller(address,bool)"
_REQUEST_AT = "function requests(uint256) view returns (address, uint256, uint256)"


class BankEffects:
    """One reader for all of it."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        bank = DEPLOYED[chain.chain_id]
        if call.to != bank["bank"] or call.value:
            raise UnknownCall("the bank takes no coin")
        signature, args = _read(call.data)
        ref = PositionRef(NAME, "account", chain.chain_id, account)
        if signature == _DEPOSIT:
            into.spends[bank["cash"]] += args[0]
            into.changes.append(ChangeRead(NAME, "account", bank["cash"], args[0], ref))
        elif signature == _BORROW:
            into.receives[bank["loan"]] += args[0]
            into.changes.append(ChangeRead(NAME, "account", bank["loan"], -args[0], ref))
        elif signature == _REPAY:
            into.spends[bank["loan"]] += args[0]
            into.changes.append(ChangeRead(NAME, "account", bank["loan"], args[0], ref))
        elif signature == _REQUEST:
            into.changes.append(ChangeRead(NAME, "account", bank["cash"], -args[0], ref))
            into.changes.append(ChangeRead(NAME, "request", bank["cash"], args[0]))
        elif signature == _CLAIM:
            owner, amount, _ = chain.call(bank["bank"], _REQUEST_AT, args[0])
            if owner != account:
                raise UnknownCall("the request is somebody else's")
            into.receives[bank["cash"]] += amount
            request = PositionRef(NAME, "request", chain.chain_id, str(args[0]))
            into.changes.append(ChangeRead(NAME, "request", bank["cash"], -amount, request))
        elif signature == _CANCEL:
            pass
        else:
            into.rights.append(RightRead(call.to, args[0], -1 if args[1] else 0))
        if signature != _SET_TELLER:
            into.recipients.append(account)


def _read(data: bytes) -> tuple[str, tuple[Any, ...]]:
    for signature in (_DEPOSIT, _BORROW, _REPAY, _REQUEST, _CLAIM, _CANCEL, _SET_TELLER):
        if data[:4] == parse_signature(signature).selector:
            try:
                args = decode_input(signature, data)
            except AbiDecodeError as error:
                raise UnknownCall("the bank's call is not whole") from error
            if encode_call(signature, *args) != data:
                raise UnknownCall("the bank's call has bytes that say nothing")
            return signature, args
    raise UnknownCall(f"selector 0x{data[:4].hex()} of the bank is not known")
