"""What calls to the orders over time do, read from their bytes; written from the contract, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.uniswap_twamm.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef

_SUBMIT: Final = "function submit(address,address,uint256,uint256,uint256)"
_CLOSE: Final = "function close(uint256)"
_ORDER: Final = (
    "function orders(uint256) view returns ((address, address, address, uint256, uint256, uint256, uint256, uint256,"
    " uint256, uint256, uint256))"
)


class TwammEffects:
    """Reads submissions and ends of orders."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall for an order of somebody else."""
        at = deployments(chain.chain_id)
        if at is None or call.to != at["orders"] or call.value:
            raise UnknownCall(f"{call.to} takes no orders over time, or is sent coin, which it does not take")
        if calls(call.data, _SUBMIT):
            sold, bought, amount, least, seconds = read_exactly(call.data, _SUBMIT)
            if not (amount and least and seconds) or sold == bought:
                raise UnknownCall("an order over time without an amount, a least price, a length or a second token")
            into.spends[sold] += amount
            # What comes of an order goes to who submits it.
            into.recipients.append(account)
            into.changes.append(ChangeRead("uniswap_twamm", "order", sold, amount))
            into.statements.append(Statement(at["orders"], bought, "least bought", f"{least} in {seconds} s"))
        elif calls(call.data, _CLOSE):
            (number,) = read_exactly(call.data, _CLOSE)
            ((owner, sold, bought, amount, _, _, _, gone, got, fate, _),) = chain.call(at["orders"], _ORDER, number)
            if owner != account or fate != 1:
                raise UnknownCall(f"order {number} is {owner}'s, or has ended")
            ref = PositionRef("uniswap_twamm", "order", chain.chain_id, str(number))
            into.recipients.append(owner)
            # Somebody may fill a part until it runs: then less of the one comes and more of the other.
            for token, raw, surely in ((sold, amount - gone, 0), (bought, got, got)):
                if raw:
                    into.receives[token] += surely
                    into.open_minimums.add(token)
                    into.changes.append(ChangeRead("uniswap_twamm", "order", token, -raw, ref, is_exact=False))
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the orders over time is not known")
