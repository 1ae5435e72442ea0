"""`lido_get_position`, `lido_get_rates`, `lido_get_oracle_status`, `lido_exit_decision`."""

from __future__ import annotations

from tools_app.core.ratio import percent_text
from tools_app.core.units import BPS, format_units
from tools_app.protocols.lido.addresses import (
    BRIDGED,
    CHAINS,
    HELD_ON,
    LOCAL_CHAIN_ID,
    READ_ON,
    LidoContracts,
    deployment_on,
)
from tools_app.protocols.lido.history import read_past, read_rebases
from tools_app.protocols.lido.math import measure_earned, rate_change, yearly_bps
from tools_app.protocols.lido.positions import split_amount
from tools_app.protocols.lido.reads import (
    Request,
    list_request_ids,
    read_queue,
    read_reports,
    read_requests,
    read_staking,
)
from tools_app.protocols.lido.tools.family import lido, rate_text, time_text
from tools_app.select_tool_for_venue import whose
from tools_app.standards.bridged_stakes import find_bridged, find_home, read_balance
from tools_app.standards.market_orders import quote_swap
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import Address, Days
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

_DAY = 86_400
_MONTH_DAYS = 30
HOLD, QUEUE, SELL, NOTHING = "hold", "queue", "sell", "nothing_held"


class OpenRequest(Told):
    """A place in the queue. `eth` is what it gives now, or would."""

    request_id: str
    eth: TokenAmount
    is_final: bool
    requested_at: str | None
    estimated_ready_at: str | None


class StakedPosition(Told):
    """What an account has at Lido. Rates are ETH of a whole share; deltas null where no report is that young.

    Away from the pool there is wstETH alone: its rate is that of the pool on `pool_chain_id`, and what it earned since
    a sale is null, since times of two chains are not one order.
    """

    st_eth_balance: TokenAmount
    wst_eth_balance: TokenAmount
    shares: str
    current_share_rate: str
    share_rate_delta_7d: str | None
    share_rate_delta_30d: str | None
    realized_apy_7d: str | None
    yield_earned_since_last_harvest: TokenAmount | None
    eth_float: TokenAmount
    open_withdrawal_requests: tuple[OpenRequest, ...]
    eth_equivalent: TokenAmount
    is_simulated: bool
    pool_chain_id: int


class RatePoint(Told):
    """One report: ETH of a whole share after it, and the yearly rate it means, in percent."""

    timestamp: str | None
    share_rate: str
    apy: str | None


class StakingRates(Told):
    """Yearly rates in percent, simple. Null where no report is that young."""

    share_rate: str
    delta_7d: str | None
    delta_30d: str | None
    estimated_apy: str | None
    last_update_timestamp: str | None
    data_points: tuple[RatePoint, ...]
    average_apy: str | None
    min_apy: str | None
    max_apy: str | None
    is_simulated: bool
    pool_chain_id: int


class OracleStatus(Told):
    """The accounting oracle, in epochs of the beacon chain."""

    last_finalized_epoch: int
    expected_epoch: int
    epochs_overdue: int
    quorum_reached: bool
    quorum_members_reporting: int
    quorum_size: int
    members: int
    estimated_next_rebase: str | None
    is_oracle_stalled: bool
    pool_chain_id: int


class ExitDecision(Told):
    """What leaving would give through the queue and on a market; `decision` is hold, queue, sell or nothing_held."""

    decision: str
    reason: str
    eth_equivalent: TokenAmount
    queue_eth: TokenAmount
    queue_wait_seconds: int | None
    queue_ready_at: str | None
    queue_requests: int
    queue_is_open: bool
    market_eth: TokenAmount | None
    market_discount_pct: str | None
    yield_forgone_eth: TokenAmount | None


@lido.read(
    query="staking_position",
    chains=HELD_ON,
    schema_version=2,
    snippet="staking_position at lido: stETH, wstETH, their ETH, what they earned, and requests in the queue.",
    guidelines=(
        "Requests in the queue are part of what is held: count them before you stake again or ask for another "
        "withdrawal.",
    ),
)
def lido_get_position(ctx: ReadContext, account: Address | None = None) -> StakedPosition:
    """Read what an account has at Lido: both tokens, their worth in ETH, yield, and withdrawal requests.

    Use before staking more, harvesting or leaving, and for wstETH on another chain. `account` defaults to the golem's
    own. Does not value anything in dollars.
    """
    owner = _account(ctx, account)
    reader, at = _open_pool(ctx)
    if reader.chain_id != ctx.chain_id:
        return _tell_bridged(ctx, reader, at, owner)
    ctx.step("Reading the pool")
    state = read_staking(reader, at, owner)
    requests = read_requests(reader, at, list_request_ids(reader, at, owner))
    ready = read_queue(reader, at).ready_at(state.oracle) if any(not each.is_final for each in requests) else None
    ctx.step("Reading the past")
    past = read_past(reader, at, owner, days=_MONTH_DAYS)
    earned = measure_earned(shares_now=state.shares + state.wrapped, moves=past.moves, rebases=past.rebases)
    coin, now = reader.native(), reader.block.timestamp
    queued = [_show(each, coin, ready) for each in requests]
    held = state.pool.ether_of(state.shares) + state.pool.ether_of(state.wrapped)
    return StakedPosition(
        st_eth_balance=TokenAmount(state.pool.ether_of(state.shares), reader.token(at.steth)),
        wst_eth_balance=TokenAmount(state.wrapped, reader.token(at.wsteth)),
        shares=str(state.shares + state.wrapped),
        current_share_rate=rate_text(state.pool.rate),
        share_rate_delta_7d=_rate(rate_change(past.rebases, since=now - 7 * _DAY)),
        share_rate_delta_30d=_rate(rate_change(past.rebases, since=now - _MONTH_DAYS * _DAY)),
        realized_apy_7d=percent_text(yearly_bps(past.rebases, since=now - 7 * _DAY)),
        yield_earned_since_last_harvest=TokenAmount(earned.wei, coin),
        eth_float=TokenAmount(reader.native_balance(owner), coin),
        open_withdrawal_requests=tuple(queued),
        eth_equivalent=TokenAmount(held + sum(each.eth.raw for each in queued), coin),
        is_simulated=_is_simulated(reader),
        pool_chain_id=reader.chain_id,
    )


@lido.read(
    query="staking_rates",
    chains=READ_ON,
    schema_version=2,
    snippet="staking_rates at lido: ETH of a share, how it grew, and what that is a year.",
    guidelines=(
        "Compare it with lenders' rates over the same days, and take gas and the market's discount off before you "
        "move anything.",
    ),
)
def lido_get_rates(ctx: ReadContext, days: Days = 30) -> StakingRates:
    """Read the rate of Lido's shares and its history from the oracle's own reports.

    Use to compare staking with lending. Rates are simple, in percent a year, after the protocol's fee.
    Does not predict: the past is no promise.
    """
    reader, at = _open_pool(ctx)
    ctx.step("Reading the pool")
    state = read_staking(reader, at, None)
    ctx.step("Reading the past")
    rebases = read_rebases(reader, at, days=max(days, _MONTH_DAYS)).rebases
    now = reader.block.timestamp
    wanted = [each for each in rebases if each.timestamp >= now - days * _DAY]
    yearly = [each.apr_bps for each in wanted]
    return StakingRates(
        share_rate=rate_text(state.pool.rate),
        delta_7d=_rate(rate_change(rebases, since=now - 7 * _DAY)),
        delta_30d=_rate(rate_change(rebases, since=now - _MONTH_DAYS * _DAY)),
        estimated_apy=percent_text(yearly_bps(rebases, since=now - 7 * _DAY)),
        last_update_timestamp=time_text(rebases[-1].timestamp if rebases else None),
        data_points=tuple(
            RatePoint(time_text(each.timestamp), rate_text(each.rate_after), percent_text(each.apr_bps))
            for each in wanted
        ),
        average_apy=percent_text(yearly_bps(wanted, since=0)),
        min_apy=percent_text(min(yearly, default=None)),
        max_apy=percent_text(max(yearly, default=None)),
        is_simulated=_is_simulated(reader),
        pool_chain_id=reader.chain_id,
    )


@lido.read(
    budget=TickBudget.FAST,
    chains=READ_ON,
    schema_version=2,
    snippet="oracle_status at lido: whether the oracle that moves the rate and the withdrawal queue reports in time.",
    guidelines=("While is_oracle_stalled is true only look on and leave; nothing new is staked.",),
)
def lido_get_oracle_status(ctx: ReadContext) -> OracleStatus:
    """Read whether Lido's accounting oracle is in time, and how many of its members have reported.

    Use when a rebase or a withdrawal is late. Does not read the beacon chain itself.
    """
    reader, at = _open_pool(ctx)
    ctx.step("Reading the oracle")
    oracle = read_staking(reader, at, None).oracle
    reports = read_reports(reader, at, oracle)
    return OracleStatus(
        last_finalized_epoch=oracle.epoch_of(oracle.processed_slot),
        expected_epoch=oracle.epoch_of(oracle.frame_slot),
        epochs_overdue=max(0, oracle.epoch_of(oracle.frame_slot) - oracle.epoch_of(oracle.processed_slot)),
        quorum_reached=reports.is_reached,
        quorum_members_reporting=reports.reporting,
        quorum_size=reports.quorum,
        members=reports.members,
        estimated_next_rebase=time_text(oracle.next_report_at),
        is_oracle_stalled=oracle.is_stalled,
        pool_chain_id=reader.chain_id,
    )


@lido.read(
    budget=TickBudget.SLOW,
    chains=HELD_ON,
    snippet="exit_decision at lido: what leaving gives through the queue and when, and what a market pays now.",
    guidelines=("A phase that must raise ETH now takes the market; one that has days takes the queue.",),
)
def lido_exit_decision(ctx: ReadContext, account: Address | None = None) -> ExitDecision:
    """Compare the ways out of Lido for what an account holds: the queue at full worth later, a market now.

    Use before leaving. The market is whichever that chain has that gives most; null where none trades wstETH. Where
    there is no pool there is no queue either: wstETH there is sold, or brought to Ethereum first.
    Does not act, and does not count what is in the queue already.
    """
    owner = _account(ctx, account)
    reader, at = _open_pool(ctx)
    is_home = reader.chain_id == ctx.chain_id
    ctx.step("Reading the pool")
    state, queue = read_staking(reader, at, owner if is_home else None), read_queue(reader, at)
    coin, now = reader.native(), reader.block.timestamp
    token = at.wsteth if is_home else find_bridged(ctx.chain(), BRIDGED, symbol="wstETH")
    shares = state.shares + state.wrapped if is_home else read_balance(ctx.chain(), token, owner)
    worth = state.pool.ether_of(shares)
    ready = queue.ready_at(state.oracle, more=worth) if is_home else None
    wait = None if ready is None else max(0, ready - now)
    ctx.step("Asking markets")
    ether = _ether_on(ctx.chain())
    sold = None if ether is None else quote_swap(ctx, chain_id=ctx.chain_id, sold=token, bought=ether, amount=shares)
    yearly = yearly_bps(read_rebases(reader, at, days=7).rebases, since=0)
    discount = None if sold is None or not worth else (worth - sold) * BPS // worth
    is_open = is_home and not queue.is_paused
    decision, reason = _decide(worth, wait, discount, is_stalled=state.oracle.is_stalled, is_paused=not is_open)
    if worth and not is_home:
        reason = f"the queue is on chain {reader.chain_id}, where wstETH would have to be brought first; {reason}"
    # What the queue earns its owner while it waits is nothing.
    forgone = None if yearly is None or wait is None else worth * yearly * wait // (BPS * 365 * _DAY)
    return ExitDecision(
        decision=decision,
        reason=reason,
        eth_equivalent=TokenAmount(worth, coin),
        queue_eth=TokenAmount(worth, coin),
        queue_wait_seconds=wait,
        queue_ready_at=time_text(ready),
        queue_requests=len(split_amount(worth, queue.least, queue.most)) if is_home else 0,
        queue_is_open=is_open,
        market_eth=None if sold is None else TokenAmount(sold, coin),
        market_discount_pct=percent_text(discount),
        yield_forgone_eth=None if forgone is None else TokenAmount(forgone, coin),
    )


_FAIR_DISCOUNT_BPS = 10
"""A market that pays so near to full worth is better than days in a queue."""


def _decide(
    worth: int, wait: int | None, discount_bps: int | None, *, is_stalled: bool, is_paused: bool
) -> tuple[str, str]:
    if not worth:
        return NOTHING, "the account holds no stETH and no wstETH"
    if discount_bps is not None and discount_bps <= _FAIR_DISCOUNT_BPS:
        return SELL, f"a market pays within {format_units(_FAIR_DISCOUNT_BPS, 2)}% of full worth at once"
    if is_paused or wait is None:
        if discount_bps is None:
            return HOLD, "the queue takes nothing or tells no time, and no market here trades it"
        return SELL, f"the queue takes nothing or tells no time; a market pays {format_units(discount_bps, 2)}% less"
    if is_stalled:
        return QUEUE, "the oracle has stalled, so rates are old; the queue keeps full worth once it reports"
    return QUEUE, "the queue gives full worth; no market pays nearly as much"


def _open_pool(ctx: ReadContext) -> tuple[ChainReader, LidoContracts]:
    """The chain that the pool is on, and its contracts. Raises ChainNotSupported, also where it has no node."""
    reader = ctx.chain(find_home(ctx.chain_id, CHAINS))
    return reader, deployment_on(reader)


def _tell_bridged(ctx: ReadContext, pool: ChainReader, at: LidoContracts, owner: str) -> StakedPosition:
    """What an account has of wstETH on a chain without the pool."""
    here = ctx.begin("Reading the pool")
    token = find_bridged(here, BRIDGED, symbol="wstETH")
    state = read_staking(pool, at, None)
    ctx.step("Reading the past")
    rebases, now = read_rebases(pool, at, days=_MONTH_DAYS).rebases, pool.block.timestamp
    held = read_balance(here, token, owner)
    coin = pool.native()
    return StakedPosition(
        st_eth_balance=TokenAmount(0, pool.token(at.steth)),
        wst_eth_balance=TokenAmount(held, here.token(token)),
        shares=str(held),
        current_share_rate=rate_text(state.pool.rate),
        share_rate_delta_7d=_rate(rate_change(rebases, since=now - 7 * _DAY)),
        share_rate_delta_30d=_rate(rate_change(rebases, since=now - _MONTH_DAYS * _DAY)),
        realized_apy_7d=percent_text(yearly_bps(rebases, since=now - 7 * _DAY)),
        yield_earned_since_last_harvest=None,
        eth_float=TokenAmount(here.native_balance(owner), here.native()),
        open_withdrawal_requests=(),
        eth_equivalent=TokenAmount(state.pool.ether_of(held), coin),
        is_simulated=_is_simulated(pool),
        pool_chain_id=pool.chain_id,
    )


def _ether_on(reader: ChainReader) -> str | None:
    """What ether is on a chain: its coin, or the token it is there; None where neither is known."""
    coin = reader.native()
    if coin.symbol == "ETH":
        return coin.address
    return next((token.address for token in reader.registered_tokens() if token.symbol == "WETH"), None)


def _account(ctx: ReadContext, account: str | None) -> str:
    found = whose(ctx, account)
    return found


def _show(each: Request, coin: TokenMeta, ready: int | None) -> OpenRequest:
    return OpenRequest(
        request_id=str(each.id),
        eth=TokenAmount(each.claimable if each.is_final else each.ether, coin),
        is_final=each.is_final,
        requested_at=time_text(each.asked_at),
        estimated_ready_at=None if each.is_final else time_text(ready),
    )


def _rate(wei: int | None) -> str | None:
    return None if wei is None else rate_text(wei)


def _is_simulated(reader: ChainReader) -> bool:
    return reader.chain_id == LOCAL_CHAIN_ID
