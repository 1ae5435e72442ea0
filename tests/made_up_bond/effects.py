"""What the bond's calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS, ONE
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

from .addresses import DEPLOYED

NAME = "made_up_bond"
_BUY = "function buy(uint256,uint256)"
_SELL = "function sell(uint256,uint256)"
_REDEEM = "function redeem(uint256)"
_BUY_COUPONS = "function buyCoupons(uint256,uint256)"
_SELL_COUPONS = "function sellCoupons(uint256,uint256)"
_PART = "function part(uint256)"


class BondEffects:
    """One reader for all calls."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        at = DEPLOYED[chain.chain_id]
        if call.to != at["bond"] or call.value:
            raise UnknownCall("the bond takes no coin")
        ref = PositionRef(NAME, "claims", chain.chain_id, account)
        into.recipients.append(account)

        def change(token: str, raw: int, *, is_exact: bool) -> None:
            into.changes.append(ChangeRead(NAME, "claims", token, raw, ref, is_exact=is_exact))

        if calls(call.data, _BUY) or calls(call.data, _BUY_COUPONS):
            is_coupon = calls(call.data, _BUY_COUPONS)
            amount, least = read_exactly(call.data, _BUY_COUPONS if is_coupon else _BUY)
            into.spends[at["cash"]] += amount
            change(
                at["bond"] if is_coupon else at["cash"],
                least if is_coupon else self._count(least, chain),
                is_exact=False,
            )
        elif calls(call.data, _SELL) or calls(call.data, _SELL_COUPONS):
            is_coupon = calls(call.data, _SELL_COUPONS)
            amount, least = read_exactly(call.data, _SELL_COUPONS if is_coupon else _SELL)
            into.receives[at["cash"]] += least
            change(
                at["bond"] if is_coupon else at["cash"],
                -(amount if is_coupon else self._count(amount, chain)),
                is_exact=is_coupon,
            )
        elif calls(call.data, _REDEEM):
            (amount,) = read_exactly(call.data, _REDEEM)
            into.receives[at["cash"]] += amount
            change(at["cash"], -self._count(amount, chain), is_exact=False)
            if chain.block.timestamp < self._maturity(chain):
                change(at["bond"], -amount, is_exact=True)
        elif calls(call.data, _PART):
            read_exactly(call.data, _PART)
            into.open_minimums.add(at["cash"])
            pool = PositionRef(NAME, "pool", chain.chain_id, account)
            into.changes.append(ChangeRead(NAME, "pool", at["cash"], 0, pool, is_exact=False))
            change(at["cash"], 0, is_exact=False)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the bond is not known")

    def _count(self, claims: int, chain: ChainReader) -> int:
        bond = DEPLOYED[chain.chain_id]["bond"]
        if chain.block.timestamp >= self._maturity(chain):
            return claims
        average = chain.call(bond, "function average(uint256) view returns (uint256)", AVERAGE_SECONDS)[0]
        return int(claims * min(ONE, average) // ONE)

    def _maturity(self, chain: ChainReader) -> int:
        return int(chain.call(DEPLOYED[chain.chain_id]["bond"], "function maturity() view returns (uint256)")[0])
