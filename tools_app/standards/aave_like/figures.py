"""Writes what read tools answer about a pool: rates, an account's summary, nearness to liquidation."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import PoolContracts
from tools_app.standards.aave_like.plans import Lender
from tools_app.standards.aave_like.reads import (
    HeldReserve,
    LendingAccount,
    Reserve,
    account_calls,
    annual_ppm,
    held_call,
    read_account,
    read_held,
    read_reserve,
    reserve_calls,
)
from tools_app.standards.format_loan_figures import percent, show_health
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.lending import risk_level
from tools_app.toolkit.positions import PositionsUnreadable, Reads, drive, gather
from tools_app.toolkit.result import TokenAmount, UsdAmount

LIQUIDATION_BPS = 10_000
MICRO_PER_BASE = signatures.BASE_UNIT // MICRO_USD_PER_USD


@dataclass(frozen=True, slots=True)
class AccountStatement:
    """An account and what it has in each reserve that it uses."""

    account: LendingAccount
    parts: tuple[tuple[Reserve, HeldReserve], ...]

    @property
    def net_apy_ppm(self) -> int | None:
        """What the account earns a year on what is its own, in millionths; None where it has nothing of its own."""
        net = self.account.collateral - self.account.debt
        earned = sum(
            reserve.value(held.supplied) * annual_ppm(reserve.supply_rate)
            - reserve.value(held.variable_owed) * annual_ppm(reserve.variable_rate)
            - reserve.value(held.stable_owed) * annual_ppm(reserve.stable_rate)
            for reserve, held in self.parts
        )
        return earned // net if net > 0 else None


def read_statement(where: PoolContracts, account: str) -> Reads[AccountStatement]:
    """Three batches, two when nothing is held. Raises PositionsUnreadable."""
    listed, about = yield from gather(
        [ReadCall(where.pool, signatures.RESERVES_LIST)], account_calls(where.pool, account)
    )
    if not listed[0].ok:
        raise PositionsUnreadable("the pool does not list its reserves")
    assets = [str(asset) for asset in listed[0].values[0]]
    outcomes = yield [held_call(where, asset, account) for asset in assets]
    held = {asset: each for asset, told in zip(assets, outcomes, strict=True) if not (each := read_held(told)).is_empty}
    parts: list[tuple[Reserve, HeldReserve]] = []
    if held:
        told = yield [call for asset in held for call in reserve_calls(where, asset)]
        for number, (asset, each) in enumerate(held.items()):
            parts.append((read_reserve(asset, told[3 * number : 3 * number + 3]), each))
    return AccountStatement(read_account(about), tuple(parts))


def read_one_reserve(where: PoolContracts, asset: str, label: str) -> Reads[Reserve]:
    """One batch. Raises MarketNotFound, PositionsUnreadable."""
    return read_reserve(asset, (yield reserve_calls(where, asset)), label=label)


def health_factor(ctx: ReadContext, lender: Lender, account: str) -> dict[str, object]:
    """The account as the pool sees it."""
    reader = ctx.chain()
    statement = drive(read_statement(lender.where(reader.chain_id), account), reader.call_many)
    found = statement.account
    return {
        "account": account,
        "chain": reader.chain_id,
        "health_factor": _health(found),
        "total_collateral_usd": _usd(found.collateral),
        "total_debt_usd": _usd(found.debt),
        "available_borrows_usd": _usd(found.available),
        "current_ltv": percent(found.debt * 1_000_000 // found.collateral if found.collateral else 0),
        "liquidation_threshold": percent(100 * found.threshold_bps),
        "net_apy": None if statement.net_apy_ppm is None else percent(statement.net_apy_ppm),
        "e_mode": found.e_mode,
        "assets": [
            {
                "token": reader.token(reserve.asset),
                "is_collateral": bool(held.supplied and held.is_collateral),
                "is_owed": held.owed > 0,
            }
            for reserve, held in statement.parts
            if held.owed or (held.supplied and held.is_collateral)
        ],
    }


def rates(ctx: ReadContext, lender: Lender, asset: str) -> dict[str, object]:
    """A reserve's rates, caps and state."""
    reader = ctx.chain()
    token = lender.asset(reader, asset)
    reserve = drive(read_one_reserve(lender.where(reader.chain_id), token.address, lender.label), reader.call_many)
    configuration = reserve.configuration
    supply_room, borrow_room = reserve.supply_room, reserve.borrow_room
    return {
        "asset": token.address,
        "symbol": token.symbol,
        "supply_apy": percent(annual_ppm(reserve.supply_rate)),
        "variable_borrow_apy": percent(annual_ppm(reserve.variable_rate)) if configuration.is_borrowable else None,
        "stable_borrow_apy": percent(annual_ppm(reserve.stable_rate)) if configuration.has_stable_rate else None,
        "utilization_rate": percent(reserve.owed * 1_000_000 // reserve.supplied if reserve.supplied else 0),
        "available_liquidity": TokenAmount(reserve.liquidity, token),
        "total_supplied": TokenAmount(reserve.supplied, token),
        "total_borrowed": TokenAmount(reserve.owed, token),
        "ltv": percent(100 * configuration.ltv_bps),
        "liquidation_threshold": percent(100 * configuration.threshold_bps),
        "supply_cap_remaining": None if supply_room is None else TokenAmount(supply_room, token),
        "borrow_cap_remaining": None if borrow_room is None else TokenAmount(borrow_room, token),
        "price_usd": _usd(reserve.price),
        "is_active": configuration.is_active,
        "is_frozen": configuration.is_frozen,
        "is_paused": configuration.is_paused,
        "is_borrowable": configuration.is_borrowable,
        "is_isolated_collateral": bool(configuration.debt_ceiling),
        "is_borrowable_in_isolation": configuration.is_borrowable_in_isolation,
        "e_mode_category": configuration.e_mode or None,
    }


def user_summary(ctx: ReadContext, lender: Lender, account: str) -> dict[str, object]:
    """Everything an account has and owes."""
    reader = ctx.chain()
    statement = drive(read_statement(lender.where(reader.chain_id), account), reader.call_many)
    return {
        "account": account,
        "chain": reader.chain_id,
        "supplied": [_supplied(reader, reserve, held) for reserve, held in statement.parts if held.supplied],
        "borrowed": [
            _borrowed(reader, reserve, owed, mode)
            for reserve, held in statement.parts
            for mode in ("variable", "stable")
            if (owed := held.owed_in(signatures.MODES[mode]))
        ],
        "health_factor": _health(statement.account),
        "net_apy": None if statement.net_apy_ppm is None else percent(statement.net_apy_ppm),
    }


def liquidation_risk(ctx: ReadContext, lender: Lender, account: str) -> dict[str, object]:
    """How far prices are from a liquidation, collateral by collateral."""
    reader = ctx.chain()
    statement = drive(read_statement(lender.where(reader.chain_id), account), reader.call_many)
    found, health = statement.account, statement.account.health_bps
    level = risk_level(health)
    # All collateral falling together by this much, rounded down, leaves cover equal to debt.
    drop = None if health is None else max(0, 1_000_000 + -1_000_000 * LIQUIDATION_BPS // max(1, health))
    return {
        "account": account,
        "chain": reader.chain_id,
        "health_factor": _health(found),
        "risk_level": level,
        "collateral_can_fall_pct": None if drop is None else percent(drop),
        "liquidation_prices": [
            _liquidation_price(reader, found, reserve, held)
            for reserve, held in statement.parts
            if held.is_collateral and held.supplied and found.debt
        ],
        "recommended_action": ADVICE[level],
    }


ADVICE = {
    "none": "nothing is owed",
    "safe": "keep watching",
    "warning": "repay a part or add collateral",
    "danger": "repay now; lending_auto_deleverage does it from the collateral",
}


def _liquidation_price(
    reader: ChainReader, account: LendingAccount, reserve: Reserve, held: HeldReserve
) -> dict[str, object]:
    """The price of one collateral at which the account is liquidated, all others standing still."""
    value = reserve.value(held.supplied)
    threshold = reserve.configuration.threshold_bps
    missing = account.debt - (account.cover - value * threshold // 10_000)
    price = max(0, missing) * 10_000 * reserve.price // (value * threshold) if value and threshold else 0
    token = reader.token(reserve.asset)
    return {
        "asset": reserve.asset,
        "symbol": token.symbol,
        "price_usd": _usd(price),
        "price_now_usd": _usd(reserve.price),
    }


def _supplied(reader: ChainReader, reserve: Reserve, held: HeldReserve) -> dict[str, object]:
    token = reader.token(reserve.asset)
    return {
        "asset": reserve.asset,
        "symbol": token.symbol,
        "a_token_balance": TokenAmount(held.supplied, token),
        "balance_usd": _usd(reserve.value(held.supplied)),
        "supply_apy": percent(annual_ppm(reserve.supply_rate)),
        "used_as_collateral": held.is_collateral,
    }


def _borrowed(reader: ChainReader, reserve: Reserve, owed: int, mode: str) -> dict[str, object]:
    token = reader.token(reserve.asset)
    return {
        "asset": reserve.asset,
        "symbol": token.symbol,
        "debt_balance": TokenAmount(owed, token),
        "debt_usd": _usd(reserve.value(owed)),
        "borrow_apy": percent(annual_ppm(reserve.rate_of(signatures.MODES[mode]))),
        "rate_mode": mode,
    }


def _health(account: LendingAccount) -> str | None:
    return None if account.health_bps is None else show_health(account.health_bps)


def _usd(base: int) -> UsdAmount:
    return UsdAmount(base // MICRO_PER_BASE)
