"""`lido_stake`, `lido_wrap`, `lido_unwrap`: into the pool, and between its two tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools_app.core.stored_json import write_stored
from tools_app.core.units import apply_bps_down, format_units
from tools_app.protocols.lido import plans
from tools_app.protocols.lido.addresses import LidoContracts, deployment_on
from tools_app.protocols.lido.errors import StakeLimitReached, StakeTooSmall, StakingPaused
from tools_app.protocols.lido.params import StakedToken
from tools_app.protocols.lido.positions import STETH, WSTETH
from tools_app.protocols.lido.reads import Staking, read_staking
from tools_app.protocols.lido.tools.family import check_oracle, lido, rate_text
from tools_app.standards.erc20 import MOVED
from tools_app.standards.market_orders import find_swap
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.lending import MarketClosed
from tools_app.toolkit.params import AddressOrNobody, RawAmount, SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE, TokenMeta

DIRECT, SECONDARY = "direct", "secondary_market"


class StakeReport(Told):
    """What staking did. `share_rate` is the ETH of one wstETH at the preview."""

    eth_staked: TokenAmount
    token_received: TokenAmount
    token_symbol: str
    share_rate: str
    route: str
    staking_limit_remaining: str | None


class WrapReport(Told):
    """stETH that became wstETH."""

    st_eth_wrapped: TokenAmount
    wst_eth_received: TokenAmount
    share_rate: str


class UnwrapReport(Told):
    """wstETH that became stETH."""

    wst_eth_unwrapped: TokenAmount
    st_eth_received: TokenAmount
    share_rate: str


@dataclass(frozen=True, slots=True)
class _Token:
    address: str
    symbol: str
    decimals: int
    chain_id: int

    @property
    def meta(self) -> TokenMeta:
        return TokenMeta(self.chain_id, self.address, self.symbol, self.decimals, "", is_registered=False)


@dataclass(frozen=True, slots=True)
class _WrapDetails:
    amount: int
    spent: _Token
    received: _Token
    share_rate: str


@dataclass(frozen=True, slots=True)
class _StakeDetails(_WrapDetails):
    route: str
    staking_limit_remaining: str | None


def report_stake(outcome: PlanOutcome) -> StakeReport:
    """What arrived is what the token's own event says came to the account."""
    details = read_details(_StakeDetails, outcome)
    token = details.received.meta
    return StakeReport(
        eth_staked=TokenAmount(-outcome.deltas.get(NATIVE, 0), outcome.plan.spends[0].token),
        token_received=TokenAmount(_came(outcome, token.address), token),
        token_symbol=token.symbol,
        share_rate=details.share_rate,
        route=details.route,
        staking_limit_remaining=details.staking_limit_remaining,
    )


def report_wrap(outcome: PlanOutcome) -> WrapReport:
    """From the events of both tokens."""
    details = read_details(_WrapDetails, outcome)
    spent, received = details.spent.meta, details.received.meta
    return WrapReport(
        st_eth_wrapped=TokenAmount(details.amount, spent),
        wst_eth_received=TokenAmount(_came(outcome, received.address), received),
        share_rate=details.share_rate,
    )


def report_unwrap(outcome: PlanOutcome) -> UnwrapReport:
    """From the events of both tokens."""
    details = read_details(_WrapDetails, outcome)
    spent, received = details.spent.meta, details.received.meta
    return UnwrapReport(
        wst_eth_unwrapped=TokenAmount(details.amount, spent),
        st_eth_received=TokenAmount(_came(outcome, received.address), received),
        share_rate=details.share_rate,
    )


@lido.write(
    risk=RiskLayer.BOUNDED,
    report=report_stake,
    aliases=("lido_stake_eth",),
    snippet=(
        "stake at lido: turn ETH into wstETH or stETH, directly at the pool or, where a market gives more or the pool"
        " takes no more, on that market; it can be left again through a queue of days."
    ),
    guidelines=(
        "Keep ETH for gas: what is staked comes back only through the withdrawal queue or a market.",
        "wstETH is the default because its balance does not change by itself.",
        "While the oracle is stalled nothing is staked; look at lido_get_oracle_status.",
    ),
)
def lido_stake(
    ctx: WriteContext,
    amount: RawAmount,
    output_token: StakedToken = "wstETH",  # noqa: S107 (a symbol)
    referral: AddressOrNobody | None = None,
    max_slippage_bps: SlippageBps = 50,
) -> TxPlan:
    """Stake ETH with Lido and hold wstETH or stETH for it.

    Use to earn staking yield on ETH that is not needed for days. `amount` is wei of ETH. It goes to the pool itself
    (no slippage beyond a wei or two of rounding), or is traded on a market that gives more; `max_slippage_bps` bounds
    the trade. Does not lend, restake or borrow, and does not stake WETH: unwrap it first.
    """
    reader = ctx.begin("Reading the pool")
    at = deployment_on(reader)
    state = read_staking(reader, at, ctx.account, allowance=(at.steth, at.wsteth))
    check_oracle(state.oracle)
    if state.is_queue_paused:
        raise MarketClosed(
            "Lido's withdrawal queue is paused: what goes in would come back by a sale alone; stake once it goes on",
            reason="queue",
        )
    coin = reader.native()
    check_enough(coin, balance=reader.native_balance(ctx.account), needed=amount)
    ctx.step("Building calls")
    key = WSTETH if output_token == "wstETH" else STETH  # noqa: S105 (a symbol)
    bought = _buy(ctx, reader, at, state, key=key, amount=amount, slippage_bps=max_slippage_bps)
    if bought is not None:
        return bought
    _check_direct(state, amount)
    return _stake_directly(ctx, reader, at, state, key=key, amount=amount, referral=referral)


def _stake_directly(
    ctx: WriteContext,
    reader: ChainReader,
    at: LidoContracts,
    state: Staking,
    *,
    key: str,
    amount: int,
    referral: str | None,
) -> TxPlan:
    pool, coin = state.pool, reader.native()
    steth, chain_id = reader.token(at.steth), reader.chain_id
    draft = PlanDraft(chain_id, ctx.account)
    draft.spend(coin, amount)
    draft.call(plans.submit(at, amount, referral or plans.NOBODY))
    if key == WSTETH:
        # Rounding may leave a wei or two of what was staked; what is wrapped is there for certain.
        wrapped = amount - pool.dust
        draft.approve(steth, spender=at.wsteth, amount=wrapped, allowance=state.allowance)
        draft.call(plans.wrap(at, wrapped))
        draft.changes += [
            plans.grows(chain_id, STETH, pool.dust, pool=pool, least=0),
            plans.grows(chain_id, WSTETH, wrapped, pool=pool, least=wrapped - 2 * pool.dust),
        ]
    else:
        draft.changes.append(plans.grows(chain_id, key, amount, pool=pool))
    left = None if state.limit >= 2**255 else str(state.limit - amount)
    return draft.finish(
        action_class=_class_of(state, key),
        details={
            **_describe(state, amount, received=reader.token(at.tokens[key]), spent=coin),
            "route": DIRECT,
            "staking_limit_remaining": left,
        },
    )


def _buy(
    ctx: WriteContext,
    reader: ChainReader,
    at: LidoContracts,
    state: Staking,
    *,
    key: str,
    amount: int,
    slippage_bps: int,
) -> TxPlan | None:
    """The trade that brings more than the pool, or what it brings where the pool takes no more; else None."""
    token, coin = reader.token(at.tokens[key]), reader.native()
    plan = find_swap(
        ctx, chain_id=reader.chain_id, sold=NATIVE, bought=token.address, amount=amount, slippage_bps=slippage_bps
    )
    if plan is None:
        return None
    direct = state.pool.shares_of(amount) if key == WSTETH else amount
    got = plan.receives[0]
    is_open = not state.is_paused and amount <= state.limit
    if got.bound <= direct if is_open else got.expected < apply_bps_down(direct, slippage_bps):
        return None
    worth = [state.pool.ether_of(each) if key == WSTETH else each for each in (got.expected, got.bound)]
    change = plans.grows(
        reader.chain_id, key, worth[0], pool=state.pool, least=plans.worth_less_after(worth[1]) - 2 * state.pool.dust
    )
    details = _describe(state, amount, received=token, spent=coin)
    return replace(
        plan,
        receives=(),
        changes=(*plan.changes, change),
        action_class=_class_of(state, key),
        details={**plan.details, **details, "route": SECONDARY, "staking_limit_remaining": None},
    )


def _check_direct(state: Staking, amount: int) -> None:
    if state.is_paused:
        raise StakingPaused("the pool takes no ether now, and no market here trades it for as much")
    if amount > state.limit:
        raise StakeLimitReached(
            f"the pool takes at most {format_units(state.limit, 18, 'ETH')} at the moment",
            remaining=str(state.limit),
            needed=str(amount),
        )
    if amount <= 10 * state.pool.dust:
        raise StakeTooSmall("so little that rounding would take a good part of it", least=str(10 * state.pool.dust + 1))


def _class_of(state: Staking, key: str) -> ActionClass:
    held = state.wrapped if key == WSTETH else state.shares
    return ActionClass.INCREASE_POSITION if held else ActionClass.NEW_POSITION


@lido.write(
    risk=RiskLayer.LOW,
    budget=TickBudget.FAST,
    report=report_wrap,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="wrap at lido: turn stETH into wstETH, whose balance stands still; worth the same, no slippage.",
    guidelines=("Wrap what other protocols are to hold: few of them count a balance that grows by itself.",),
)
def lido_wrap(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Wrap stETH into wstETH.

    Use to hold staked ETH in a form whose balance does not change by itself. `amount` is wei of stETH.
    Does not stake ETH and does not wrap ETH into WETH.
    """
    reader = ctx.begin("Reading the pool")
    at = deployment_on(reader)
    state = read_staking(reader, at, ctx.account, allowance=(at.steth, at.wsteth))
    check_oracle(state.oracle)
    steth = reader.token(at.steth)
    check_enough(steth, balance=state.pool.ether_of(state.shares), needed=amount)
    _check_moved(state, amount)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.approve(steth, spender=at.wsteth, amount=amount, allowance=state.allowance)
    draft.call(plans.wrap(at, amount))
    draft.changes += [
        plans.shrinks(reader.chain_id, STETH, amount, pool=state.pool),
        plans.grows(reader.chain_id, WSTETH, amount, pool=state.pool),
    ]
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        details=_describe(state, amount, spent=steth, received=reader.token(at.wsteth)),
    )


@lido.write(
    risk=RiskLayer.LOW,
    budget=TickBudget.FAST,
    report=report_unwrap,
    action_class=ActionClass.REBALANCE,
    snippet="unwrap at lido: turn wstETH back into stETH, whose balance grows; worth the same, no slippage.",
    guidelines=("Unwrapping is no way to ETH: ask for a withdrawal, which takes wstETH as well.",),
)
def lido_unwrap(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Unwrap wstETH into stETH.

    Use before something that takes stETH only. `amount` is base units of wstETH.
    Does not give ETH; the withdrawal queue takes wstETH as it is.
    """
    reader = ctx.begin("Reading the pool")
    at = deployment_on(reader)
    state = read_staking(reader, at, ctx.account)
    wsteth = reader.token(at.wsteth)
    check_enough(wsteth, balance=state.wrapped, needed=amount)
    ether = state.pool.ether_of(amount)
    _check_moved(state, ether)
    ctx.step("Building calls")
    least = plans.worth_less_after(ether) - 2 * state.pool.dust
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(plans.unwrap(at, amount))
    draft.changes += [
        plans.shrinks(reader.chain_id, WSTETH, ether, pool=state.pool, in_shares=True),
        plans.grows(reader.chain_id, STETH, ether, pool=state.pool, least=least),
    ]
    return draft.finish(
        action_class=ActionClass.REBALANCE,
        details=_describe(state, amount, spent=wsteth, received=reader.token(at.steth)),
    )


def _check_moved(state: Staking, ether: int) -> None:
    if ether <= 10 * state.pool.dust:
        raise StakeTooSmall("so little that rounding would take a good part of it", least=str(10 * state.pool.dust + 1))


def _describe(state: Staking, amount: int, *, spent: TokenMeta, received: TokenMeta) -> dict[str, object]:
    return {
        "venue": "lido",
        "amount": str(amount),
        "amount_units": format_units(amount, spent.decimals, spent.symbol),
        "spent": _note(spent),
        "received": _note(received),
        "share_rate": rate_text(state.pool.rate),
    }


def _note(token: TokenMeta) -> dict[str, object]:
    return write_stored(_Token(token.address, token.symbol, token.decimals, token.chain_id))


def _came(outcome: PlanOutcome, token: str) -> int:
    """Base units that came to the account, less what went on from it, as the token's events say."""
    moved = list_events(outcome, MOVED, contract=token)
    came = sum(each.value for each in moved if each.to == outcome.account)
    return came - sum(each.value for each in moved if each.from_ == outcome.account)
