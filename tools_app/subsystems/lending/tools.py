"""`lending_*` writes: a leverage loop, the way back out of it, deleveraging, flash loans; and the loop's preview."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tools_app.core.errors import InvalidParams
from tools_app.standards import erc20
from tools_app.standards.format_loan_figures import percent, show_health
from tools_app.standards.plan_draft import check_enough
from tools_app.standards.receipts import read_details
from tools_app.subsystems.lending.family import Lender, PositionName, find_lender, lending, read_loop
from tools_app.subsystems.lending.loop_plan import MOST_LOOPS, ROUNDING, LoopPlan, show_leverage
from tools_app.subsystems.lending.loops import draft_loop, draft_way_back, repayment_for
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.lending import (
    DEFAULT_HEALTH_FLOOR_BPS,
    Lending,
    LendingPair,
    NothingThere,
)
from tools_app.toolkit.params import (
    Address,
    DecimalText,
    PercentWhole,
    RawAmount,
    SlippageBps,
    Token,
)
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import HealthTooLow, drive
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

GAS_OF_STEP = 250_000
HIGHEST_LEVERAGE = 10


@dataclass(frozen=True, slots=True)
class _LoopDetails:
    collateral: str
    collateral_sold: str
    collateral_after: str
    debt_before: int
    debt_after: str
    health_factor_after: str | None
    leverage_after: str | None
    leverage_before: str | None = None


def report_loop(outcome: PlanOutcome) -> dict[str, object]:
    """What became of the pair, as planned; what moved in the wallet, as measured."""
    details = read_details(_LoopDetails, outcome)
    tokens = {token.address: token for token in outcome.plan.tokens}
    return {
        "moved": [
            {"asset": address, "symbol": token.symbol, "amount": TokenAmount(outcome.deltas[address], token)}
            for address, token in tokens.items()
            if outcome.deltas.get(address)
        ],
        "assets_used": {"asset": details.collateral, "amount": details.collateral_sold},
        "assets_recovered": {
            "asset": details.collateral,
            "amount": str(max(0, outcome.deltas.get(details.collateral, 0))),
        },
        "collateral_after": details.collateral_after,
        "debt_after": details.debt_after,
        "debt_repaid": str(max(0, details.debt_before - int(details.debt_after))),
        "health_factor_after": details.health_factor_after,
        "leverage_before": details.leverage_before,
        "leverage_after": details.leverage_after,
    }


@lending.read(
    snippet=(
        "lending_build_loop: what a leverage loop would be, step by step, with its health and yield; nothing is done."
    ),
    guidelines=(
        "Build a loop only where the collateral earns more than the debt costs, and ask for less leverage when its "
        "health nears the floor.",
    ),
)
def lending_build_loop(
    ctx: ReadContext,
    collateral_asset: Token,
    borrow_asset: Token,
    initial_amount: RawAmount,
    target_leverage: DecimalText,
    protocol: Lender,
) -> dict[str, object]:
    """The steps, health and yield of a leverage loop, before anything is done.

    Use before lending_execute_leverage_loop. Amounts suppose that swaps lose nothing; leverage 2 means collateral of
    twice what is the golem's own.
    Does not quote the swaps; the preview of the loop itself does.
    """
    chain = ctx.chain()
    collateral, debt = chain.token(collateral_asset), chain.token(borrow_asset)
    _, offer = find_lender(chain, protocol)
    account = ctx.golem.address or "0x" + "00" * 19 + "01"
    pair = drive(offer.pair(chain.chain_id, account, collateral.address, debt.address), chain.call_many)
    leverage = parse_leverage(target_leverage)
    held, owed = pair.collateral_raw + initial_amount, pair.debt_raw
    own = held - owed / pair.rate
    steps = [_step("supply", collateral, initial_amount)]
    rounds = 0
    while held < own * leverage and rounds < MOST_LOOPS and not pair.closed:
        most = pair.most_debt(collateral=held, floor_bps=DEFAULT_HEALTH_FLOOR_BPS) - owed
        amount = min(int((own * leverage - held) * pair.rate) + 1, most, pair.borrow_room - (owed - pair.debt_raw))
        bought = int(amount / pair.rate)
        if amount <= 0 or bought * 1_000 < held:
            break
        steps += [_step("borrow", debt, amount), _step("swap", debt, amount), _step("supply", collateral, bought)]
        held, owed, rounds = held + bought, owed + amount, rounds + 1
    health = pair.health_bps(collateral=held, debt=owed)
    reached = held / own
    apy = int(reached * pair.supply_ppm - (reached - 1) * pair.borrow_ppm)
    return {
        "protocol": pair.ref.protocol,
        "steps": steps,
        "initial_capital": TokenAmount(initial_amount, collateral),
        "final_collateral": TokenAmount(held, collateral),
        "final_debt": TokenAmount(owed, debt),
        "health_factor_after": None if health is None else show_health(health),
        "leverage_achieved": show_leverage(pair, held, owed),
        "is_target_reached": held * 1_000 >= int(own * leverage) * 995,
        "estimated_apy": percent(apy),
        "break_even_apy": percent(int((reached - 1) * pair.borrow_ppm / reached)),
        "gas_estimate": GAS_OF_STEP * (2 + 5 * rounds),
        "loop_count": rounds,
        "max_safe_loops": MOST_LOOPS,
        "closed": pair.closed or None,
    }


@lending.write(
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_loop,
    action_class=ActionClass.INCREASE_POSITION,
    schema_version=2,
    snippet=(
        "lending_execute_leverage_loop: supply collateral, borrow against it, swap and supply again until the wanted"
        " leverage; health stays at 1.5 or above after every step."
    ),
    guidelines=("Look at lending_build_loop first: borrowing must cost less than the collateral earns.",),
)
def lending_execute_leverage_loop(
    ctx: WriteContext,
    collateral_asset: Token,
    borrow_asset: Token,
    initial_amount: RawAmount,
    target_leverage: DecimalText,
    protocol: Lender,
    slippage_bps: SlippageBps = 50,
    flash_provider: Lender | None = None,
) -> TxPlan:
    """Build a leverage loop at a lender in one plan.

    Use to hold more of an asset than one's own, at the price of a debt that can be liquidated. Each round borrows,
    swaps into the collateral and supplies the least the swap may bring; what it brings beyond stays in the wallet.
    With `flash_provider` it is one round paid by that lender's flash loan, for an account that runs steps within one.
    Does not go below a health factor of 1.5.
    """
    reader = ctx.begin("Reading the market")
    collateral, debt = reader.token(collateral_asset), reader.token(borrow_asset)
    _, offer = find_lender(reader, protocol)
    pair = drive(offer.pair(reader.chain_id, ctx.account, collateral.address, debt.address), reader.call_many)
    check_enough(collateral, balance=_balance(reader, collateral, ctx.account), needed=initial_amount)
    ctx.step("Quoting swaps")
    loop = LoopPlan.begin(ctx, reader, offer, pair, slippage_bps, flash_provider=flash_provider)
    rounds = draft_loop(loop, initial=initial_amount, leverage=parse_leverage(target_leverage))
    ctx.step("Building calls")
    loop.draft.spend(collateral, max(0, -loop.surplus), at_most=initial_amount)
    return loop.finish(
        action_class=ActionClass.INCREASE_POSITION,
        floor_bps=DEFAULT_HEALTH_FLOOR_BPS,
        details={
            "initial_amount": str(initial_amount),
            "leverage_before": show_leverage(pair, pair.collateral_raw, pair.debt_raw),
            "borrowed": [str(each.borrowed) for each in rounds],
        },
    )


@lending.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_loop,
    schema_version=2,
    snippet=(
        "lending_unwind_loop: sell collateral and repay a part of a loop's debt, or all of it and take the rest out;"
        " one plan, health bounded between its steps."
    ),
    guidelines=("100 percent ends the loop and brings what is left of the collateral into the wallet.",),
)
def lending_unwind_loop(
    ctx: WriteContext,
    account: Address,
    protocol: Lender,
    percent_to_unwind: PercentWhole,
    slippage_bps: SlippageBps = 50,
    position: PositionName | None = None,
    flash_provider: Lender | None = None,
) -> TxPlan:
    """Repay a part or all of a loop's debt out of its own collateral.

    Use to lower leverage or to leave. Of several debts the largest is repaid, against the largest collateral. At 100
    percent the rest of that collateral comes to the wallet, if nothing else is owed. With `flash_provider` that
    lender's flash loan repays first, so that no collateral is too little to begin with.
    Does not use what the wallet holds, and works for the golem's own account alone.
    """
    reader, offer, pair = _own_loop(ctx, account, protocol, named=position)
    loop = LoopPlan.begin(ctx, reader, offer, pair, slippage_bps, flash_provider=flash_provider)
    ctx.step("Quoting swaps")
    draft_way_back(loop, repay=-(-pair.debt_raw * percent_to_unwind // 100))
    before = show_leverage(pair, pair.collateral_raw, pair.debt_raw)
    ctx.step("Building calls")
    is_over = loop.debt_now == 0 and not pair.other_debt
    if is_over:
        rest = loop.collateral_now
        loop.withdraw(None)
        least = rest if pair.is_collateral_exact else max(0, rest - ROUNDING)
        loop.draft.receive(loop.collateral, rest, at_least=least)
    _keep_surplus(loop)
    return loop.finish(
        action_class=ActionClass.CLOSE_POSITION if is_over else ActionClass.DECREASE_POSITION,
        floor_bps=None,
        details={"percent_to_unwind": percent_to_unwind, "leverage_before": before},
    )


@lending.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_loop,
    action_class=ActionClass.DECREASE_POSITION,
    is_rescue=True,
    snippet=(
        "lending_auto_deleverage: sell just as much collateral and repay as lifts the health factor to a target;"
        " allowed in every phase."
    ),
    guidelines=("Under a health factor of 1.2 use it at once; 1.6 to 2 is a sound target.",),
)
def lending_auto_deleverage(
    ctx: WriteContext,
    account: Address,
    target_health_factor: DecimalText,
    protocol: Lender,
    slippage_bps: SlippageBps = 50,
    position: PositionName | None = None,
) -> TxPlan:
    """Lift the health factor of a loan to a target by selling a part of its collateral.

    Use when prices fell and liquidation is near. Sells no more than it takes; where one plan does not reach the target
    it goes as far as it can, and the answer says how far. Of several positions the one with the largest debt, or the
    one that is named.
    Does not use what the wallet holds, and works for the golem's own account alone.
    """
    reader, offer, pair = _own_loop(ctx, account, protocol, named=position)
    target = parse_health(target_health_factor)
    repay = repayment_for(pair, target_bps=target, loss_bps=slippage_bps)
    now = pair.health_bps(collateral=pair.collateral_raw, debt=pair.debt_raw) or 0
    if not repay:
        raise NothingThere(f"health is {show_health(now)} already, at or above {show_health(target)}")
    loop = LoopPlan.begin(ctx, reader, offer, pair, slippage_bps)
    before = show_leverage(pair, pair.collateral_raw, pair.debt_raw)
    ctx.step("Quoting swaps")
    draft_way_back(loop, repay=repay, is_partial_enough=True)
    reached = loop.health_bps
    if reached is not None and reached < now:
        raise HealthTooLow(
            "selling at this price lowers the health instead of lifting it",
            position=str(pair.ref),
            health_bps=str(reached),
            least_health_bps=str(now),
        )
    ctx.step("Building calls")
    _keep_surplus(loop)
    return loop.finish(
        action_class=ActionClass.DECREASE_POSITION,
        floor_bps=None,
        details={"target_health_factor": target_health_factor, "leverage_before": before},
    )


def parse_leverage(text: str) -> Fraction:
    """More than 1 and at most 10. Raises InvalidParams."""
    found = Fraction(text)
    if not 1 < found <= HIGHEST_LEVERAGE:
        raise InvalidParams(f"leverage is more than 1 and at most {HIGHEST_LEVERAGE}", fields={"target_leverage": text})
    return found


def parse_health(text: str, *, field: str = "target_health_factor") -> int:
    """Basis points of a health factor above 1 and at most 100. Raises InvalidParams."""
    found = int(Fraction(text) * 10_000)
    if not 10_000 < found <= 1_000_000:
        raise InvalidParams("a health factor is more than 1 and at most 100", fields={field: text})
    return found


def _own_loop(
    ctx: WriteContext, account: str, protocol: str, *, named: str | None = None
) -> tuple[ChainReader, Lending, LendingPair]:
    if account != ctx.account:
        raise InvalidParams(
            f"a golem changes its own loans alone; its account is {ctx.account}", fields={"account": "not its own"}
        )
    reader = ctx.begin("Reading the position")
    lender, offer = find_lender(reader, protocol)
    return reader, offer, read_loop(reader, account, lender, offer, named=named)


def _keep_surplus(loop: LoopPlan) -> None:
    """What the swaps bring beyond the repayments arrives in the wallet."""
    if loop.surplus > 0:
        loop.draft.receive(loop.debt, loop.surplus, at_least=max(0, loop.surplus_bound))


def _balance(reader: ChainReader, token: TokenMeta, account: str) -> int:
    return erc20.balance_of(reader, token, account)


def _step(action: str, token: TokenMeta, amount: int) -> dict[str, object]:
    return {"action": action, "asset": token.symbol, "amount": TokenAmount(amount, token)}
