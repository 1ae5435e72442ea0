"""Loops as one plan: supply, borrow, swap, supply again; and back. Health is bounded after every single step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import format_units
from tools_app.standards.foreseen import foresee
from tools_app.standards.market_orders import find_swap
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, Lending, LendingPair, MarketClosed, Verb
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import HealthTooLow, PositionChange
from tools_app.toolkit.views import TokenMeta

MOST_LOOPS = 6
"""Rounds of borrowing and swapping in one plan: each is five calls, and a cage takes 32 at once."""
STEP_FLOOR_BPS = 11_500
"""The least health between two steps of a way back, whose end is healthier than its beginning."""
ROUNDING = 4
INTEREST_SLACK = 5_000
"""One part in so many of a debt that interest may add before the plan is carried out."""


class LeverageOutOfReach(GolemError):
    """The lender's limits, the health floor or the rounds of one plan do not allow it. `data.most` is what is."""

    code = "LEVERAGE_OUT_OF_REACH"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The loop cannot reach that leverage"


class NoMarketForPair(GolemError):
    """No swap tool of this chain trades the pair in this size."""

    code = "NO_MARKET_FOR_PAIR"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "No market trades this pair in this size"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a loop: base units borrowed, and the least collateral bought with it and supplied again."""

    borrowed: int
    supplied: int


@dataclass
class LoopPlan:
    """A loop in the making: what was drafted so far, and what the pair looks like then.

    `surplus` is what swaps are expected to bring beyond what is supplied or repaid, `surplus_bound` at least; negative
    is what the wallet gives.
    """

    ctx: WriteContext
    reader: ChainReader
    offer: Lending
    pair: LendingPair
    slippage_bps: int
    draft: PlanDraft
    collateral: TokenMeta
    debt: TokenMeta
    collateral_now: int
    debt_now: int
    swaps: int = 0
    collateral_sold: int = 0
    surplus: int = 0
    surplus_bound: int = 0
    deadlines: list[int] = field(default_factory=list)
    impacts: list[int] = field(default_factory=list)

    @classmethod
    def begin(
        cls, ctx: WriteContext, reader: ChainReader, offer: Lending, pair: LendingPair, slippage_bps: int
    ) -> LoopPlan:
        """Nothing drafted yet."""
        return cls(
            ctx=ctx,
            reader=reader,
            offer=offer,
            pair=pair,
            slippage_bps=slippage_bps,
            draft=PlanDraft(reader.chain_id, ctx.account),
            collateral=reader.token(pair.collateral),
            debt=reader.token(pair.debt),
            collateral_now=pair.collateral_raw,
            debt_now=pair.debt_raw,
        )

    @property
    def health_bps(self) -> int | None:
        """Health after what was drafted."""
        return self.pair.health_bps(collateral=self.collateral_now, debt=self.debt_now)

    def supply(self, amount: int) -> None:
        """Approve exactly and supply."""
        spender = self.offer.spender(self.pair)
        self.draft.approve(self.collateral, spender=spender, amount=amount, allowance=0)
        self.draft.call(self._call(Verb.SUPPLY, amount, self.collateral))
        self.surplus -= amount
        self.surplus_bound -= amount
        self.collateral_now += amount

    def borrow(self, amount: int) -> None:
        """Borrow; never below the floor."""
        self.draft.call(self._call(Verb.BORROW, amount, self.debt))
        self.debt_now += amount

    def withdraw(self, amount: int | None) -> None:
        """Take collateral out; None is the rest of it."""
        self.draft.call(self._call(Verb.WITHDRAW, amount, self.collateral))
        self.collateral_now -= self.collateral_now if amount is None else amount

    def repay(self, amount: int) -> None:
        """Pay back what is owed of `amount`; what is over stays in the wallet and its approval is taken back."""
        spender = self.offer.spender(self.pair)
        self.draft.approve(self.debt, spender=spender, amount=amount, allowance=0)
        self.draft.call(self._call(Verb.REPAY, amount, self.debt))
        if amount > self.debt_now:
            self.draft.revoke(self.debt, spender=spender)
        repaid = min(amount, self.debt_now)
        self.surplus -= repaid
        self.surplus_bound -= amount
        self.debt_now -= repaid

    def swap(self, sold: TokenMeta, bought: TokenMeta, amount: int) -> int:
        """Sell exactly `amount`; returns the least that arrives. Raises NoMarketForPair."""
        least = self._take(self._find_swap(sold, bought, amount))
        self.collateral_sold += amount if sold.address == self.collateral.address else 0
        return least

    def quote(self, sold: TokenMeta, bought: TokenMeta, amount: int) -> int:
        """The least that selling `amount` would bring. Raises NoMarketForPair."""
        return self._find_swap(sold, bought, amount).receives[0].bound

    def _find_swap(self, sold: TokenMeta, bought: TokenMeta, amount: int) -> TxPlan:
        seen = foresee(self.reader, self.ctx.account, {sold.address: amount}, has_approved=self.swaps > 0)
        found = find_swap(
            replace(self.ctx, open_chain=lambda _: seen),
            chain_id=self.reader.chain_id,
            sold=sold.address,
            bought=bought.address,
            amount=amount,
            slippage_bps=self.slippage_bps,
        )
        if found is None:
            raise NoMarketForPair(
                f"no market here sells {format_units(amount, sold.decimals, sold.symbol)} for {bought.symbol}",
                sold=sold.address,
                bought=bought.address,
            )
        return found

    def _take(self, plan: TxPlan) -> int:
        self.swaps += 1
        self.draft.adopt(plan)
        self.deadlines += [plan.deadline] if plan.deadline is not None else []
        self.impacts.append(plan.price_impact_bps or 0)
        received = plan.receives[0]
        self.surplus += received.expected
        self.surplus_bound += received.bound
        return received.bound

    def _call(self, verb: Verb, amount: int | None, token: TokenMeta) -> Any:
        call = self.offer.call(self.pair, verb, amount)
        shown = "all" if amount is None else format_units(amount, token.decimals, "")
        return replace(call, label=f"{call.label}: {shown} {token.symbol}")

    def finish(self, *, action_class: ActionClass, floor_bps: int | None, details: dict[str, Any]) -> TxPlan:
        """The plan, with what it changes in the position."""
        ref = self.pair.ref
        for token, change in (
            (self.pair.collateral, self.collateral_now - self.pair.collateral_raw),
            (self.pair.debt, self.pair.debt_raw - self.debt_now),
        ):
            slack = ROUNDING * max(1, self.swaps)
            if change < 0 and self.collateral_now == 0 and token == self.pair.collateral:
                slack += self.pair.collateral_raw // INTEREST_SLACK
            self.draft.changes.append(
                PositionChange(ref.protocol, ref.kind, token, change, change - slack, ref, floor_bps)
            )
        health = self.health_bps
        owed = self.debt_now + self.pair.other_debt
        return self.draft.finish(
            action_class=action_class,
            collateral_ratio_bps=int(self.collateral_now * self.pair.rate * 10_000 / owed) if owed else None,
            deadline=min(self.deadlines, default=None),
            slippage_bps=self.slippage_bps if self.swaps else None,
            price_impact_bps=max(self.impacts, default=None),
            details={
                "venue": ref.protocol,
                "market": self.pair.market,
                "collateral": self.pair.collateral,
                "debt": self.pair.debt,
                "rounds": self.swaps,
                "collateral_before": str(self.pair.collateral_raw),
                "debt_before": str(self.pair.debt_raw),
                "collateral_after": str(self.collateral_now),
                "collateral_sold": str(self.collateral_sold),
                "debt_after": str(self.debt_now),
                "health_factor_after": None if health is None else show_health(health),
                "leverage_after": show_leverage(self.pair, self.collateral_now, self.debt_now),
                **details,
            },
        )


def draft_loop(loop: LoopPlan, *, initial: int, leverage: Fraction) -> list[Round]:
    """Supply `initial`, then borrow and supply again until collateral is `leverage` times what is the account's own.

    Raises MarketClosed, LeverageOutOfReach, NoMarketForPair.
    """
    pair, floor = loop.pair, DEFAULT_HEALTH_FLOOR_BPS
    if pair.closed:
        raise MarketClosed(f"no loop here: {pair.closed}", reason="closed")
    own = pair.collateral_raw + initial - pair.debt_raw / pair.rate
    wanted = int(own * leverage)
    if initial > pair.supply_room:
        raise MarketClosed("the supply cap leaves less", reason="supply_cap", room=str(pair.supply_room))
    loop.supply(initial)
    rounds: list[Round] = []
    while loop.collateral_now < wanted and len(rounds) < MOST_LOOPS:
        missing = wanted - loop.collateral_now
        # What is missing, and what the swap may lose on the way.
        needed = int(missing * pair.rate * 10_000 / max(1, 10_000 - loop.slippage_bps)) + 1
        most = pair.most_debt(collateral=loop.collateral_now, floor_bps=floor) - loop.debt_now
        amount = min(needed, most - most // 100_000 - 1, pair.borrow_room - (loop.debt_now - pair.debt_raw))
        if amount <= 0 or int(amount / pair.rate) * 1_000 < wanted:
            break
        loop.borrow(amount)
        bought = loop.swap(loop.debt, loop.collateral, amount)
        if loop.collateral_now - pair.collateral_raw + bought > pair.supply_room:
            raise MarketClosed("the supply cap leaves less", reason="supply_cap", room=str(pair.supply_room))
        loop.supply(bought)
        rounds.append(Round(amount, bought))
    # What rounding and the last sliver of slippage leave out is within half a percent.
    if loop.collateral_now * 1_000 < wanted * 995:
        reached = loop.collateral_now / own
        raise LeverageOutOfReach(
            f"a leverage of {float(leverage):.2f} is out of reach here: {float(reached):.2f} is the most, with a health"
            f" of {show_health(floor)} and {MOST_LOOPS} rounds",
            most=f"{float(reached):.2f}",
            least_health_bps=str(floor),
        )
    return rounds


def draft_way_back(loop: LoopPlan, *, repay: int, is_partial_enough: bool = False) -> None:
    """Sell collateral and repay until `repay` less is owed, with health bounded between the steps. With
    `is_partial_enough` what the rounds of one plan repay will do.

    Raises HealthTooLow, LeverageOutOfReach, NoMarketForPair.
    """
    pair = loop.pair
    now = loop.health_bps
    # A position in danger is led out with whatever room it has.
    floor = STEP_FLOOR_BPS if now is None or now > STEP_FLOOR_BPS + 200 else 10_000 + max(0, now - 10_000) // 2
    is_all = repay >= loop.debt_now
    target = 0 if is_all else loop.debt_now - repay
    margin = loop.debt_now // INTEREST_SLACK + ROUNDING if is_all else 0
    for _ in range(MOST_LOOPS):
        left = loop.debt_now - target
        if left <= 0:
            return
        spare = loop.collateral_now - pair.least_collateral(debt=loop.debt_now, floor_bps=floor)
        needed = int((left + margin) / pair.rate * 10_000 / (9_950 - loop.slippage_bps)) + 1
        sold = min(spare, needed, pair.withdraw_room, loop.collateral_now)
        if sold <= 0:
            raise HealthTooLow(
                f"no collateral can be taken out without falling under {show_health(floor)} on the way",
                position=str(pair.ref),
                health_bps=str(now or 0),
                least_health_bps=str(floor),
            )
        loop.withdraw(sold)
        brought = loop.swap(loop.collateral, loop.debt, sold)
        loop.repay(min(brought, loop.debt_now + margin) if is_all else min(brought, left))
    if loop.debt_now > target and not is_partial_enough:
        done = pair.debt_raw - loop.debt_now
        raise LeverageOutOfReach(
            f"one plan repays {format_units(done, loop.debt.decimals, loop.debt.symbol)} at most; ask for less now",
            most=str(done * 100 // pair.debt_raw if pair.debt_raw else 0),
        )


def repayment_for(pair: LendingPair, *, target_bps: int, loss_bps: int) -> int:
    """How much debt is to be repaid out of the collateral until health is at the target; 0 where it is there.

    Selling S of collateral repays S * rate * (1 - loss): the cover falls with it, the debt faster.
    """
    owed = pair.debt_raw + pair.other_debt
    cover = pair.collateral_raw * pair.rate * pair.threshold_bps / 10_000 + pair.other_cover
    target = Fraction(target_bps, 10_000)
    missing = target * owed - cover
    if missing <= 0:
        return 0
    kept = Fraction(10_000 - loss_bps, 10_000)
    gain = target * kept - Fraction(pair.threshold_bps, 10_000)
    if gain <= 0:
        return pair.debt_raw
    return min(pair.debt_raw, -int(-missing * kept // gain))


def show_health(bps: int) -> str:
    """`15234` -> `1.52`."""
    return f"{bps // 10_000}.{bps % 10_000 // 100:02d}"


def show_leverage(pair: LendingPair, collateral: int, debt: int) -> str | None:
    """Collateral over what is one's own in it; None where nothing is."""
    own = collateral - debt / pair.rate
    return f"{float(collateral / own):.2f}" if own > 0 else None
