"""Tools of the bridge: what a transfer costs and how long it takes, sending it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from tools_app.chain.abi import encode_call
from tools_app.core.clock import tell_unix_time
from tools_app.core.units import apply_bps_up, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.across.addresses import CHAINS, NAME, find_same, pool_on
from tools_app.protocols.across.errors import BridgeFeeUnknown, BridgeNotServed, TokenNotBridged
from tools_app.protocols.across.math import least_after
from tools_app.protocols.across.reads import (
    LEAST_SEEN,
    LONGEST_SECONDS,
    LOOK_SECONDS,
    Lately,
    Times,
    check_open,
    find_left,
    find_payment,
    read_lately,
    read_paid,
    read_times,
)
from tools_app.protocols.across.transfers import DEPOSIT, NOBODY, Transfer, read_own, to_word
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import ChainId, RawAmount, Token, check_whole
from tools_app.toolkit.plan import Arrival, Call, PlanOutcome, TxPlan
from tools_app.toolkit.report import Report, seen, spent
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

bridge = ToolFamily(prefix="bridge", category=Category.TRADING, chains=CHAINS, venue=NAME, reads_named=True)
intents = ToolFamily(prefix="uniswap", category=Category.TRADING, chains=CHAINS, venue=NAME)

DEFAULT_SECONDS: Final = 7_200
DOLLARS: Final = "USDC"
"""What goes over bridges most, and so tells best how long it takes."""
NO_PART: Final = "relayers ask one sum: what the pool keeps of it is settled on Ethereum later"
FEW_SEEN: Final = f"fewer than {LEAST_SEEN} transfers of this token arrived in the last {LOOK_SECONDS // 3_600} hours"
RELAYERS: Final = "relayers pay out of their own money, and no contract tells how much they have"
_MARGIN_BPS: Final = 2_000
"""A fifth: what a fee that was seen may have risen by until a relayer looks."""

BridgeName = Annotated[
    Literal["across", "stargate", "hop"],
    Field(description="The bridge; only across is served."),
]
BridgeId = Annotated[
    str, Field(pattern=r"^[0-9]{1,20}$", description="Number of the transfer, as bridge_execute told it.")
]
MostFee = Annotated[
    int,
    Field(ge=0, le=1_000, description="Most the bridge may keep: 10 is 0.1%."),
    BeforeValidator(check_whole),
]
FillSeconds = Annotated[
    int,
    Field(ge=600, le=LONGEST_SECONDS, description="Seconds in which a relayer may pay it out."),
    BeforeValidator(check_whole),
]


class Quote(Told):
    """What of `amount_in` arrives, by what transfers of the last two hours paid. Null where too few were seen:
    `why_null` says so. `estimated_time` is seconds, half of them were quicker. `bridge_fee` is part of `relayer_fee`.
    """

    bridge: str
    token: TokenMeta
    amount_in: TokenAmount
    amount_out: TokenAmount | None
    bridge_fee: TokenAmount | None
    relayer_fee: TokenAmount | None
    fee_bps: int | None
    total_fee_usd: UsdAmount | None
    estimated_time: int | None
    destination_token: TokenMeta
    transfers_seen: int
    why_null: str


class Route(Told):
    """One bridge among those compared; `rank` is null where it is not served or nothing is known."""

    bridge: str
    amount_out: TokenAmount | None
    total_fee_usd: UsdAmount | None
    estimated_time: int | None
    rank: int | None
    notes: str


class Recommendation(Told):
    """The first of the ranking, and why."""

    bridge: str | None
    reason: str


class Comparison(Told):
    """Bridges by what arrives."""

    routes: tuple[Route, ...]
    recommendation: Recommendation


class Limits(Told):
    """How much may go at once. The contracts know no bounds: `largest_seen` is the most that arrived of late."""

    min_amount: TokenAmount | None
    max_amount: TokenAmount | None
    available_liquidity: TokenAmount | None
    largest_seen: TokenAmount | None
    token: TokenMeta
    why_null: str


class Duration(Told):
    """Seconds until half, and nine of ten, of the last transfers arrived; null where too few were seen."""

    p50_time: int | None
    p90_time: int | None
    current_queue_depth: int | None
    transfers_seen: int
    notes: str


class Status(Told):
    """Where a transfer is: pending, completed, or failed when its time is over and nobody paid it out."""

    status: str
    tx_hash_source: str
    tx_hash_dest: str | None
    eta: str | None
    amount: TokenAmount
    arrives: TokenAmount
    destination_chain: int
    notes: str


@dataclass(frozen=True, slots=True)
class _Until:
    until: int


@dataclass(frozen=True, slots=True)
class _Arriving:
    destination_chain: int
    least_arriving: str


class SentReport(Report):
    """What left, and under which number it is followed. `estimated_arrival` is when its time ends at the latest."""

    bridge_id: str = seen(lambda outcome: str(find_sent(outcome).number))
    amount_sent: TokenAmount = spent()
    least_arriving: str
    estimated_arrival: str = seen(lambda outcome: tell_unix_time(read_details(_Until, outcome).until))


class IntentReport(Told):
    """The intent as ERC-7683 names it: its id is the relay's hash. `filler_bids` is null: nobody bids publicly."""

    intent_id: str
    status: str
    source_chain: int
    destination_chain: int
    estimated_output: str
    filler_bids: None
    why_null: str


@dataclass(frozen=True, slots=True)
class Way:
    """A token's way from one chain to another."""

    source: ChainReader
    target: ChainReader
    token: TokenMeta
    arrives: TokenMeta


def open_way(ctx: ReadContext, token: str, source_chain: int, dest_chain: int, bridge_name: str) -> Way:
    """Both chains and the token on each. Raises BridgeNotServed, ChainNotSupported, TokenNotBridged, TokenNotFound."""
    check_served(bridge_name)
    for chain_id in (source_chain, dest_chain):
        pool_on(chain_id)
    if source_chain == dest_chain:
        raise TokenNotBridged("both chains are the same: nothing has to go over a bridge", chain_id=source_chain)
    source, target = ctx.chain(source_chain), ctx.chain(dest_chain)
    sent = source.token(token)
    arrives = None if sent.is_native else find_same(sent, dest_chain)
    if arrives is None or is_wrapped(source, sent) or is_wrapped(target, arrives):
        served = [each.symbol for each in source.registered_tokens() if find_same(each, dest_chain) is not None]
        raise TokenNotBridged(
            f"{sent.symbol} is not sent to chain {dest_chain}: the coin and what wraps it arrive as the coin, others"
            " need a registered token of the same symbol there",
            tokens=[symbol for symbol in served if symbol != f"W{source.native().symbol}"],
        )
    return Way(source, target, sent, arrives)


def check_served(bridge_name: str) -> None:
    """Raises BridgeNotServed with the reason."""
    if bridge_name != NAME:
        raise BridgeNotServed(f"{bridge_name} is not served: {NOT_SERVED[bridge_name]}", bridges=[NAME])


def is_wrapped(reader: ChainReader, token: TokenMeta) -> bool:
    """Whether a token wraps its chain's coin, which recipients without code are paid as the coin."""
    return token.symbol == f"W{reader.native().symbol}"


NOT_SERVED: Final = {
    "stargate": "its messages are not followed here yet",
    "hop": "its contracts come from no registry, and its routes are being closed",
}


def look_lately(ctx: ReadContext, way: Way) -> Lately:
    """What was paid of late on a way."""
    ctx.step("Looking at the last transfers")
    return read_lately(way.target, origin=way.source.chain_id, token=way.token, arrives=way.arrives)


def read_way(ctx: ReadContext, way: Way) -> tuple[Lately, Times]:
    """What was seen of late on a way."""
    lately = look_lately(ctx, way)
    return lately, read_times(way.source, way.target, lately)


def make_quote(ctx: ReadContext, way: Way, amount: int) -> Quote:
    """What arrives of an amount, by what was seen."""
    lately, times = read_way(ctx, way)
    bps = lately.fee_bps
    fee = None if bps is None else amount - least_after(amount, bps)
    worth = None if fee is None else PriceBook(way.source).weigh(way.token.address, fee).micro_usd
    return Quote(
        bridge=NAME,
        token=way.token,
        amount_in=TokenAmount(amount, way.token),
        amount_out=None if fee is None else TokenAmount(amount - fee, way.arrives),
        bridge_fee=None,
        relayer_fee=None if fee is None else TokenAmount(fee, way.token),
        fee_bps=bps,
        total_fee_usd=None if worth is None else UsdAmount(worth),
        estimated_time=times.quick,
        destination_token=way.arrives,
        transfers_seen=len(lately.paid),
        why_null=FEW_SEEN if bps is None else NO_PART,
    )


@bridge.read(
    snippet="bridge_quote: what of an amount arrives on another chain, the fee and the usual time; reads only.",
    guidelines=("Fees follow gas on the other chain: ask again when the last answer is some minutes old.",),
)
def bridge_get_quote(
    ctx: ReadContext,
    token: Token,
    amount: RawAmount,
    source_chain: ChainId,
    dest_chain: ChainId,
    bridge: BridgeName,
) -> Quote:
    """Tell what a transfer to another chain costs and how long it takes, by what others paid in the last two hours.

    Use it before bridge_execute. A figure is null where too few transfers were seen. Does not send anything.
    """
    return make_quote(ctx, open_way(ctx, token, source_chain, dest_chain, bridge), amount)


@bridge.read(
    snippet="bridge_compare: bridges ranked by what arrives on the other chain, with why one is left out; reads only.",
    guidelines=("A rank of null means that nothing is known, not that it is dear.",),
)
def bridge_compare(
    ctx: ReadContext, token: Token, amount: RawAmount, source_chain: ChainId, dest_chain: ChainId
) -> Comparison:
    """Rank bridges by what arrives on the other chain, with why one is left out.

    Use it where no bridge is chosen yet. Does not send anything.
    """
    quote = make_quote(ctx, open_way(ctx, token, source_chain, dest_chain, NAME), amount)
    known = quote.amount_out is not None
    first = Route(
        bridge=NAME,
        amount_out=quote.amount_out,
        total_fee_usd=quote.total_fee_usd,
        estimated_time=quote.estimated_time,
        rank=1 if known else None,
        notes=f"by {quote.transfers_seen} transfers of the last two hours" if known else FEW_SEEN,
    )
    others = tuple(Route(name, None, None, None, None, f"not served: {why}") for name, why in NOT_SERVED.items())
    reason = "the only bridge that is served" if known else f"nothing to rank by: {FEW_SEEN}"
    return Comparison((first, *others), Recommendation(NAME if known else None, reason))


@bridge.read(
    snippet="bridge_limits: how much may go over a bridge at once, and the most that arrived of late; reads only.",
    guidelines=("Split what is much larger than the largest transfer that was seen.",),
)
def bridge_get_limits(
    ctx: ReadContext, bridge: BridgeName, token: Token, source_chain: ChainId, dest_chain: ChainId
) -> Limits:
    """Tell how much may go over a bridge at once, and the most that arrived of late.

    Use it before a large transfer. Does not know what relayers have left.
    """
    way = open_way(ctx, token, source_chain, dest_chain, bridge)
    largest = look_lately(ctx, way).largest
    return Limits(
        min_amount=None,
        max_amount=None,
        available_liquidity=None,
        largest_seen=None if largest is None else TokenAmount(largest, way.token),
        token=way.token,
        why_null=RELAYERS,
    )


@bridge.read(
    query="bridge_time",
    snippet="bridge_time: seconds until half and nine in ten of the last transfers arrived elsewhere; reads only.",
    guidelines=("Plan with the slower figure: what is under way can be used nowhere.",),
)
def bridge_estimate_time(
    ctx: ReadContext, bridge: BridgeName, source_chain: ChainId, dest_chain: ChainId, token: Token = DOLLARS
) -> Duration:
    """Tell how long transfers between two chains took: half of them, and nine of ten, in seconds.

    Use it where time matters. Does not promise it for the next one.
    """
    _, times = read_way(ctx, open_way(ctx, token, source_chain, dest_chain, bridge))
    return Duration(
        p50_time=times.quick,
        p90_time=times.slow,
        current_queue_depth=None,
        transfers_seen=times.seen,
        notes=f"{FEW_SEEN}; no queue: relayers choose" if times.quick is None else "no queue: relayers choose",
    )


@bridge.read(
    snippet="bridge_status: whether a transfer of the golem arrived, with both transactions; reads, changes nothing.",
    guidelines=(
        "A transfer that failed is given back where it left: tell the owner, and send nothing more meanwhile.",
    ),
)
def bridge_get_status(ctx: ReadContext, bridge: BridgeName, bridge_id: BridgeId, source_chain: ChainId) -> Status:
    """Tell where a transfer of the golem is, by its number and the chain it left within the last week.

    Use it after bridge_execute. Does not find transfers of others.
    """
    check_served(bridge)
    pool_on(source_chain)
    source = ctx.chain(source_chain)
    left = find_left(source, number=int(bridge_id), account=ctx.golem.address or "")
    target = ctx.chain(left.to_chain)
    transfer, is_paid = left.transfer, read_paid(target, left)
    is_late = not is_paid and target.block.timestamp > transfer.until
    return Status(
        status="completed" if is_paid else "failed" if is_late else "pending",
        tx_hash_source=left.tx_hash,
        tx_hash_dest=find_payment(target, left) if is_paid else None,
        eta=None if is_paid or is_late else tell_unix_time(transfer.until),
        amount=TokenAmount(transfer.amount, source.token(transfer.token)),
        arrives=TokenAmount(transfer.least, target.token(transfer.arrives)),
        destination_chain=left.to_chain,
        notes=(
            transfer.late_words
            if is_late
            else "eta is when its time ends; most arrive within minutes"
            if not is_paid
            else ""
        ),
    )


def settle_fee(ctx: WriteContext, way: Way, max_fee_bps: int | None) -> int:
    """The most that bridge and relayers may keep: the caller's bound, else one by what others paid of late.

    Raises BridgePaused, BridgeFeeUnknown.
    """
    ctx.step("Looking at both pools")
    check_open(way.source, way.target)
    return max_fee_bps if max_fee_bps is not None else find_fee(way)


def plan_transfer(ctx: WriteContext, way: Way, amount: int, *, bps: int, seconds: int) -> TxPlan:
    """The plan, of which bridge and relayers keep `bps` at most. Raises InsufficientBalance."""
    least, pool = least_after(amount, bps), pool_on(way.source.chain_id)
    quoted, until = way.source.block.timestamp, int(ctx.now.timestamp()) + seconds
    me, to_chain = to_word(ctx.account), way.target.chain_id
    draft = PlanDraft(way.source.chain_id, ctx.account)
    draft.pay(way.source, way.token, amount, to=pool)
    values = (
        *(me, me, to_word(way.token.address), to_word(way.arrives.address), amount, least, to_chain),
        *(NOBODY, quoted, until, 0, b""),
    )
    label = f"send {format_units(amount, way.token.decimals, way.token.symbol)} to chain {to_chain} over Across"
    draft.call(Call(pool, encode_call(DEPOSIT, *values), 0, label))
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        details={
            "max_fee_bps": bps,
            "least_arriving": format_units(least, way.arrives.decimals, way.arrives.symbol),
            "destination_chain": to_chain,
            "until": until,
        },
        arrivals=(Arrival(NAME, to_chain, way.arrives.address, least, ctx.account, until),),
    )


def find_fee(way: Way) -> int:
    """What transfers paid of late and a fifth more, at least one basis point. Raises BridgeFeeUnknown."""
    lately = read_lately(way.target, origin=way.source.chain_id, token=way.token, arrives=way.arrives)
    if lately.fee_bps is None:
        raise BridgeFeeUnknown(
            f"{FEW_SEEN}; say max_fee_bps, the most that bridge and relayers may keep",
            transfers_seen=len(lately.paid),
            seconds=LOOK_SECONDS,
        )
    return max(1, apply_bps_up(lately.fee_bps, _MARGIN_BPS))


def find_sent(outcome: PlanOutcome) -> Transfer:
    """The transfer as the pool wrote it down."""
    found = (
        read_own(log, outcome.account, outcome.plan.chain_id) for receipt in outcome.receipts for log in receipt.logs
    )
    return next(each[1] for each in found if each is not None)


def report_intent(outcome: PlanOutcome) -> IntentReport:
    """The same under the standard's names."""
    details = read_details(_Arriving, outcome)
    to_chain = details.destination_chain
    return IntentReport(
        intent_id="0x" + find_sent(outcome).hash(outcome.account, to_chain).hex(),
        status="pending",
        source_chain=outcome.plan.chain_id,
        destination_chain=to_chain,
        estimated_output=details.least_arriving,
        filler_bids=None,
        why_null="fillers of Across answer with a payment and bid nowhere",
    )


@bridge.write(
    action_type="bridge",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    action_class=ActionClass.INCREASE_POSITION,
    report=SentReport,
    snippet="bridge at across: send a token to the golem's own account on another of its chains, within minutes.",
    guidelines=("What is under way counts until it arrives.",),
)
def bridge_execute(
    ctx: WriteContext,
    bridge: BridgeName,
    token: Token,
    amount: RawAmount,
    source_chain: ChainId,
    dest_chain: ChainId,
    max_fee_bps: MostFee | None = None,
    deadline: FillSeconds = DEFAULT_SECONDS,
) -> TxPlan:
    """Send a token to the golem's own account on another of its chains.

    Use it with a token that both chains have. What nobody pays out in time comes back where it left. Does not swap, nor
    send the coin or what wraps it.
    """
    way = open_way(ctx, token, source_chain, dest_chain, bridge)
    bps = settle_fee(ctx, way, max_fee_bps)
    ctx.step("Planning the transfer")
    return plan_transfer(ctx, way, amount, bps=bps, seconds=deadline)


@intents.write(
    action_type="cross_chain_intent",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    action_class=ActionClass.INCREASE_POSITION,
    report=report_intent,
    snippet="cross_chain_intent at across: ask fillers for the same token on another chain of the golem (ERC-7683).",
    guidelines=("Fillers choose: one that asks too little is filled by nobody and comes back after its deadline.",),
)
def uniswap_submit_cross_chain_intent(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    source_chain: ChainId,
    destination_chain: ChainId,
    deadline: FillSeconds = 3_600,
    max_fee_bps: MostFee | None = None,
) -> TxPlan:
    """Ask fillers for the same token on another chain of the golem, as a cross-chain intent (ERC-7683) over Across.

    Use it where an intent is asked for; bridge_execute sends the same. token_out is token_in's twin there. Does not
    swap: do that on either chain.
    """
    way = open_way(ctx, token_in, source_chain, destination_chain, NAME)
    if token_out not in (way.arrives.address, way.arrives.symbol):
        raise TokenNotBridged(
            f"fillers pay {way.arrives.symbol} for {way.token.symbol}; swap on one of the chains for {token_out}",
            tokens=[way.arrives.symbol],
        )
    bps = settle_fee(ctx, way, max_fee_bps)
    ctx.step("Planning the intent")
    return plan_transfer(ctx, way, amount, bps=bps, seconds=deadline)
