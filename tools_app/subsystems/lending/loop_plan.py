"""LoopPlan: a loop or its way back in the making, its calls and what the pair looks like after them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import format_units
from tools_app.standards.format_loan_figures import show_health
from tools_app.standards.market_orders import find_swap
from tools_app.standards.mid_plan_state import foresee
from tools_app.standards.plan_draft import PlanDraft
from tools_app.subsystems.lending.flash_loans import LoanSource, find_source
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import INTEREST_SLACK, Lending, LendingPair, Verb
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.views import TokenMeta

MOST_LOOPS = 6
"""Rounds of borrowing and swapping in one plan: mostly five calls each, and a cage takes 32 at once."""
MOST_CALLS = 30
ROUNDING = 4


class LeverageOutOfReach(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The loop cannot reach that leverage"
):
    """The lender's limits, the health floor or the rounds of one plan do not allow it. `data.most` is what is."""


class NoMarketForPair(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="No market trades this pair in this size"
):
    """No swap tool of this chain trades the pair in this size."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a loop: base units borrowed, and the least collateral bought with it and supplied again."""

    borrowed: int
    supplied: int


@dataclass
class LoopPlan:
    """A loop in the making: what was drafted so far, and what the pair looks like then.

    `surplus` is what swaps are expected to bring beyond what is supplied or repaid, `surplus_bound` at least; negative
    is what the wallet gives. `clears`: the repayments together are to leave no debt.
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
    source: LoanSource | None = None
    lent: int = 0
    done: dict[Verb, list[int]] = field(default_factory=dict)
    clears: bool = False

    @classmethod
    def begin(
        cls,
        ctx: WriteContext,
        reader: ChainReader,
        offer: Lending,
        pair: LendingPair,
        slippage_bps: int,
        *,
        flash_provider: str | None = None,
    ) -> LoopPlan:
        """Nothing drafted yet. Raises NoReceiver where a loan within the plan is wanted and the account takes none."""
        debt = reader.token(pair.debt)
        return cls(
            ctx=ctx,
            reader=reader,
            offer=offer,
            pair=pair,
            slippage_bps=slippage_bps,
            draft=PlanDraft(reader.chain_id, ctx.account),
            collateral=reader.token(pair.collateral),
            debt=debt,
            source=find_source(reader, ctx.account, flash_provider, debt) if flash_provider is not None else None,
            collateral_now=pair.collateral_raw,
            debt_now=pair.debt_raw,
        )

    @property
    def most_rounds(self) -> int:
        """How often this plan may withdraw, sell and repay, or borrow, buy and supply."""
        return min(MOST_LOOPS, MOST_CALLS // self.pair.calls_of_round)

    @property
    def health_bps(self) -> int | None:
        """Health after what was drafted."""
        return self.pair.health_bps(collateral=self.collateral_now, debt=self.debt_now)

    @property
    def margin(self) -> int:
        """How much more than is owed now is paid to clear it: interest until then."""
        return self.pair.interest_room if self.pair.pays_exactly else self.debt_now // INTEREST_SLACK + ROUNDING

    def read_caution(self) -> Fraction:
        """How much better the lender thinks of the collateral than our feeds do; 1 where it does not.

        Its oracle may be late. Raises PriceStale, PriceUnavailable.
        """
        ours = [self.reader.price(token) for token in (self.collateral, self.debt)]
        units = [Fraction(each.answer, 10**each.decimals) for each in ours]
        rate = units[0] / units[1] * Fraction(10**self.debt.decimals, 10**self.collateral.decimals)
        return max(Fraction(1), self.pair.rate / rate)

    def supply(self, amount: int) -> None:
        """Approve exactly and supply."""
        spender = self.offer.spender(self.pair, Verb.SUPPLY)
        self.draft.approve(self.collateral, spender=spender, amount=amount, allowance=0)
        self._call(Verb.SUPPLY, amount, self.collateral)
        self.surplus -= amount
        self.surplus_bound -= amount
        self.collateral_now += amount

    def borrow(self, amount: int) -> None:
        """Borrow; never below the floor."""
        self._call(Verb.BORROW, amount, self.debt)
        self.debt_now += amount

    def withdraw(self, amount: int | None) -> None:
        """Take collateral out; None is the rest of it."""
        self._call(Verb.WITHDRAW, amount, self.collateral)
        self.collateral_now -= self.collateral_now if amount is None else amount

    def repay(self, amount: int) -> None:
        """Pay back what is owed of `amount`; what is over stays in the wallet and its approval is taken back."""
        spender = self.offer.spender(self.pair, Verb.REPAY)
        self.draft.approve(self.debt, spender=spender, amount=amount, allowance=0)
        self._call(Verb.REPAY, amount, self.debt)
        if self._has_dust_of_approvals or (amount > self.debt_now and not self.pair.pays_exactly):
            self.draft.revoke(self.debt, spender=spender)
        repaid = min(amount, self.debt_now)
        self.surplus -= amount if self.pair.pays_exactly else repaid
        self.surplus_bound -= amount
        self.debt_now -= repaid

    @property
    def _has_dust_of_approvals(self) -> bool:
        return self.clears and self.pair.clears_by_shares

    def give_back(self, source: LoanSource, amount: int) -> None:
        """The lender of this plan's loan may take it and its fee; rounding may leave a base unit of that."""
        source.check(amount)
        self.lent = amount
        spender = source.wrap(self.reader.chain_id, self.ctx.account, amount, ())[1].to
        self.draft.approve(self.debt, spender=spender, amount=amount + source.fee(amount), allowance=0)

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

    def _call(self, verb: Verb, amount: int | None, token: TokenMeta) -> None:
        shown = "all" if amount is None else format_units(amount, token.decimals, "")
        earlier = self.done.setdefault(verb, [])
        for call in self.offer.calls(self.pair, verb, amount, earlier=tuple(earlier), clears=self.clears):
            self.draft.call(replace(call, label=f"{call.label}: {shown} {token.symbol}"))
        earlier += [] if amount is None else [amount]

    def finish(self, *, action_class: ActionClass, floor_bps: int | None, details: dict[str, object]) -> TxPlan:
        """The plan, with what it changes in the position."""
        ref = self.pair.ref
        for token, change in (
            (self.pair.collateral, self.collateral_now - self.pair.collateral_raw),
            (self.pair.debt, self.pair.debt_raw - self.debt_now),
        ):
            slack = ROUNDING * max(1, self.swaps)
            if token == self.pair.debt:
                slack += self.pair.interest_room
                # Shares that were to clear all, and did not yet, cleared a little less than was paid for them.
                slack += self.pair.debt_raw // INTEREST_SLACK if self.debt_now and self._has_dust_of_approvals else 0
            if change < 0 and self.collateral_now == 0 and token == self.pair.collateral:
                slack += self.pair.collateral_raw // INTEREST_SLACK
            self.draft.changes.append(
                PositionChange(ref.protocol, ref.kind, token, change, change - slack, ref, floor_bps)
            )
        if self.source is not None and self.lent:
            steps, self.draft.calls = self.draft.calls, []
            self.draft.call(*self.source.wrap(self.reader.chain_id, self.ctx.account, self.lent, steps))
            if self.source.fee(self.lent):
                self.draft.revoke(self.debt, spender=self.draft.calls[-1].to)
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
                **({"flash_lender": self.source.lender.name, "flash_loan": str(self.lent)} if self.source else {}),
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


def show_leverage(pair: LendingPair, collateral: int, debt: int) -> str | None:
    """Collateral over what is one's own in it; None where nothing is."""
    own = collateral - debt / pair.rate
    return f"{float(collateral / own):.2f}" if own > 0 else None
