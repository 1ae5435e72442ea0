"""What an account has of the bond: claims by their rule, coupons that never count, a part of the pool by its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.core.ratio import Ratio
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS, ONE, Maturing
from tools_app.standards.pool_maths import reserves_at
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import Act, ExitStep, Leg, Position, PositionRef, PositionsUnreadable, Reads
from tools_app.toolkit.valuation_rules import Shown, Uncounted
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_bond"
SHOWS: list[int] = []
"""Slips of its author: what people are shown of coupons, in parts of ten thousand of the truth."""
CLAIMS_OF = "function claimsOf(address) view returns (uint256)"
COUPONS_OF = "function couponsOf(address) view returns (uint256)"
SHARES_OF = "function sharesOf(address) view returns (uint256)"
AVERAGE = "function average(uint256) view returns (uint256)"
COUPON_PRICE = "function couponPrice() view returns (uint256)"
MATURITY = "function maturity() view returns (uint256)"
FIGURES = tuple(f"function {name}() view returns (uint256)" for name in ("cashIn", "claimsIn", "shares"))
NOW = "function getCurrentBlockTimestamp() view returns (uint256)"


class BondPositions:
    """Claims with coupons are one position, a part of the pool another. One batch."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Raises PositionsUnreadable while there is no average yet of what is held."""
        at = DEPLOYED[chain_id]
        told = yield [
            *(ReadCall(at["bond"], each, (account,)) for each in (CLAIMS_OF, COUPONS_OF, SHARES_OF)),
            *(ReadCall(at["bond"], each) for each in (*FIGURES, COUPON_PRICE, MATURITY)),
            ReadCall(at["multicall"], NOW),
            ReadCall(at["bond"], AVERAGE, (AVERAGE_SECONDS,)),
        ]
        if not all(each.ok for each in told[:-1]):
            raise PositionsUnreadable("the bond does not answer")
        claims, coupons, held, cash_in, claims_in, shares, coupon, due_at, now = (int(x.values[0]) for x in told[:-1])
        if not (claims or coupons or held):
            return ()
        if now < due_at and not told[-1].ok:
            raise PositionsUnreadable("the bond has no average price of fifteen minutes yet")
        average = int(told[-1].values[0]) if now < due_at else None
        claim = Maturing(at["cash"], "CLM", 18, due_at, average=average)
        found = []
        if claims or coupons:
            market = Shown(
                at["cash"], coupons * coupon * (SHOWS or [10_000])[0] // 10_000 // ONE if now < due_at else 0
            )
            found.append(
                Position(
                    ref=PositionRef(NAME, "claims", chain_id, account),
                    label="Claims of the bond",
                    legs=(claim.leg(claims),) if claims else (),
                    uncounted=(Uncounted(at["bond"], coupons, "CPN", 18, "yield", market),) if coupons else (),
                    facts={"claims": str(claims), "coupons": str(coupons), "due": str(due_at)},
                )
            )
        if held:
            in_claims, in_cash = reserves_at(Ratio(claim.rate, ONE), claims_in, cash_in)
            parts = claim.leg(in_claims * held // shares)
            found.append(
                Position(
                    ref=PositionRef(NAME, "pool", chain_id, account),
                    label="A part of the bond's pool",
                    legs=(Leg(at["cash"], in_cash * held // shares), parts),
                    facts={"shares": str(held)},
                )
            )
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Nothing that the bond itself does not tell."""
        return ()


class BondExits:
    """The part of the pool first; then claims are sold, or redeemed when they are due; coupons are sold."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step after the other."""
        if position.ref.kind == "pool":
            return Act("bond_part", {"shares": position.facts["shares"]}, "the part of the pool is taken out")
        if claims := int(position.facts["claims"]):
            tool = "bond_redeem" if now >= int(position.facts["due"]) else "bond_sell"
            return Act(tool, {"claims": str(claims)}, "claims become cash")
        if now < int(position.facts["due"]) and (coupons := int(position.facts["coupons"])):
            return Act("bond_sell_coupons", {"coupons": str(coupons)}, "coupons are sold for what they bring")
        return None
