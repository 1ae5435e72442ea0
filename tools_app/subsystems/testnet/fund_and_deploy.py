"""`testnet_fund_account` and `testnet_deploy_mock_pool`: what is on a private test chain. Nothing there has value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.subsystems.testnet.dev_chains import DevBalance, DevPool, DevPoolWish
from tools_app.subsystems.testnet.family import check_versions, find_chain, open_chains, testnet
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import (
    Address,
    ChainRef,
    DecimalText,
    FeeTier,
    MicroUsdText,
    PoolTick,
    RawAmount,
    RawAmountOrZero,
    ShortText,
    Token,
)
from tools_app.toolkit.plan import LocalEffect

TEN_COINS = 10 * 10**18


@dataclass(frozen=True, slots=True)
class HeldToken:
    """What an account holds of one token on the test chain; `amount` in base units, `amount_units` with the symbol."""

    token: str
    symbol: str
    amount: str
    amount_units: str


@dataclass(frozen=True, slots=True)
class FundedAccount:
    """What `testnet_fund_account` answers; `eth_balance` in wei."""

    address: str
    eth_balance: str
    eth_balance_units: str
    token_balances: tuple[HeldToken, ...]


def preview_fund(
    ctx: WriteContext,
    address: str,
    eth_amount: int,
    tokens: list[str] | None,
    amounts: list[int] | None,
    chain_ref: str | None,
) -> LocalEffect:
    """What an account would hold. Raises DevChainNotFound, InvalidParams."""
    state = find_chain(ctx, chain_ref)
    grants = _pair_grants(tokens, amounts)
    return LocalEffect(
        f"Give {address} {format_units(eth_amount, 18, 'test ETH')} and {len(grants)} tokens on {state.chain_ref}",
        {
            "chain_ref": state.chain_ref,
            "address": address,
            "eth_amount": str(eth_amount),
            "tokens": {token: str(amount) for token, amount in grants.items()},
        },
    )


@testnet.local_write(
    budget=TickBudget.FAST,
    preview=preview_fund,
    snippet=(
        "fund_account: give an account on a private test chain coins and tokens out of nothing; they are worth nothing"
        " and exist only there."
    ),
    guidelines=(
        "Name the wei that the account is to have in all: its coin balance is replaced, while tokens are added to "
        "what it has.",
    ),
)
def testnet_fund_account(
    ctx: WriteContext,
    capability: Capability,
    address: Address,
    eth_amount: RawAmountOrZero = TEN_COINS,
    tokens: list[Token] | None = None,
    amounts: list[RawAmount] | None = None,
    chain_ref: ChainRef | None = None,
) -> FundedAccount:
    """Set an account's coin balance on a private test chain and add tokens to it.

    Use to prepare a rehearsal. `eth_amount` is in wei and replaces the balance; of each of `tokens` the amount
    at the same place in `amounts` is added.
    Does not fund anything on a chain with value, and knows only the tokens that test chains deploy.
    """
    ctx.step("Funding the account")
    account = open_chains(ctx).fund(
        golem_id=ctx.golem.id,
        chain_ref=chain_ref,
        address=address,
        native_wei=eth_amount,
        tokens=_pair_grants(tokens, amounts),
    )
    return FundedAccount(
        address=account.address,
        eth_balance=str(account.native_wei),
        eth_balance_units=format_units(account.native_wei, 18, "ETH"),
        token_balances=tuple(_show_balance(balance) for balance in account.balances),
    )


def preview_pool(ctx: WriteContext, **params: Any) -> LocalEffect:  # Any: parameters of any tool
    """Which pool would be opened. Raises DevChainNotFound, InvalidParams."""
    state = find_chain(ctx, params.pop("chain_ref"))
    wish = _wish(**params)
    return LocalEffect(
        f"Open a {wish.version} pool of {wish.token0}/{wish.token1} worth ${wish.liquidity_usd} on {state.chain_ref}",
        {
            "chain_ref": state.chain_ref,
            "version": wish.version,
            "token0": wish.token0,
            "token1": wish.token1,
            "fee_tier": wish.fee_tier,
            "initial_price": wish.initial_price,
            "liquidity_usd": wish.liquidity_usd,
        },
    )


@testnet.local_write(
    preview=preview_pool,
    aliases=("deploy_mock_pool",),
    snippet=(
        "deploy_mock_pool: open a Uniswap V2 or V3 pool on a private test chain at a price, depth and range you choose,"
        " to rehearse a market."
    ),
    guidelines=(
        "Name the tokens in the order in which the price is meant; a depth that you choose here says nothing about "
        "a live market.",
    ),
)
def testnet_deploy_mock_pool(
    ctx: WriteContext,
    capability: Capability,
    token0: Token,
    token1: Token,
    fee_tier: FeeTier = 3_000,
    initial_price: DecimalText = "1.0",
    liquidity_usd: MicroUsdText = "100000",
    tick_lower: PoolTick | None = None,
    tick_upper: PoolTick | None = None,
    version: ShortText = "v3",
    chain_ref: ChainRef | None = None,
) -> DevPool:
    """Open a Uniswap V2 or V3 pool on a private test chain, with liquidity.

    Use to rehearse a market with a chosen price and depth. The price is units of token1 per unit of token0 as
    named here, the liquidity whole dollars, both sides together; without ticks the whole range is filled.
    Does not create tokens and does not touch any chain with value.
    """
    wish = _wish(token0, token1, fee_tier, initial_price, liquidity_usd, tick_lower, tick_upper, version)
    ctx.step("Opening the pool")
    return open_chains(ctx).open_pool(golem_id=ctx.golem.id, chain_ref=chain_ref, wish=wish)


def _pair_grants(tokens: list[str] | None, amounts: list[int] | None) -> dict[str, int]:
    """Base units per token as named; a token named twice is given both amounts. Raises InvalidParams."""
    named, given = tokens or [], amounts or []
    if len(named) != len(given):
        raise InvalidParams("every token needs one amount, in the same order", fields={"amounts": "one per token"})
    found: dict[str, int] = {}
    for token, amount in zip(named, given, strict=True):
        found[token] = found.get(token, 0) + amount
    return found


def _wish(
    token0: str,
    token1: str,
    fee_tier: int,
    initial_price: str,
    liquidity_usd: str,
    tick_lower: int | None,
    tick_upper: int | None,
    version: str,
) -> DevPoolWish:
    check_versions([version])
    if token0 == token1:
        raise InvalidParams("token0 and token1 are one token", fields={"token1": "same as token0"})
    whole_dollars, _, cents = liquidity_usd.partition(".")
    if cents.strip("0") or int(whole_dollars) == 0:
        raise InvalidParams("liquidity_usd is whole dollars, at least 1", fields={"liquidity_usd": "whole dollars"})
    if (tick_lower is None) != (tick_upper is None):
        raise InvalidParams("give both ticks or neither", fields={"tick_lower": "with tick_upper"})
    return DevPoolWish(
        version=version,
        token0=token0,
        token1=token1,
        fee_tier=fee_tier,
        initial_price=initial_price,
        liquidity_usd=int(whole_dollars),
        tick_lower=tick_lower,
        tick_upper=tick_upper,
    )


def _show_balance(balance: DevBalance) -> HeldToken:
    return HeldToken(
        token=balance.token,
        symbol=balance.symbol,
        amount=str(balance.amount),
        amount_units=format_units(balance.amount, balance.decimals, balance.symbol),
    )
