"""`rocketpool_get_position`, `rocketpool_get_rates`, `rocketpool_get_operators`."""

from __future__ import annotations

from tools_app.chain.abi import encode_event_topics
from tools_app.core.ratio import percent_text
from tools_app.core.units import BPS
from tools_app.protocols.rocketpool import reads
from tools_app.protocols.rocketpool.addresses import (
    BRIDGED,
    CHAINS,
    HELD_ON,
    LOCAL_CHAIN_ID,
    READ_ON,
    RocketPoolContracts,
    find_contracts,
)
from tools_app.protocols.rocketpool.math import ONE, RateReport, rate_change, yearly_bps
from tools_app.protocols.rocketpool.reads import Operator, read_network, read_operators, read_reports
from tools_app.protocols.rocketpool.tools.family import rate_text, rocketpool, share_text
from tools_app.select_tool_for_venue import whose
from tools_app.standards.bridged_stakes import find_bridged, find_home, read_balance
from tools_app.standards.erc20 import MOVED, TRANSFER_EVENT
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.params import Address, CommissionPercent, Count
from tools_app.toolkit.result import TokenAmount

_DAY = 86_400
_WEEK, _MONTH = 7, 30
_LOOK_BACK_DAYS = 40
MOST_OPERATORS = 100
_WEI_OF_A_MINIPOOL = 32 * ONE


class StakedPosition(Told):
    """What an account has at Rocket Pool. Rates are ETH of a whole rETH; null where no report is that old.

    Away from the network there is rETH alone, at the rate of `pool_chain_id`, and what it earned there is null: times
    of two chains are not one order.
    """

    r_eth_balance: TokenAmount
    eth_equivalent: TokenAmount
    exchange_rate: str
    exchange_rate_delta_7d: str | None
    exchange_rate_delta_30d: str | None
    realized_apy_7d: str | None
    realized_apy_30d: str | None
    yield_earned_eth: TokenAmount | None
    yield_days: int
    is_simulated: bool
    pool_chain_id: int


class NetworkRates(Told):
    """The network. Rates in percent, amounts in ETH; null where the network does not tell."""

    exchange_rate: str
    estimated_apy: str | None
    delta_7d: str | None
    delta_30d: str | None
    node_commission: str | None
    deposit_pool_balance: TokenAmount
    deposit_pool_capacity: TokenAmount
    redeemable: TokenAmount
    deposit_fee: str
    total_staked_eth: TokenAmount | None
    active_minipools: int | None
    is_simulated: bool
    pool_chain_id: int


class OperatorLine(Told):
    """One operator. `performance_score` is the percentage of its active minipools that stake; null without any.

    `slashing_history` is empty where `slashing_is_told` is false: the network's contracts do not tell it.
    """

    address: str
    minipools: int
    staked_eth: TokenAmount
    commission_rate: str
    performance_score: str | None
    slashing_history: tuple[str, ...]
    slashing_is_told: bool


class Operators(Told):
    """Operators that pass the filters, out of the first hundred in the network's own order."""

    operators: tuple[OperatorLine, ...]
    total_operators: int
    looked_at: int
    network_average_commission: str | None
    pool_chain_id: int


@rocketpool.read(
    query="staking_position",
    chains=HELD_ON,
    schema_version=2,
    snippet="staking_position at rocketpool: the rETH an account holds, its worth in ETH, and what it earned.",
    guidelines=(
        "The yield lies in the rate, so the number of rETH stands still: compare what it is worth in ETH and not "
        "the balance.",
    ),
)
def rocketpool_get_position(ctx: ReadContext, account: Address | None = None) -> StakedPosition:
    """Read what an account has at Rocket Pool: rETH, its ETH, and the yield of the last 30 days.

    Use before staking more or leaving, and for rETH on another chain. `account` defaults to the golem's own. Does not
    value in dollars.
    """
    owner = whose(ctx, account)
    reader, at = _open_network(ctx)
    here = ctx.begin("Reading the network")
    is_home = here.chain_id == reader.chain_id
    token = at.reth if is_home else find_bridged(here, BRIDGED, symbol="rETH")
    network = read_network(reader, at, owner if is_home else None)
    held = network.held if is_home else read_balance(here, token, owner)
    ctx.step("Reading the past")
    reports = read_reports(reader, at, days=_LOOK_BACK_DAYS)
    now, rate, coin = reader.block.timestamp, network.rate.wei, reader.native()
    earned = TokenAmount(_earned(reader, token, owner, held, reports), coin) if is_home else None
    return StakedPosition(
        r_eth_balance=TokenAmount(held, here.token(token)),
        eth_equivalent=TokenAmount(network.rate.ether_of(held), coin),
        exchange_rate=rate_text(rate) or "",
        exchange_rate_delta_7d=rate_text(rate_change(reports, now_rate=rate, since=now - _WEEK * _DAY)),
        exchange_rate_delta_30d=rate_text(rate_change(reports, now_rate=rate, since=now - _MONTH * _DAY)),
        realized_apy_7d=percent_text(yearly_bps(reports, now_rate=rate, now=now, since=now - _WEEK * _DAY)),
        realized_apy_30d=percent_text(yearly_bps(reports, now_rate=rate, now=now, since=now - _MONTH * _DAY)),
        yield_earned_eth=earned,
        yield_days=_MONTH,
        is_simulated=reader.chain_id == LOCAL_CHAIN_ID,
        pool_chain_id=reader.chain_id,
    )


@rocketpool.read(
    query="staking_rates",
    chains=READ_ON,
    schema_version=2,
    snippet="staking_rates at rocketpool: ETH of a rETH and how it grew, and whether the pool can be left through.",
    guidelines=(
        "Where `redeemable` is less than you hold, the pool cannot take all of it back now: sell a part on the "
        "market, or wait.",
    ),
)
def rocketpool_get_rates(ctx: ReadContext) -> NetworkRates:
    """Read Rocket Pool's exchange rate, its yearly growth, and the deposit pool.

    Use to compare staking, and before leaving: `redeemable` is the ether rETH can be burned against now.
    Does not predict: the past is no promise.
    """
    reader, at = _open_network(ctx)
    ctx.step("Reading the network")
    network = read_network(reader, at, None)
    commission, staked, minipools = _tell_network(reader, at)
    ctx.step("Reading the past")
    reports = read_reports(reader, at, days=_LOOK_BACK_DAYS)
    now, rate, coin = reader.block.timestamp, network.rate.wei, reader.native()
    return NetworkRates(
        exchange_rate=rate_text(rate) or "",
        estimated_apy=percent_text(yearly_bps(reports, now_rate=rate, now=now, since=now - _WEEK * _DAY)),
        delta_7d=rate_text(rate_change(reports, now_rate=rate, since=now - _WEEK * _DAY)),
        delta_30d=rate_text(rate_change(reports, now_rate=rate, since=now - _MONTH * _DAY)),
        node_commission=None if commission is None else share_text(commission),
        deposit_pool_balance=TokenAmount(network.pool_balance, coin),
        deposit_pool_capacity=TokenAmount(network.pool_size, coin),
        redeemable=TokenAmount(network.collateral, coin),
        deposit_fee=share_text(network.rate.fee),
        total_staked_eth=None if staked is None else TokenAmount(staked, coin),
        active_minipools=minipools,
        is_simulated=reader.chain_id == LOCAL_CHAIN_ID,
        pool_chain_id=reader.chain_id,
    )


@rocketpool.read(
    query="staking_operators",
    chains=READ_ON,
    schema_version=2,
    snippet=(
        "staking_operators at rocketpool: node operators with their minipools, their commission and what they stake."
    ),
    guidelines=(
        "It looks at a part of the network only: conclude nothing about rETH as a whole from the operators that it "
        "lists.",
    ),
)
def rocketpool_get_operators(
    ctx: ReadContext,
    min_staked: Count | None = None,
    max_commission: CommissionPercent | None = None,
) -> Operators:
    """Read node operators of Rocket Pool: minipools, ether staked, commission.

    Use to see who stands behind rETH. `min_staked` is whole ETH, `max_commission` percent. Looks at the first hundred.
    Does not tell penalties, which the network's contracts do not list.
    """
    reader, at = _open_network(ctx)
    ctx.step("Reading operators")
    found, total = read_operators(reader, at, limit=MOST_OPERATORS)
    coin = reader.native()
    wanted = [
        each
        for each in found
        if (min_staked is None or each.staking * _WEI_OF_A_MINIPOOL >= min_staked * ONE)
        and (max_commission is None or each.fee <= max_commission * ONE // 100)
    ]
    fees = [each.fee for each in found if each.active]
    return Operators(
        operators=tuple(
            OperatorLine(
                address=each.address,
                minipools=each.active,
                staked_eth=TokenAmount(each.staking * _WEI_OF_A_MINIPOOL, coin),
                commission_rate=share_text(each.fee),
                performance_score=_score(each),
                slashing_history=(),
                slashing_is_told=False,
            )
            for each in wanted
        ),
        total_operators=total,
        looked_at=len(found),
        network_average_commission=share_text(sum(fees) // len(fees)) if fees else None,
        pool_chain_id=reader.chain_id,
    )


def _open_network(ctx: ReadContext) -> tuple[ChainReader, RocketPoolContracts]:
    """The chain that the network is on, and its contracts. Raises ChainNotSupported, also where it has no node."""
    reader = ctx.chain(find_home(ctx.chain_id, CHAINS))
    return reader, find_contracts(reader)


def _score(operator: Operator) -> str | None:
    return percent_text(operator.staking * BPS // operator.active) if operator.active else None


def _tell_network(reader: ChainReader, at: RocketPoolContracts) -> tuple[int | None, int | None, int | None]:
    """Commission, ether that stakes, active minipools; an upgrade of the network may take any of them away."""
    wanted = ((at.fees, reads.NODE_FEE), (at.balances, reads.STAKING_ETH), (at.minipools, reads.ACTIVE_MINIPOOLS))
    outcomes = reader.call_many([ReadCall(address, signature) for address, signature in wanted])
    commission, staked, minipools = (int(each.values[0]) if each.ok and each.values else None for each in outcomes)
    return commission, staked, minipools


def _earned(reader: ChainReader, reth: str, account: str, held: int, reports: list[RateReport]) -> int:
    """Wei that the rETH held at each report of the last 30 days gained with it."""
    since = reader.block.timestamp - _MONTH * _DAY
    first = reader.first_block_since(since).number
    moves: dict[tuple[int, int], int] = {}
    for side in ({"from": account}, {"to": account}):
        topics = encode_event_topics(TRANSFER_EVENT, **side)
        for log in reader.logs(address=reth, topics=topics, from_block=first, to_block=reader.block.number):
            told = MOVED.read(log)
            if told is not None:
                sign = int(told.to == account) - int(told.from_ == account)
                moves[log.block_number, log.log_index] = sign * told.value
    earned = 0
    for before, after in zip(reports, reports[1:], strict=False):
        if after.timestamp >= since:
            then = held - sum(amount for place, amount in moves.items() if place > after.place)
            earned += then * (after.rate - before.rate) // ONE
    return earned
