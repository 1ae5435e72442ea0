"""What the comet's calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import ACCOUNT, PositionRef

from .addresses import DEPLOYED
from .positions import NAME, PRINCIPAL

SUPPLY = "function supply(address,uint256)"
WITHDRAW = "function withdraw(address,uint256)"
EVERYTHING = 2**256 - 1


class CometEffects:
    """One reader for both calls."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        at = DEPLOYED[chain.chain_id]
        if call.to != at["comet"] or call.value:
            raise UnknownCall("the comet takes no coin")
        ref = PositionRef(NAME, ACCOUNT, chain.chain_id, account)
        for signature in (SUPPLY, WITHDRAW):
            if call.data[:4] == parse_signature(signature).selector:
                try:
                    token, amount = decode_input(signature, call.data)
                except AbiDecodeError as error:
                    raise UnknownCall("the comet's call is not whole") from error
                if encode_call(signature, token, amount) != call.data:
                    raise UnknownCall("the comet's call has bytes that say nothing")
                if amount == EVERYTHING:
                    [principal] = chain.call(at["comet"], PRINCIPAL, account)
                    amount = abs(principal)
                is_in = signature == SUPPLY
                (into.spends if is_in else into.receives)[token] += amount
                into.changes.append(ChangeRead(NAME, ACCOUNT, token, amount if is_in else -amount, ref))
                into.recipients.append(account)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the comet is not known")
