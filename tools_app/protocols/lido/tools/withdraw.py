"""`lido_unstake` and `lido_claim_withdrawal`: into the queue, and out of it with ether."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.protocols.lido import plans, reads
from tools_app.protocols.lido.addresses import LidoContracts, deployment_on
from tools_app.protocols.lido.errors import (
    RequestNotFinal,
    RequestNotFound,
    WithdrawalAmountRefused,
    WithdrawalsPaused,
)
from tools_app.protocols.lido.params import StakedToken
from tools_app.protocols.lido.positions import STETH, WSTETH
from tools_app.protocols.lido.reads import Queue, Request, read_queue, read_requests, read_staking
from tools_app.protocols.lido.tools.family import lido, rate_text, time_text
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.read_all_or_fail import read_all
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadCall, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.params import RawAmount, RawAmounts, RequestIds
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE, TokenMeta

REQUESTED = (
    "event WithdrawalRequested(uint256 indexed requestId, address indexed requestor, address indexed owner,"
    " uint256 amountOfStETH, uint256 amountOfShares)"
)
CLAIMED = (
    "event WithdrawalClaimed(uint256 indexed requestId, address indexed owner, address indexed receiver,"
    " uint256 amountOfETH)"
)


class UnstakeReport(Told):
    """What joined the queue. `estimated_wait_time` is seconds, null while nobody can say."""

    request_ids: tuple[str, ...]
    total_st_eth_queued: TokenAmount
    estimated_wait_time: int | None
    estimated_ready_at: str | None


class ClaimReport(Told):
    """What came out of the queue."""

    requests_claimed: tuple[str, ...]
    eth_received: TokenAmount


@dataclass(frozen=True, slots=True)
class _Requested:
    request_id: int
    amount_of_steth: int


@dataclass(frozen=True, slots=True)
class _Claimed:
    request_id: int


_REQUESTED: Final = AbiEvent(REQUESTED, _Requested)
_CLAIMED: Final = AbiEvent(CLAIMED, _Claimed)


@dataclass(frozen=True, slots=True)
class _ClaimDetails:
    queue: str


@dataclass(frozen=True, slots=True)
class _AskDetails(_ClaimDetails):
    steth: str
    estimated_wait_time: int | None
    estimated_ready_at: str | None


def report_unstake(outcome: PlanOutcome) -> UnstakeReport:
    """From the queue's own events."""
    details = read_details(_AskDetails, outcome)
    asked = list_events(outcome, _REQUESTED, contract=details.queue)
    steth = TokenMeta(outcome.plan.chain_id, details.steth, "stETH", 18, "", is_registered=False)
    return UnstakeReport(
        request_ids=tuple(str(each.request_id) for each in asked),
        total_st_eth_queued=TokenAmount(sum(each.amount_of_steth for each in asked), steth),
        estimated_wait_time=details.estimated_wait_time,
        estimated_ready_at=details.estimated_ready_at,
    )


def report_claim(outcome: PlanOutcome) -> ClaimReport:
    """What arrived in the wallet."""
    claimed = list_events(outcome, _CLAIMED, contract=read_details(_ClaimDetails, outcome).queue)
    return ClaimReport(
        requests_claimed=tuple(str(each.request_id) for each in claimed),
        eth_received=TokenAmount(outcome.deltas.get(NATIVE, 0), outcome.plan.receives[0].token),
    )


@lido.write(
    risk=RiskLayer.BOUNDED,
    report=report_unstake,
    action_class=ActionClass.DECREASE_POSITION,
    schema_version=2,
    aliases=("lido_request_withdrawal",),
    snippet=(
        "unstake at lido: put stETH or wstETH into the withdrawal queue; ETH can be claimed once the request is final,"
        " which takes from a day to weeks. A request cannot be taken back."
    ),
    guidelines=(
        "One request is at least 100 wei and at most 1000 stETH; give several amounts for more.",
        "What waits in the queue earns nothing more and loses with the pool.",
        "Compare lido_exit_decision first: a market may pay nearly as much at once.",
    ),
)
def lido_unstake(
    ctx: WriteContext,
    amounts: RawAmounts | None = None,
    token: StakedToken | None = None,
    amount: RawAmount | None = None,
) -> TxPlan:
    """Ask for the withdrawal of staked ETH: `amount`, or each of `amounts`, becomes a request in Lido's queue.

    Use to leave staking at full worth when there is time. Amounts are base units of `token`; without it of stETH
    where so much is held, else of wstETH. Claim each request with lido_claim_withdrawal once it is final; the product
    follows it until then.
    Does not give ETH at once and does not sell on a market.
    """
    reader = ctx.chain()
    at = deployment_on(reader)
    amounts = _read_amounts(amounts, amount)
    total = sum(amounts)
    ctx.step("Reading the queue")
    token = token or _choose_token(reader, at, ctx.account, total)
    is_wrapped = token == "wstETH"  # noqa: S105 (a symbol)
    key = WSTETH if is_wrapped else STETH
    state = read_staking(reader, at, ctx.account, allowance=(at.tokens[key], at.queue))
    queue = read_queue(reader, at)
    if queue.is_paused:
        raise WithdrawalsPaused("the queue takes no new requests now; what is final can be claimed")
    meta = reader.token(at.tokens[key])
    check_enough(meta, balance=state.wrapped if is_wrapped else state.pool.ether_of(state.shares), needed=total)
    worth = [state.pool.ether_of(each) if is_wrapped else each for each in amounts]
    _check_amounts(amounts, worth, queue)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.approve(meta, spender=at.queue, amount=total, allowance=state.allowance)
    draft.call(plans.request(at, amounts, ctx.account, symbol=token))
    draft.changes += [
        plans.shrinks(reader.chain_id, key, sum(worth), pool=state.pool, in_shares=is_wrapped),
        *(plans.joins(each, pool=state.pool, in_shares=is_wrapped) for each in worth),
    ]
    ready = queue.ready_at(state.oracle, more=sum(worth))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        details={
            "venue": "lido",
            "queue": at.queue,
            "steth": at.steth,
            "token": token,
            "amounts": [str(each) for each in amounts],
            "amount_units": format_units(total, meta.decimals, token),
            "share_rate": rate_text(state.pool.rate),
            "estimated_wait_time": None if ready is None else max(0, ready - reader.block.timestamp),
            "estimated_ready_at": time_text(ready),
        },
    )


@lido.write(
    risk=RiskLayer.LOW,
    report=report_claim,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="claim_withdrawal at lido: take the ETH of withdrawal requests that are final into the golem's wallet.",
    guidelines=("Only final requests can be claimed; request:ready tells when one is.",),
)
def lido_claim_withdrawal(ctx: WriteContext, request_ids: RequestIds) -> TxPlan:
    """Claim the ETH of final withdrawal requests of the golem.

    Use when a request is final; the ETH comes to the golem's own wallet. lido_get_position lists requests. Does not
    wait for requests that are not final, and does not claim for others.
    """
    reader = ctx.begin("Reading the queue")
    at = deployment_on(reader)
    asked = list(dict.fromkeys(int(each) for each in request_ids))
    (last,) = read_all(reader, [ReadCall(at.queue, reads.LAST_REQUEST)])
    if any(not 0 < each <= int(last[0]) for each in asked):
        raise RequestNotFound("one of the requests does not exist", request_ids=[str(each) for each in asked])
    found = read_requests(reader, at, asked)
    _check_claimable(ctx, found, ready_at=_expected_at(reader, at, found))
    ctx.step("Building calls")
    coin = reader.native()
    total = sum(each.claimable for each in found)
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(plans.claim(at, found))
    draft.receive(coin, total)
    draft.changes += [plans.leaves(reader.chain_id, each) for each in found]
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION,
        details={
            "venue": "lido",
            "queue": at.queue,
            "request_ids": [str(each.id) for each in found],
            "amount": str(total),
            "amount_units": format_units(total, coin.decimals, coin.symbol),
        },
    )


def _expected_at(reader: ChainReader, at: LidoContracts, found: list[Request]) -> int | None:
    if all(each.is_final for each in found):
        return None
    state, queue = read_staking(reader, at, None), read_queue(reader, at)
    return queue.ready_at(state.oracle)


def _read_amounts(amounts: list[int] | None, amount: int | None) -> list[int]:
    if (amounts is None) == (amount is None):
        text = "one of the two is needed: amount, or amounts for several requests"
        raise InvalidParams(text, fields={"amount": text, "amounts": text})
    return amounts if amounts is not None else [amount or 0]


def _choose_token(reader: ChainReader, at: LidoContracts, account: str, total: int) -> StakedToken:
    """stETH where `total` of it is held, else wstETH, which staking gives, where that is."""
    state = read_staking(reader, at, account)
    plain, wrapped = state.pool.ether_of(state.shares), state.wrapped
    return "wstETH" if plain < total and wrapped > plain else "stETH"


def _check_amounts(amounts: list[int], worth: list[int], queue: Queue) -> None:
    for given, ether in zip(amounts, worth, strict=True):
        if not queue.least <= ether <= queue.most:
            raise WithdrawalAmountRefused(
                f"{given} is worth {format_units(ether, 18, 'stETH')}; one request is {queue.least} wei to"
                f" {format_units(queue.most, 18, 'stETH')}",
                amount=str(given),
                least=str(queue.least),
                most=str(queue.most),
            )


def _check_claimable(ctx: WriteContext, found: list[Request], *, ready_at: int | None) -> None:
    for each in found:
        # What was claimed, and what is another account's, are alike: neither is the account's to claim.
        if each.owner != ctx.account or each.is_claimed:
            raise RequestNotFound(f"this account has no open withdrawal request {each.id}", request_id=str(each.id))
    waiting = [each for each in found if not each.is_final]
    if waiting:
        raise RequestNotFinal(
            f"withdrawal request {waiting[0].id} is not final yet",
            request_ids=[str(each.id) for each in waiting],
            resets_at=time_text(ready_at),
        )
