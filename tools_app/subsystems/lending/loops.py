"""Loops as one plan: supply, borrow, swap, supply again; and back. Health is bounded after every single step."""

from __future__ import annotations

from fractions import Fraction

from tools_app.core.units import format_units
from tools_app.standards.format_loan_figures import show_health
from tools_app.subsystems.lending.flash_loans import LoanSource
from tools_app.subsystems.lending.loop_plan import MOST_LOOPS, LeverageOutOfReach, LoopPlan, Round, show_leverage
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, LendingPair, MarketClosed
from tools_app.toolkit.positions import HealthTooLow

STEP_FLOOR_BPS = 11_500
"""The least health between two steps of a way back, whose end is healthier than its beginning."""


def draft_loop(loop: LoopPlan, *, initial: int, leverage: Fraction) -> list[Round]:
    """Supply `initial`, then borrow and supply again until collateral is `leverage` times what is the account's own.

    Raises MarketClosed, LeverageOutOfReach, NoMarketForPair.
    """
    pair, floor = loop.pair, DEFAULT_HEALTH_FLOOR_BPS
    rounds: list[Round] = []
    if pair.closed:
        raise MarketClosed(f"no loop here: {pair.closed}", reason="closed")
    own = pair.collateral_raw + initial - pair.debt_raw / pair.rate
    wanted = int(own * leverage)
    _check_room(pair, initial)
    if loop.source is not None:
        rounds = [_draft_at_once(loop, loop.source, initial=initial, wanted=wanted)]
        _check_reached(loop, wanted=wanted, own=own)
        return rounds
    loop.supply(initial)
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
        _check_room(pair, loop.collateral_now - pair.collateral_raw + bought)
        loop.supply(bought)
        rounds.append(Round(amount, bought))
    _check_reached(loop, wanted=wanted, own=own)
    return rounds


def _draft_at_once(loop: LoopPlan, source: LoanSource, *, initial: int, wanted: int) -> Round:
    """One round of any size: what is missing is bought with a loan, which the debt then pays back.

    The pair's own lender looks at the end alone, as hook 5 does: nothing is ever below the floor in between.
    """
    pair, floor = loop.pair, DEFAULT_HEALTH_FLOOR_BPS
    kept = Fraction(max(1, 10_000 - loop.slippage_bps), 10_000)
    supplied = loop.collateral_now + initial
    needed = int((wanted - supplied) * pair.rate / kept) + 1

    def is_covered(amount: int) -> bool:
        collateral = supplied + int(amount / pair.rate * kept)
        most = pair.most_debt(collateral=collateral, floor_bps=floor) - loop.debt_now
        return amount + source.fee(amount) <= most - most // 100_000 - 1

    low, high = 0, max(0, min(needed, source.most(pair.borrow_room), source.terms.liquidity))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_covered(middle) else (low, middle - 1)
    if low <= 0:
        raise LeverageOutOfReach(
            "nothing can be borrowed here against that collateral", most="1.00", least_health_bps=str(floor)
        )
    bought = loop.swap(loop.debt, loop.collateral, low)
    _check_room(pair, loop.collateral_now - pair.collateral_raw + initial + bought)
    loop.supply(initial + bought)
    loop.borrow(low + source.fee(low))
    loop.give_back(source, low)
    if (loop.health_bps or floor) < floor:
        raise LeverageOutOfReach(
            f"bought at this price the health would be {show_health(loop.health_bps or 0)}",
            most=show_leverage(pair, loop.collateral_now, loop.debt_now) or "1.00",
            least_health_bps=str(floor),
        )
    return Round(low + source.fee(low), bought)


def _check_room(pair: LendingPair, supplied: int) -> None:
    if supplied > pair.supply_room:
        raise MarketClosed("the supply cap leaves less", reason="supply_cap", room=str(pair.supply_room))


def _check_reached(loop: LoopPlan, *, wanted: int, own: Fraction) -> None:
    """Raises LeverageOutOfReach for less collateral than was wanted."""
    floor = DEFAULT_HEALTH_FLOOR_BPS
    # What rounding and the last sliver of slippage leave out is within half a percent.
    if loop.collateral_now * 1_000 < wanted * 995:
        reached = loop.collateral_now / own
        raise LeverageOutOfReach(
            f"a leverage of {float(wanted / own):.2f} is out of reach here: {float(reached):.2f} is the most, with a"
            f" health of {show_health(floor)}" + ("" if loop.source else f" and {MOST_LOOPS} rounds"),
            most=f"{float(reached):.2f}",
            least_health_bps=str(floor),
        )


def draft_way_back(loop: LoopPlan, *, repay: int, is_partial_enough: bool = False) -> None:
    """Sell collateral and repay until `repay` less is owed, with health bounded between the steps. With
    `is_partial_enough` what the rounds of one plan repay will do.

    Raises HealthTooLow, LeverageOutOfReach, NoMarketForPair.
    """
    pair = loop.pair
    caution = loop.read_caution()
    now = None if loop.health_bps is None else int(loop.health_bps / caution)
    # A position in danger is led out with whatever room it has, as our feeds see it where the lender sees more.
    floor = STEP_FLOOR_BPS if now is None or now > STEP_FLOOR_BPS + 200 else 10_000 + max(0, now - 10_000) // 2
    floor = int(floor * caution)
    is_all = loop.clears = repay >= loop.debt_now
    target = 0 if is_all else max(loop.debt_now - repay, min(pair.least_debt, loop.debt_now))
    margin = loop.margin if is_all else 0
    if loop.source is not None:
        _draft_back_at_once(loop, loop.source, loop.debt_now - target + margin)
        return
    for _ in range(loop.most_rounds):
        left = loop.debt_now - target
        if left <= 0:
            return
        spare = loop.collateral_now - pair.least_collateral(debt=loop.debt_now, floor_bps=floor)
        needed = int(max(0, left + margin - loop.surplus_bound) / pair.rate * 10_000 / (9_950 - loop.slippage_bps)) + 1
        sold = min(spare, needed, pair.withdraw_room, loop.collateral_now)
        if sold <= 0:
            raise HealthTooLow(
                f"no collateral can be taken out without falling under {show_health(floor)} on the way",
                position=str(pair.ref),
                health_bps=str(now or 0),
                least_health_bps=str(floor),
            )
        loop.withdraw(sold)
        loop.swap(loop.collateral, loop.debt, sold)
        # With what earlier rounds brought and could not pay, since it would have left less than the least debt.
        brought = loop.surplus_bound
        paid = min(brought, loop.debt_now + margin) if is_all else min(brought, left)
        if is_all and loop.debt_now <= paid < loop.debt_now + margin:
            # All of it by now, but not with its interest: the next round clears what this one leaves.
            paid = loop.debt_now - margin
        if 0 < loop.debt_now - paid < pair.least_debt:
            paid = loop.debt_now - pair.least_debt
        if paid > 0:
            loop.repay(paid)
    if loop.debt_now > target and not is_partial_enough:
        done = pair.debt_raw - loop.debt_now
        raise LeverageOutOfReach(
            f"one plan repays {format_units(done, loop.debt.decimals, loop.debt.symbol)} at most; ask for less now",
            most=str(done * 100 // pair.debt_raw if pair.debt_raw else 0),
        )


def _draft_back_at_once(loop: LoopPlan, source: LoanSource, amount: int) -> None:
    """Repay `amount` with a loan, then sell what pays that back: the debt falls before any collateral does."""
    pair, before = loop.pair, loop.health_bps or 0
    due = amount + source.fee(amount)
    loop.repay(amount)
    sold = int(due / pair.rate * 10_000 / (9_950 - loop.slippage_bps)) + 1
    sold = min(sold, pair.withdraw_room, loop.collateral_now)
    loop.withdraw(sold)
    brought = loop.swap(loop.collateral, loop.debt, sold)
    after = loop.health_bps
    if brought < due or (after is not None and after < before):
        raise HealthTooLow(
            "sold at this price the collateral does not pay back what it takes to lower the debt",
            position=str(pair.ref),
            health_bps=str(before if after is None else after),
            least_health_bps=str(before),
        )
    loop.give_back(source, amount)
    loop.surplus -= source.fee(amount)
    loop.surplus_bound -= source.fee(amount)


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
