"""Tools of EigenLayer: tokens are restaked, delegated to an operator, queued and taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from tools_app.core.clock import tell_unix_time
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.eigenlayer import plans
from tools_app.protocols.eigenlayer.addresses import (
    CHAINS,
    DELEGATION,
    DEPOSITS,
    NAME,
    deployment_on,
    strategies,
)
from tools_app.protocols.eigenlayer.errors import (
    AlreadyDelegated,
    NotDelegated,
    OperatorRefused,
    RestakingPaused,
    StrategyUnknown,
    WithdrawalUnknown,
    WithdrawalWaits,
)
from tools_app.protocols.eigenlayer.math import WAD, free_at
from tools_app.protocols.eigenlayer.operators import (
    LOOK_BACK_DAYS,
    Operator,
    Service,
    find_operators,
    read_operators,
    read_services,
    read_slashes,
)
from tools_app.protocols.eigenlayer.reads import (
    NO_DELEGATION,
    NO_DEPOSIT,
    NO_EXIT,
    NO_QUEUE,
    NO_WITHDRAWAL,
    PAUSED,
    TO_UNDERLYING,
    UNDERLYING,
    Deposited,
    Restaked,
    Waiting,
    ask_restaked,
)
from tools_app.protocols.eigenlayer.reports import (
    CompleteReport,
    DelegateReport,
    DepositRow,
    Held,
    OperatorRow,
    Operators,
    ServiceRow,
    Services,
    WaitingRow,
    report_deposit,
    report_leave,
)
from tools_app.select_tool_for_venue import whose
from tools_app.standards.erc4626 import SharesMissing
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import (
    Address,
    Bytes32,
    ContractAddress,
    ContractAddresses,
    DecimalText,
    RawAmount,
    RawAmounts,
    Token,
)
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import NATIVE, TokenMeta

eigenlayer = ToolFamily(
    prefix="eigenlayer", category=Category.RESTAKING, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)

NOT_ON_CHAIN: Final = "names, commissions, scores, terms and points are published off chain alone"
_OPERATORS: Final = {"query": "eigenlayer_operators", "venue": "eigenlayer"}
"""The read that lists whom one may delegate to."""
ListOfStrategies = Annotated[
    list[ContractAddress],
    Field(
        min_length=1,
        max_length=10,
        description="Strategies to leave, each once, in the order of `shares`; eigenlayer_get_position lists them.",
    ),
]


@eigenlayer.write(
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_deposit,
    snippet="deposit_lst: restake a token at EigenLayer; it goes to the operator that all is delegated to, if any.",
    guidelines=("Leaving waits in a queue of blocks, two weeks on Ethereum, and what waits can still be slashed.",),
)
def eigenlayer_deposit_lst(ctx: WriteContext, token: Token, amount: RawAmount) -> TxPlan:
    """Restake a token in the strategy that takes it.

    Use to earn for security that an operator gives to services. `amount` is base units of `token`.
    Does not buy the token, and does not choose an operator: eigenlayer_delegate does.
    """
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    put = reader.token(token)
    strategy = _find_strategy(reader, at, put)
    deposits, strategy_stop = (
        int(values[0]) for values in read_all(reader, [ReadCall(each, PAUSED) for each in (at[DEPOSITS], strategy)])
    )
    if (deposits | strategy_stop) & NO_DEPOSIT:
        raise RestakingPaused("EigenLayer takes no deposits of this token for now", stopped="deposit")
    restaked = _read(reader, at, ctx.account)
    if restaked.paused & (NO_QUEUE | NO_EXIT) or strategy_stop & NO_WITHDRAWAL:
        raise RestakingPaused("EigenLayer lets nobody out for now: nothing more goes in", stopped="deposit")
    risk = "none"
    if restaked.operator is not None:
        (operator,) = read_operators(reader, at, [restaked.operator])
        if not operator.magnitudes[strategy]:
            raise OperatorRefused(
                "the operator was slashed to nothing in this strategy, which takes no more deposits under it;"
                " leave it with eigenlayer_undelegate first",
                why="slashed",
                operator=restaked.operator,
            )
        risk = operator.risk
    ctx.step("Building calls")
    there = sum(held.deposited for held in restaked.deposits if held.strategy == strategy)
    plan = plans.plan_deposit(reader, ctx.account, at, strategy, put, amount, deposited=there)
    told = {"deposits": at[DEPOSITS], "delegated_to": restaked.operator, "slashing_risk": risk}
    shown = format_units(amount, put.decimals, put.symbol)
    return replace(plan, details={**plan.details, **told, "amount_units": shown, "delay_blocks": restaked.delay_blocks})


@eigenlayer.write(
    action_type="delegate_stake",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=DelegateReport,
    action_class=ActionClass.REBALANCE,
    snippet="delegate_stake: give all that is restaked to one operator, who can be slashed for what it does.",
    guidelines=("Read eigenlayer_get_operators first; one delegates to an operator, never to a service.",),
    aliases=("eigenlayer_delegate_avs",),
)
def eigenlayer_delegate(ctx: WriteContext, operator: Address) -> TxPlan:
    """Delegate everything that is restaked to one operator.

    Use after a deposit, once an operator is chosen. What is deposited later goes to it as well.
    Does not delegate to a service (AVS), nor to operators that ask for a signature of theirs.
    """
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    restaked = _read(reader, at, ctx.account)
    if restaked.operator is not None:
        raise AlreadyDelegated(
            f"all of this account is delegated to {restaked.operator}; leave it with eigenlayer_undelegate first",
            operator=restaked.operator,
        )
    chosen = _check_operator(reader, at, operator, restaked)
    ctx.step("Building calls")
    plan = plans.plan_delegate(reader.chain_id, ctx.account, at, operator)
    slashes = read_slashes(reader, at, [operator])[operator]
    told = {
        "delegated_shares": {held.strategy: str(held.withdrawable) for held in restaked.deposits},
        "avs_count": len(chosen.services),
        "slashing_risk": chosen.risk,
        "slashing_history": [
            {"block_number": each.block_number, "amount_slashed": list(each.slashed_wad), "reason": each.reason}
            for each in slashes
        ],
    }
    return replace(plan, details={**plan.details, **told})


@eigenlayer.write(
    risk=RiskLayer.LOW,
    report=report_leave,
    snippet="undelegate: leave the operator, or change it; all that is restaked goes into the queue.",
    guidelines=("Everything goes into the queue, also for a new operator, and can be slashed until it is free.",),
)
def eigenlayer_undelegate(ctx: WriteContext, new_operator: Address | None = None) -> TxPlan:
    """Leave the operator: every deposit goes into the queue, one withdrawal a strategy.

    Use when an operator is no longer trusted, or to leave with everything. `new_operator` delegates to another in the
    same call, for what is deposited from then on.
    Does not complete the withdrawals: eigenlayer_complete_withdrawal does, when the blocks have passed.
    """
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    restaked = _read(reader, at, ctx.account)
    if restaked.operator is None:
        raise NotDelegated("this account is delegated to nobody; eigenlayer_queue_withdrawal takes deposits out")
    _check_queue(restaked)
    if new_operator is not None:
        if new_operator == restaked.operator:
            raise AlreadyDelegated(
                "the account is delegated to this operator already", operator=new_operator, next=_OPERATORS
            )
        _check_operator(reader, at, new_operator, restaked)
    ctx.step("Building calls")
    plan = plans.plan_leave_operator(reader.chain_id, ctx.account, at, restaked.deposits, to=new_operator)
    return replace(plan, details={**plan.details, **_queue_terms(reader, at, restaked)})


@eigenlayer.write(
    risk=RiskLayer.LOW,
    report=report_leave,
    snippet="queue_withdrawal at eigenlayer: send deposit shares of strategies into the queue, to be completed later.",
    guidelines=("Shares are deposit shares as eigenlayer_get_position tells; slashes change what they give.",),
)
def eigenlayer_queue_withdrawal(ctx: WriteContext, strategies: ListOfStrategies, shares: RawAmounts) -> TxPlan:
    """Queue deposit shares of one or more strategies as one withdrawal.

    Use to take restaked tokens out. `shares` are base units of deposit shares, one figure a strategy, in the same
    order. What waits can be slashed until it is free, and earns nothing.
    Does not pay out: eigenlayer_complete_withdrawal does, when the blocks have passed.
    """
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    restaked = _read(reader, at, ctx.account)
    _check_queue(restaked)
    held = {each.strategy: each for each in restaked.deposits}
    if len(strategies) != len(shares) or len(set(strategies)) != len(strategies):
        raise SharesMissing(
            "name each strategy once, and one figure of shares for each",
            strategies=sorted(held),
            fill=_say_deposits(held.values()),
        )
    for strategy, wanted in zip(strategies, shares, strict=True):
        available = held[strategy].deposited if strategy in held else 0
        if wanted > available:
            raise SharesMissing(
                f"the account has {available} deposit shares of {strategy}, and {wanted} are asked for",
                available=str(available),
                strategies=sorted(held),
                fill=_say_deposits(held.values()),
            )
    ctx.step("Building calls")
    wanted_of = [(held[strategy], wanted) for strategy, wanted in zip(strategies, shares, strict=True)]
    plan = plans.plan_queue(reader.chain_id, ctx.account, at, wanted_of)
    return replace(plan, details={**plan.details, **_queue_terms(reader, at, restaked)})


@eigenlayer.write(
    risk=RiskLayer.LOW,
    report=CompleteReport,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="complete_withdrawal at eigenlayer: take the tokens of a queued withdrawal whose blocks have passed.",
    guidelines=("request:ready tells when it is free.",),
)
def eigenlayer_complete_withdrawal(ctx: WriteContext, withdrawal_root: Bytes32) -> TxPlan:
    """Take what a queued withdrawal gives, as tokens, into the golem's wallet.

    Use once the blocks of the queue have passed. It gives what slashes left of it.
    Does not wait, and does not restake what comes out: deposit it again for that.
    """
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    restaked = _read(reader, at, ctx.account)
    waiting = next((each for each in restaked.waiting if each.root == withdrawal_root), None)
    if waiting is None:
        raise WithdrawalUnknown(
            "nothing of this account waits under this root; it may have been completed",
            waiting=[each.root for each in restaked.waiting],
        )
    if restaked.paused & NO_EXIT or any(part.paused & NO_WITHDRAWAL for part in waiting.parts):
        raise RestakingPaused("EigenLayer completes no withdrawals for now", stopped="complete")
    if reader.block.number + 1 < waiting.free_block:
        at_time = tell_unix_time(_free_at(reader, waiting))
        raise WithdrawalWaits(
            f"it can be completed from block {waiting.free_block} on, about at {at_time}; block"
            f" {reader.block.number} is the newest",
            free_block=waiting.free_block,
            resets_at=at_time,
        )
    ctx.step("Building calls")
    tokens = {part.token: reader.token(part.token) for part in waiting.parts}
    return plans.plan_complete(reader.chain_id, ctx.account, at, waiting, tokens)


@eigenlayer.read(
    snippet="eigenlayer_operators: operators of EigenLayer, what is delegated, where they serve, slashes; reads only.",
    guidelines=("An operator that was slashed, or serves many services, can lose what is delegated to it.",),
)
def eigenlayer_get_operators(
    ctx: ReadContext, min_delegated_eth: DecimalText | None = None, avs_filter: ContractAddresses | None = None
) -> Operators:
    """List operators to whom somebody delegated in the last 90 days, most delegated first.

    Use before delegating. `avs_filter` keeps those that serve one of these services.
    Does not judge an operator: names, commissions and scores are on no chain.
    """
    reader = ctx.begin("Reading the past")
    at = deployment_on(reader)
    addresses = find_operators(reader, at)
    slashes = read_slashes(reader, at, addresses)
    ctx.step("Reading operators")
    found = read_operators(reader, at, addresses)
    worth = _weigh_operators(reader, at, found)
    rows = []
    for each in found:
        ether = worth[each.address]
        if min_delegated_eth is not None and (ether is None or ether < Decimal(min_delegated_eth) * WAD):
            continue
        if avs_filter is not None and not set(avs_filter) & set(each.services):
            continue
        row = OperatorRow(
            address=each.address,
            name=None,
            is_open=each.is_open,
            total_delegated_eth=None if ether is None else format_units(ether, 18),
            delegator_count=None,
            avs_participation=each.services,
            slashing_history=tuple(slashes[each.address]),
            slashing_risk=each.risk,
            commission_rate=None,
            reputation_score=None,
        )
        rows.append((ether or 0, row))
    return Operators(
        operators=tuple(row for _, row in sorted(rows, key=lambda each: -each[0])),
        days=LOOK_BACK_DAYS,
        why_null=f"{NOT_ON_CHAIN}; delegators are counted by no contract",
    )


@eigenlayer.read(
    query="eigenlayer_avs",
    snippet="eigenlayer_avs: services that EigenLayer's operators secure, and how many serve each; reads only.",
    guidelines=("A service can slash the operators in its sets: read its terms where it publishes them.",),
)
def eigenlayer_get_avs_list(ctx: ReadContext) -> Services:
    """List services that described themselves in the last 90 days, newest first.

    Use to see whom an operator works for. `metadata_uri` is what the service says of itself, and is not read.
    Does not tell rewards or terms: they are on no chain.
    """
    reader = ctx.begin("Reading the past")
    at = deployment_on(reader)
    return Services(
        avs_services=tuple(_describe_service(each) for each in read_services(reader, at)),
        days=LOOK_BACK_DAYS,
        why_null=NOT_ON_CHAIN,
    )


@eigenlayer.read(
    budget=TickBudget.FAST,
    snippet="eigenlayer_position: what is restaked, with whom, and what waits in the queue until when; reads only.",
    guidelines=("What waits can be slashed until it is free: read it again before counting on it.",),
)
def eigenlayer_get_position(ctx: ReadContext, account: Address | None = None) -> Held:
    """Read what an account has at EigenLayer: deposits after slashes, its operator, and withdrawals that wait.

    Use before leaving, or after a slash. `account` defaults to the golem's own.
    Does not tell points, which are on no chain.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading EigenLayer")
    at = deployment_on(reader)
    restaked = _read(reader, at, owner)
    tokens = {held.token: reader.token(held.token) for held in restaked.deposits}
    tokens |= {part.token: reader.token(part.token) for each in restaked.waiting for part in each.parts}
    book = PriceBook(reader)
    for each in tokens.values():
        book.learn(each)
    ether_price = book.weigh(NATIVE, WAD).micro_usd if restaked.deposits else None
    return Held(
        strategies=tuple(
            DepositRow(
                strategy=held.strategy,
                token=tokens[held.token].symbol,
                shares=str(held.deposited),
                withdrawable_shares=str(held.withdrawable),
                amount=TokenAmount(held.worth, tokens[held.token]),
                eth_value=_in_ether(book.weigh(held.token, held.worth).micro_usd, ether_price),
            )
            for held in restaked.deposits
        ),
        delegated_to=restaked.operator,
        pending_withdrawals=tuple(_describe_waiting(reader, each, tokens) for each in restaked.waiting),
        delay_blocks=restaked.delay_blocks,
        points_earned=None,
        why_null=NOT_ON_CHAIN,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _read(reader: ChainReader, at: Mapping[str, str], account: str) -> Restaked:
    return drive(ask_restaked(at, account), reader.call_many)


def _say_deposits(deposits: Iterable[Deposited]) -> dict[str, object]:
    """What may be asked for: the strategies, and the most of each in the same order."""
    there = sorted(deposits, key=lambda each: each.strategy)
    if not there:
        return {}
    return {
        "strategies": {"one_of": [[each.strategy for each in there]]},
        "shares": {"most": [str(each.deposited) for each in there], "unit": "base units of deposit shares"},
    }


def _find_strategy(reader: ChainReader, at: Mapping[str, str], token: TokenMeta) -> str:
    known = strategies(at)
    taken = [str(values[0]) for values in read_all(reader, [ReadCall(each, UNDERLYING) for each in known])]
    for strategy, underlying in zip(known, taken, strict=True):
        if underlying == token.address:
            return strategy
    raise StrategyUnknown(f"no strategy takes {token.symbol or token.address}", tokens=taken)


def _check_operator(reader: ChainReader, at: Mapping[str, str], address: str, restaked: Restaked) -> Operator:
    if restaked.paused & NO_DELEGATION:
        raise RestakingPaused("EigenLayer takes no new delegations for now", stopped="delegate")
    (found,) = read_operators(reader, at, [address])
    if not found.is_operator:
        raise OperatorRefused(
            f"{address} is no operator; eigenlayer_get_operators lists them",
            why="no operator",
            operator=address,
            next=_OPERATORS,
        )
    if not found.is_open:
        raise OperatorRefused(
            f"{address} takes only whom it signed for; choose another",
            why="asks for a signature",
            operator=address,
            next=_OPERATORS,
        )
    if any(not found.magnitudes[held.strategy] for held in restaked.deposits):
        raise OperatorRefused(
            f"{address} was slashed to nothing in a strategy of this account; choose another",
            why="slashed",
            operator=address,
            next=_OPERATORS,
        )
    return found


def _check_queue(restaked: Restaked) -> None:
    if restaked.paused & NO_QUEUE:
        raise RestakingPaused("EigenLayer takes no new withdrawals for now", stopped="queue")


def _queue_terms(reader: ChainReader, at: Mapping[str, str], restaked: Restaked) -> dict[str, object]:
    """What an owner reads of the queue, and what the report works its times out from."""
    return {
        "delegation": at[DELEGATION],
        "delay_blocks": restaked.delay_blocks,
        "now": reader.block.timestamp,
        "left_operator": restaked.operator,
    }


def _weigh_operators(
    reader: ChainReader, at: Mapping[str, str], operators: Sequence[Operator]
) -> dict[str, int | None]:
    """Wei that all delegated to each is worth at feeds; None where a price is missing."""
    known = strategies(at)
    taken = [str(values[0]) for values in read_all(reader, [ReadCall(each, UNDERLYING) for each in known])]
    asked = [ReadCall(strategy, TO_UNDERLYING, (one.shares[strategy],)) for one in operators for strategy in known]
    amounts = iter([int(values[0]) for values in read_all(reader, asked)] if asked else [])
    book = PriceBook(reader)
    for each in taken:
        book.learn(reader.token(each))
    price = book.weigh(NATIVE, WAD).micro_usd
    found: dict[str, int | None] = {}
    for one in operators:
        parts = [book.weigh(token, next(amounts)).micro_usd for token in taken]
        worth = sum(part or 0 for part in parts)
        found[one.address] = None if None in parts or not price else worth * WAD // price
    return found


def _describe_service(service: Service) -> ServiceRow:
    return ServiceRow(service.address, service.metadata_uri, service.operator_count, None, None, None, None, None)


def _describe_waiting(reader: ChainReader, waiting: Waiting, tokens: Mapping[str, TokenMeta]) -> WaitingRow:
    return WaitingRow(
        withdrawal_root=waiting.root,
        free_block=waiting.free_block,
        completion_time=tell_unix_time(_free_at(reader, waiting)),
        is_free=reader.block.number + 1 >= waiting.free_block,
        gives=tuple(TokenAmount(part.worth, tokens[part.token]) for part in waiting.parts),
    )


def _free_at(reader: ChainReader, waiting: Waiting) -> int:
    return free_at(waiting.free_block, block=reader.block.number, now=reader.block.timestamp)


def _in_ether(micro_usd: int | None, price: int | None) -> str | None:
    return None if micro_usd is None or not price else format_units(micro_usd * WAD // price, 18)
