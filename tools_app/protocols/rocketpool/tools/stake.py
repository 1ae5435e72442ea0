"""`rocketpool_stake` and `rocketpool_unstake`: ETH into rETH, and back by burning it or on a market."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from tools_app.chain.abi import encode_call
from tools_app.core.units import apply_bps_down, format_units
from tools_app.protocols.rocketpool.addresses import NAME, RocketPoolContracts, find_contracts
from tools_app.protocols.rocketpool.errors import DepositPoolDry, DepositPoolFull, DepositRefused, DepositsDisabled
from tools_app.protocols.rocketpool.positions import STAKE, stake_ref
from tools_app.protocols.rocketpool.reads import ETH_VALUE, RocketPoolState, read_network
from tools_app.protocols.rocketpool.tools.family import rate_text, rocketpool
from tools_app.standards.erc20 import MOVED
from tools_app.standards.market_orders import find_swap
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.lending import LEAST_FREE_BPS, MarketClosed
from tools_app.toolkit.params import RawAmount, SlippageBps
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE, TokenMeta

DEPOSIT = "function deposit() payable"
BURN = "function burn(uint256 amount)"
BY_BURNING, SECONDARY = "burn", "secondary_market"
REPORT_BPS = 50
"""More than one report of the network moves the worth of rETH."""


class StakeReport(Told):
    """What staking did. `exchange_rate` is the ETH of one rETH at the preview, the pool's balance that before it."""

    eth_staked: TokenAmount
    r_eth_received: TokenAmount
    exchange_rate: str
    deposit_pool_balance: str


class UnstakeReport(Told):
    """What unstaking did; `route` is burn or secondary_market."""

    r_eth_burned: TokenAmount
    eth_received: TokenAmount
    route: str
    exchange_rate: str


@dataclass(frozen=True, slots=True)
class _Details:
    reth: str
    exchange_rate: str
    deposit_pool_balance: str


@dataclass(frozen=True, slots=True)
class _UnstakeDetails(_Details):
    route: str


def report_stake(outcome: PlanOutcome) -> StakeReport:
    """rETH from its own event, ETH from balances."""
    details = read_details(_Details, outcome)
    reth = _reth(outcome, details)
    came = list_events(outcome, MOVED, contract=reth.address)
    return StakeReport(
        eth_staked=TokenAmount(-outcome.deltas.get(NATIVE, 0), outcome.plan.spends[0].token),
        r_eth_received=TokenAmount(sum(each.value for each in came if each.to == outcome.account), reth),
        exchange_rate=details.exchange_rate,
        deposit_pool_balance=details.deposit_pool_balance,
    )


def report_unstake(outcome: PlanOutcome) -> UnstakeReport:
    """rETH from its own event, ETH from balances."""
    details = read_details(_UnstakeDetails, outcome)
    reth = _reth(outcome, details)
    left = list_events(outcome, MOVED, contract=reth.address)
    return UnstakeReport(
        r_eth_burned=TokenAmount(sum(each.value for each in left if each.from_ == outcome.account), reth),
        eth_received=TokenAmount(outcome.deltas.get(NATIVE, 0), outcome.plan.receives[0].token),
        route=details.route,
        exchange_rate=details.exchange_rate,
    )


@rocketpool.write(
    risk=RiskLayer.BOUNDED,
    report=report_stake,
    aliases=("rocketpool_deposit_eth",),
    snippet=(
        "stake at rocketpool: turn ETH into rETH, whose worth grows and whose balance stands still; a small part of"
        " the deposit is kept as a fee."
    ),
    guidelines=(
        "rETH can be burned for ETH only while the deposit pool holds some; look at rocketpool_get_rates first.",
        "Keep ETH for gas.",
    ),
)
def rocketpool_stake(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Stake ETH with Rocket Pool and hold rETH for it.

    Use to earn staking yield in a token whose balance does not change. `amount` is wei of ETH, of which the network
    keeps its deposit fee. Does not run a node, does not buy rETH on a market and does not stake WETH.
    """
    reader = ctx.begin("Reading the network")
    at = find_contracts(reader)
    network = read_network(reader, at, ctx.account)
    coin = reader.native()
    check_enough(coin, balance=reader.native_balance(ctx.account), needed=amount)
    _check_deposit(network, amount)
    ctx.step("Building calls")
    worth = network.rate.after_fee(amount)
    bound = worth - network.rate.slack(worth)
    call = Call(
        at.deposit_pool, encode_call(DEPOSIT), amount, f"Stake {format_units(amount, 18, 'ETH')} with Rocket Pool"
    )
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.spend(coin, amount)
    draft.call(call)
    draft.changes.append(PositionChange(NAME, STAKE, NATIVE, worth, bound, ref=stake_ref(reader.chain_id)))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION if network.held else ActionClass.NEW_POSITION,
        details={
            **_describe(network, at, amount),
            "amount_units": format_units(amount, coin.decimals, coin.symbol),
            "deposit_fee_wei": str(amount - worth),
        },
    )


@rocketpool.write(
    risk=RiskLayer.BOUNDED,
    report=report_unstake,
    action_class=ActionClass.DECREASE_POSITION,
    snippet=(
        "unstake at rocketpool: burn rETH for ETH at once at full worth while there is ether behind it, else sell it on"
        " a market within the slippage."
    ),
    guidelines=("A dry deposit pool ends by itself: burn what it has, or wait, before you sell at a discount.",),
)
def rocketpool_unstake(ctx: WriteContext, amount: RawAmount, max_slippage_bps: SlippageBps = 50) -> TxPlan:
    """Turn rETH back into ETH: burned at full worth where there is enough ether, else sold on a market.

    Use to leave. `amount` is base units of rETH; `max_slippage_bps` bounds what a market may take against full worth.
    Does not wait in a queue: Rocket Pool has none.
    """
    reader = ctx.begin("Reading the network")
    at = find_contracts(reader)
    network = read_network(reader, at, ctx.account)
    reth, coin = reader.token(at.reth), reader.native()
    check_enough(reth, balance=network.held, needed=amount)
    ether = int(reader.call(at.reth, ETH_VALUE, amount)[0])
    if not ether:
        raise DepositRefused("so little rETH is worth nothing", least="2")
    ctx.step("Building calls")
    slack = ether * REPORT_BPS // 10_000 + network.rate.dust
    change = PositionChange(NAME, STAKE, NATIVE, -ether, -ether - slack, ref=stake_ref(reader.chain_id))
    details = {**_describe(network, at, amount), "amount_units": format_units(amount, reth.decimals, reth.symbol)}
    if network.collateral >= ether:
        draft = PlanDraft(reader.chain_id, ctx.account)
        draft.call(Call(at.reth, encode_call(BURN, amount), 0, f"Burn {format_units(amount, 18, 'rETH')}"))
        # A report in between can only make it more, but for a loss, which is refused.
        draft.receive(coin, ether)
        draft.changes.append(change)
        return draft.finish(action_class=_class_of(network, amount), details={**details, "route": BY_BURNING})
    plan = _sell(ctx, reader, at, amount=amount, least=apply_bps_down(ether, max_slippage_bps), network=network)
    return replace(
        plan,
        spends=(),
        changes=(*plan.changes, change),
        action_class=_class_of(network, amount),
        details={**plan.details, **details, "route": SECONDARY},
    )


def _sell(
    ctx: WriteContext,
    reader: ChainReader,
    at: RocketPoolContracts,
    *,
    amount: int,
    least: int,
    network: RocketPoolState,
) -> TxPlan:
    """The best market's plan, if it brings `least` in the worst case. Raises DepositPoolDry."""
    ask = partial(find_swap, ctx, chain_id=reader.chain_id, sold=at.reth, bought=NATIVE, amount=amount)
    offer = ask(slippage_bps=0)
    expected = offer.receives[0].expected if offer is not None else 0
    if offer is None or expected < least:
        told = (
            "no market here trades it" if offer is None else f"the best market pays {format_units(expected, 18, 'ETH')}"
        )
        raise DepositPoolDry(
            f"there is {format_units(network.collateral, 18, 'ETH')} to burn rETH against, and {told}",
            available=str(network.collateral),
            least=str(least),
            offered=str(expected) if offer is not None else None,
        )
    plan = ask(slippage_bps=(expected - least) * 10_000 // expected)
    if plan is None or plan.receives[0].bound < least:
        raise DepositPoolDry("the market's offer went away while it was asked", available=str(network.collateral))
    return plan


def _check_deposit(network: RocketPoolState, amount: int) -> None:
    if not network.is_enabled:
        raise DepositsDisabled("the network takes no deposits now")
    if amount < network.least_deposit:
        raise DepositRefused(
            f"one deposit is at least {format_units(network.least_deposit, 18, 'ETH')}",
            least=str(network.least_deposit),
        )
    if amount > network.most_deposit:
        raise DepositPoolFull(
            f"the pool takes at most {format_units(network.most_deposit, 18, 'ETH')} at the moment",
            remaining=str(network.most_deposit),
        )
    # Its own deposit lies behind it until a node takes it, which is no way out to count on.
    if network.collateral * 10_000 < amount * LEAST_FREE_BPS:
        raise MarketClosed(
            "there is no ether behind rETH to burn it for: what goes in would come back by a sale alone",
            reason="dry",
            available=str(network.collateral),
        )


def _class_of(network: RocketPoolState, amount: int) -> ActionClass:
    return ActionClass.CLOSE_POSITION if amount >= network.held else ActionClass.DECREASE_POSITION


def _describe(network: RocketPoolState, at: RocketPoolContracts, amount: int) -> dict[str, str]:
    return {
        "venue": NAME,
        "reth": at.reth,
        "amount": str(amount),
        "exchange_rate": rate_text(network.rate.wei) or "",
        "deposit_pool_balance": format_units(network.pool_balance, 18),
    }


def _reth(outcome: PlanOutcome, details: _Details) -> TokenMeta:
    return TokenMeta(outcome.plan.chain_id, details.reth, "rETH", 18, "", is_registered=False)
