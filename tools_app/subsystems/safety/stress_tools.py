"""`safety_simulate_price_stress`: what an account would be worth and lose if prices fell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field

from tools_app.subsystems.safety.account_measurement import (
    MeasuredAccount,
    describe_health,
    measure_account,
    name_position,
    show_percent,
)
from tools_app.subsystems.safety.family import ChainOrAll, board
from tools_app.subsystems.safety.price_shocks import PENALTY_BPS, Shocked, fall, follows_dollar, shock
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.params import Address, Token, check_whole
from tools_app.toolkit.result import UsdAmount

PriceChanges = Annotated[
    list[Annotated[int, Field(ge=-100, le=-1), BeforeValidator(check_whole)]],
    Field(min_length=1, max_length=10, description="Falls to try, in whole percent below zero: -20 is a fifth less."),
]
_USUAL: tuple[int, ...] = (-20, -40, -60)


@dataclass(frozen=True, slots=True)
class LiquidatedPosition:
    """A position whose debt would not be covered any more."""

    position: str
    label: str
    health_factor: str
    loss_usd: UsdAmount


@dataclass(frozen=True, slots=True)
class Scenario:
    """One fall. `net_worth_usd` is after the assumed costs of liquidations; the loss is against now."""

    price_change_pct: int
    portfolio_value_usd: UsdAmount
    debt_usd: UsdAmount
    net_worth_usd: UsdAmount
    liquidated_positions: tuple[LiquidatedPosition, ...]
    total_loss_usd: UsdAmount
    survives: bool


@dataclass(frozen=True, slots=True)
class PriceStress:
    """Falls tried on what is held now. `falls` names the tokens that fell; the others kept their price.

    `max_drawdown_survivable` is the deepest fall in whole percent at which nothing is liquidated, null without debt.
    """

    account: str
    falls: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    max_drawdown_survivable: int | None
    hedge_recommendation: str | None
    liquidation_cost_assumed_percent: str
    not_counted: tuple[str, ...]


@board.read(
    query="price_stress",
    snippet=(
        "price_stress: what an account would be worth if all its tokens, or one of them, fell by 20, 40, 60 percent,"
        " what would be liquidated, and the deepest fall it survives."
    ),
    guidelines=("Keep the deepest fall it survives well under what the token has fallen within a day before.",),
)
def safety_simulate_price_stress(
    ctx: ReadContext,
    account: Address | None = None,
    chain_id: ChainOrAll | None = None,
    price_scenarios: PriceChanges | None = None,
    fallen_token: Token | None = None,
) -> PriceStress:
    """Try falls of prices on what an account holds and owes now, and say what would be lost and liquidated.

    Use before borrowing more. All tokens that do not follow the dollar fall together; with `fallen_token` that token
    alone does, also one that follows the dollar: that tries a depeg. Ranges and queues are taken as they stand.
    Does not foresee trades of other people, and takes a stated part of a debt for what a liquidation costs.
    """
    ctx.step("Reading everything the account holds")
    measured = measure_account(ctx, account, chain_id)
    ctx.step("Trying falls")
    chosen = None if fallen_token is None else ctx.chain(chain_id or None).token(fallen_token).address
    moving = _list_moving(measured, chosen)
    tried = [_try(measured, tuple(moving), change) for change in price_scenarios or _USUAL]
    deepest = _find_deepest(measured, tuple(moving))
    return PriceStress(
        account=measured.account,
        falls=tuple(moving.values()),
        scenarios=tuple(tried),
        max_drawdown_survivable=deepest,
        hedge_recommendation=_advise(deepest),
        liquidation_cost_assumed_percent=show_percent(PENALTY_BPS),
        not_counted=measured.not_counted,
    )


def _list_moving(measured: MeasuredAccount, chosen: str | None) -> dict[str, str]:
    """Addresses of the tokens that fall, and what they are called."""
    return {
        part.token.address: part.token.symbol or part.token.address
        for _, part in measured.list_parts()
        if part.price is not None
        and (part.token.address == chosen if chosen is not None else not follows_dollar(part.price))
    }


def _shock_all(measured: MeasuredAccount, falls: Mapping[str, int]) -> tuple[int, list[tuple[str, str, Shocked, int]]]:
    """Micro-USD of the wallet's tokens after the fall, and each position: name, label, after, worth before."""
    tokens = sum(fall(part, falls) for each in measured.chains for part in each.holdings.tokens)
    positions = [
        (str(held.ref), name_position(held), shock(held, falls), sum(part.micro_usd or 0 for part in held.parts))
        for _, held in measured.list_positions()
    ]
    return tokens, positions


def _try(measured: MeasuredAccount, moving: tuple[str, ...], change: int) -> Scenario:
    tokens, positions = _shock_all(measured, dict.fromkeys(moving, -change * 100))
    debt = sum(after.debt_micro_usd for _, _, after, _ in positions)
    penalties = sum(after.penalty_micro_usd for _, _, after, _ in positions)
    net = tokens + sum(after.net_micro_usd for _, _, after, _ in positions) - penalties
    before = sum(part.micro_usd or 0 for _, part in measured.list_parts())
    liquidated = tuple(
        LiquidatedPosition(
            name,
            label,
            describe_health(after.health_bps) or "",
            UsdAmount(was - after.net_micro_usd + after.penalty_micro_usd),
        )
        for name, label, after, was in positions
        if after.is_liquidated
    )
    return Scenario(
        price_change_pct=change,
        portfolio_value_usd=UsdAmount(net + debt),
        debt_usd=UsdAmount(debt),
        net_worth_usd=UsdAmount(net),
        liquidated_positions=liquidated,
        total_loss_usd=UsdAmount(before - net),
        survives=not liquidated and net > 0,
    )


def _find_deepest(measured: MeasuredAccount, moving: tuple[str, ...]) -> int | None:
    """The deepest fall in whole percent without a liquidation; None where nothing is owed."""
    if measured.worst_health_bps is None:
        return None
    for percent in range(0, 101):
        _, positions = _shock_all(measured, dict.fromkeys(moving, percent * 100))
        if any(after.is_liquidated for _, _, after, _ in positions):
            return max(0, percent - 1)
    return 100


def _advise(deepest: int | None) -> str | None:
    if deepest is None or deepest >= 50:
        return None
    return f"a fall of {deepest + 1}% liquidates a position: repay a part of its debt, or add collateral"
