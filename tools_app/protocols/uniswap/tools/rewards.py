"""Rewards for liquidity: a V3 position is staked, earns, is claimed for, alone or with others, and comes back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from tools_app.chain.abi import checksum
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.errors import (
    IncentiveNotFound,
    NoRewards,
    PositionEmpty,
    RewardContractUnknown,
)
from tools_app.protocols.uniswap.liquidity_mining import plans
from tools_app.protocols.uniswap.liquidity_mining.claim_lists import ListedClaimText, check_listed, parse_listed
from tools_app.protocols.uniswap.liquidity_mining.incentives import PATTERN, IncentiveKey
from tools_app.protocols.uniswap.liquidity_mining.stakes import (
    Running,
    StakedDeposit,
    StakerAccount,
    check_known,
    contracts_on,
    list_deposited,
    list_running,
    read_mined,
    read_own_deposit,
)
from tools_app.protocols.uniswap.tools.family import uniswap
from tools_app.protocols.uniswap.tools.reward_answers import (
    AtStaker,
    IncentiveTold,
    PositionCameBack,
    PositionStakedReport,
    Reward,
    RewardsClaimed,
    RewardsHarvested,
    RewardsTold,
    StakeTold,
)
from tools_app.protocols.uniswap.v3.positions import read_own_position, read_position
from tools_app.select_tool_for_venue import WalletNotConfigured
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, Requirement, RiskLayer, TickBudget
from tools_app.toolkit.params import PositionId
from tools_app.toolkit.plan import ItemGiven, TxPlan
from tools_app.toolkit.result import TokenAmount, UsdAmount

AUTO: Final = "auto"
ENDS_SOON_SECONDS: Final = 600
"""A position whose incentive ends so soon is not staked again by a claim: it comes back."""
SURE_PERCENT: Final = 99
"""Of what a stake earned until now so much comes surely: after an incentive's end every second takes a little of it."""
MOST_POSITIONS: Final = 20

IncentiveName = Annotated[
    str,
    Field(pattern=PATTERN, description="Parts of an incentive: TOKEN:POOL:START:END:REFUNDEE, as lp_rewards tells."),
    AfterValidator(lambda text: str(IncentiveKey.parse(text))),
]
RewardContract = Annotated[
    str,
    Field(pattern=r"^(auto|0x[0-9a-fA-F]{40})$", description="Who pays: the chain's staker, or a list of claims."),
    AfterValidator(lambda text: text if text == AUTO else checksum(text)),
]
StakedIds = Annotated[
    list[PositionId],
    Field(min_length=1, max_length=MOST_POSITIONS, description="Ids of staked positions, at most 20."),
    Meaning.ANY_ORDER,
]


@uniswap.write(
    action_type="stake_position",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=PositionStakedReport,
    action_class=ActionClass.REBALANCE,
    snippet="stake_position: put a Uniswap V3 position into the canonical staker, where an incentive pays for it.",
    guidelines=(
        "A staked position earns fees as before; to collect, move or close it, unstake_position comes first.",
        "Rewards are only earned while the price is in the range; anybody may open an incentive in any token.",
    ),
)
def uniswap_lp_stake_position(
    ctx: WriteContext, position_id: PositionId, incentive: IncentiveName | None = None
) -> TxPlan:
    """Stake a Uniswap V3 position of the golem where an incentive pays for liquidity.

    Use when lp_rewards tells a running incentive. Without `incentive` the one that pays most dollars a second is
    taken, of those in tokens that have a price.
    Does not stake V4 positions. The position stays the golem's, is worth the same, and comes back at any time.
    """
    reader = ctx.begin("Reading the position")
    deployment, contracts = deployment_on(reader.chain_id), contracts_on(reader.chain_id)
    position = read_own_position(reader, deployment, position_id, ctx.account)
    if not position.liquidity:
        raise PositionEmpty(f"position {position_id} has no liquidity that could earn", position_id=position_id)
    ctx.step("Reading incentives")
    named = None if incentive is None else IncentiveKey.parse(incentive)
    now = max(int(ctx.now.timestamp()), reader.block.timestamp)
    running = _running(reader, PriceBook(reader), str(position.pool.id), now, named)
    chosen = next((each for each in running if each.key.ends_at > now + ENDS_SOON_SECONDS), None)
    if chosen is None:
        raise IncentiveNotFound(
            f"no incentive runs in pool {position.pool.id} for ten minutes more, in a token that has a price"
            if named is None
            else "this incentive does not run in the position's pool, or nothing is left in it",
            pool=str(position.pool.id),
        )
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    manager, staker = deployment.v3_position_manager, contracts.staker
    draft.call(
        plans.hand_in(manager, account=ctx.account, staker=staker, position_id=position_id),
        plans.stake(staker, position_id=position_id, key=chosen.key),
    )
    return draft.finish(
        action_class=ActionClass.REBALANCE,
        items=(ItemGiven(manager, int(position_id), staker),),
        statements=(plans.state(staker, position_id, "staked", chosen.key),),
        details={
            "position_id": position_id,
            "staker": staker,
            "incentive": str(chosen.key),
            "reward_token": chosen.key.reward_token,
            "left_in_incentive": str(chosen.left),
            "ends_at": chosen.key.ends_at,
        },
    )


@uniswap.write(
    action_type="unstake_position",
    category=Category.LP,
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=PositionCameBack,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="unstake_position: bring a Uniswap V3 position back from the staker, with its rewards; in every phase.",
    guidelines=("Rewards in tokens this server does not know stay with the staker; claim them by their incentive.",),
)
def uniswap_lp_unstake_position(
    ctx: WriteContext, position_id: PositionId, incentive: IncentiveName | None = None
) -> TxPlan:
    """Bring a staked Uniswap V3 position back into the golem's wallet, with what it earned.

    Use before collecting, moving or closing it. `incentive` names one that logs do not reach back to. wallet_get_status
    lists positions. Does not take liquidity out. A reward token that is not registered is not claimed, so that none
    stops the way out.
    """
    reader = ctx.begin("Reading the staker")
    deployment = deployment_on(reader.chain_id)
    named = _named(incentive)
    deposit, found = read_own_deposit(reader, deployment, ctx.account, position_id, named=named)
    ctx.step("Building calls")
    return _plan(ctx, reader, deployment, (deposit,), found, named=(), comes_back=True)


@uniswap.write(
    action_type="claim_rewards",
    category=Category.LP,
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=RewardsClaimed,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="claim_rewards: fetch what a staked Uniswap V3 position earned, or a claim of a campaign's list.",
    guidelines=(
        "The position goes on earning; one whose incentive is over comes back to the wallet with the claim.",
        "A campaign's list publishes index, amount and proof of each claim: pass them as listed_claim.",
    ),
)
def uniswap_lp_claim_rewards(
    ctx: WriteContext,
    position_id: PositionId | None = None,
    reward_contract: RewardContract = AUTO,
    incentive: IncentiveName | None = None,
    listed_claim: ListedClaimText | None = None,
) -> TxPlan:
    """Claim rewards for liquidity: of one staked V3 position, or one claim of a list under a Merkle root.

    Use when what is owed is worth the gas. The position is staked again in the same call where its incentive goes on.
    Does not collect the fees of the pool, and does not claim tokens that are neither registered nor named.
    """
    reader = ctx.begin("Reading rewards")
    deployment, contracts = deployment_on(reader.chain_id), contracts_on(reader.chain_id)
    known = [each for each in (contracts.staker, contracts.distributor) if each is not None]
    if reward_contract not in (AUTO, *known):
        raise RewardContractUnknown(
            f"{reward_contract} is neither the staker nor a list of claims that is known", known=known
        )
    if listed_claim is not None and reward_contract != contracts.staker:
        return _plan_listed(ctx, reader, contracts.distributor, listed_claim)
    if position_id is None or reward_contract == contracts.distributor:
        raise RewardContractUnknown(
            "say position_id for what a staked position earned, or listed_claim for a claim of a list", known=known
        )
    named = _named(incentive)
    found = read_mined(reader, deployment, ctx.account, _small([position_id]), named=named)
    for deposit in found.deposits:
        check_known(deposit, found)
    if not any(found.credited.values()):
        _check_owed(found, position_id)
    ctx.step("Building calls")
    return _plan(ctx, reader, deployment, found.deposits, found, named=named, comes_back=False)


@uniswap.write(
    action_type="harvest_rewards",
    category=Category.LP,
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=RewardsHarvested,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="harvest_rewards: fetch what all staked Uniswap V3 positions of the golem earned, in one transaction.",
    guidelines=("Positions whose incentives are over come back to the wallet; the others go on earning.",),
)
def uniswap_lp_harvest_rewards(ctx: WriteContext, positions: StakedIds | None = None) -> TxPlan:
    """Claim the rewards of many staked V3 positions at once.

    Use to save gas over claims one by one. Without `positions` all are taken that logs tell of and that are owed
    something, at most twenty.
    Does not collect the fees of the pools.
    """
    reader = ctx.begin("Reading rewards")
    deployment = deployment_on(reader.chain_id)
    asked = _small(positions) if positions else list_deposited(reader, ctx.account)
    found = read_mined(reader, deployment, ctx.account, list(dict.fromkeys(asked)))
    if positions:
        for position_id in positions:
            _check_owed(found, position_id)
    for deposit in found.deposits if positions else ():
        check_known(deposit, found)
    owed = [each for each in found.deposits if not each.unknown and any(stake.owed for stake in each.stakes)]
    if not owed and not any(found.credited.values()):
        raise NoRewards("no position at the staker is owed anything", known_since=found.known_since)
    ctx.step("Building calls")
    return _plan(ctx, reader, deployment, tuple(owed[:MOST_POSITIONS]), found, named=(), comes_back=False)


@uniswap.read(
    query="lp_rewards",
    category=Category.LP,
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet="lp_rewards: what staked Uniswap V3 positions are owed, and which incentives run for one position.",
    guidelines=("An incentive pays by the share of liquidity in range; what is left is shared by all who stake.",),
)
def uniswap_lp_get_rewards(ctx: ReadContext, position_id: PositionId | None = None) -> RewardsTold:
    """What the golem's staked V3 positions are owed; with `position_id`, also what runs in the pool of that position.

    Use before stake_position and claim_rewards.
    Does not tell incentives in tokens without a price, nor what logs do not reach back to.
    """
    reader = ctx.begin("Reading the staker")
    deployment = deployment_on(reader.chain_id)
    account = ctx.golem.address
    if account is None:
        raise WalletNotConfigured("the golem has no wallet yet")
    found = read_mined(reader, deployment, account, list_deposited(reader, account))
    ctx.step("Reading incentives")
    prices = PriceBook(reader)
    running: list[Running] = []
    if position_id is not None:
        pool = str(read_position(reader, deployment, position_id).pool.id)
        now = max(int(ctx.now.timestamp()), reader.block.timestamp)
        running = _running(reader, prices, pool, now, None)
    tokens = {stake.key.reward_token for each in found.deposits for stake in each.stakes}
    names = {token: reader.token(token) for token in {*tokens, *found.credited, *(e.key.reward_token for e in running)}}
    return RewardsTold(
        positions=tuple(
            AtStaker(
                each.position_id,
                each.pool,
                tuple(
                    StakeTold(str(s.key), s.key.ends_at, TokenAmount(s.owed, names[s.key.reward_token]))
                    for s in each.stakes
                ),
                each.unknown,
            )
            for each in found.deposits
        ),
        credited=tuple(
            Reward(names[token], TokenAmount(raw, names[token]), _usd(prices, token, raw))
            for token, raw in found.credited.items()
            if raw
        ),
        running=tuple(
            IncentiveTold(
                str(each.key),
                each.key.ends_at,
                TokenAmount(each.left, names[each.key.reward_token]),
                _usd(prices, each.key.reward_token, each.left),
                each.stakes,
            )
            for each in running
        ),
        known_since=found.known_since,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _plan(
    ctx: WriteContext,
    reader: ChainReader,
    deployment: UniswapDeployment,
    deposits: Sequence[StakedDeposit],
    found: StakerAccount,
    *,
    named: Sequence[IncentiveKey],
    comes_back: bool,
) -> TxPlan:
    """One call to the staker: unstake, stake again what goes on, claim, and bring the others back."""
    contracts, now = contracts_on(reader.chain_id), max(int(ctx.now.timestamp()), reader.block.timestamp)
    steps, back = plans.StakerSteps(contracts.staker, ctx.account), []
    owed: dict[str, int] = defaultdict(int, found.credited)
    sure = dict(found.credited)
    for deposit in deposits:
        goes_on = False
        for stake in deposit.stakes:
            steps.unstake(stake.key, deposit.position_id)
            owed[stake.key.reward_token] += stake.owed
            sure[stake.key.reward_token] = sure.get(stake.key.reward_token, 0) + stake.owed * SURE_PERCENT // 100
            if not comes_back and deposit.liquidity and stake.key.ends_at > now + ENDS_SOON_SECONDS:
                steps.stake(stake.key, deposit.position_id)
                goes_on = True
        if not goes_on:
            back.append(deposit.position_id)
    registered = {token.address for token in reader.registered_tokens()} | {key.reward_token for key in named}
    claimed = [token for token, raw in owed.items() if raw and token in registered]
    steps.claim(claimed)
    for position_id in back:
        steps.withdraw(position_id)
    draft, prices = PlanDraft(reader.chain_id, ctx.account), PriceBook(reader)
    tokens = {token: reader.token(token) for token in claimed}
    shown = ", ".join(format_units(owed[each], tokens[each].decimals, tokens[each].symbol) for each in claimed)
    draft.call(
        steps.call(f"Claim {shown or 'nothing'} from the staker" + (", and take positions back" if back else ""))
    )
    for token in claimed:
        draft.receive(tokens[token], owed[token], at_least=sure[token])
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        items=tuple(ItemGiven(deployment.v3_position_manager, int(each), ctx.account) for each in back),
        statements=tuple(steps.statements),
        details={
            "staker": contracts.staker,
            "position_ids": [each.position_id for each in deposits],
            "came_back": back,
            "staked": [each.position_id for each in deposits if each.position_id not in back],
            "left_out": [each.position_id for each in found.deposits if each.unknown],
            "left_at_staker": [token for token, raw in owed.items() if raw and token not in registered],
            "value_usd": {each: _micro_text(prices, each, owed[each]) for each in claimed},
            "known_since": found.known_since,
        },
    )


def _plan_listed(ctx: WriteContext, reader: ChainReader, distributor: str | None, text: str) -> TxPlan:
    if distributor is None:
        raise RewardContractUnknown("no list of claims is known on this chain", known=[])
    claim = parse_listed(text)
    token = reader.token(check_listed(reader, distributor, claim, ctx.account))
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    label = f"Claim {format_units(claim.amount, token.decimals, token.symbol)} of the list {distributor}"
    draft.call(
        plans.claim_listed(
            distributor, index=claim.index, account=ctx.account, amount=claim.amount, proof=claim.proof, label=label
        )
    )
    draft.receive(token, claim.amount)
    prices = PriceBook(reader)
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        details={
            "claim_list": distributor,
            "index": str(claim.index),
            "value_usd": {token.address: _micro_text(prices, token.address, claim.amount)},
        },
    )


def _running(reader: ChainReader, prices: PriceBook, pool: str, now: int, named: IncentiveKey | None) -> list[Running]:
    known = {token.address for token in reader.registered_tokens()}

    def weigh(token: str, raw: int) -> int | None:
        return prices.weigh(token, raw).micro_usd if token in known else None

    return list_running(reader, pool, now=now, weigh=weigh, named=named)


def _check_owed(found: StakerAccount, position_id: str) -> None:
    """Raises NoRewards for one that does not lie at the staker, or is owed nothing."""
    deposit = next((each for each in found.deposits if each.position_id == position_id), None)
    if deposit is None:
        raise NoRewards(f"this account has no position {position_id} at the staker", position_id=position_id)
    check_known(deposit, found)
    if not any(stake.owed for stake in deposit.stakes):
        raise NoRewards(f"position {position_id} is owed nothing yet", position_id=position_id)


def _named(incentive: str | None) -> tuple[IncentiveKey, ...]:
    return () if incentive is None else (IncentiveKey.parse(incentive),)


def _small(ids: Sequence[str]) -> list[str]:
    return [each for each in ids if int(each) < 2**256]


def _usd(prices: PriceBook, token: str, raw: int) -> UsdAmount | None:
    micro = prices.weigh(token, raw).micro_usd
    return None if micro is None else UsdAmount(micro)


def _micro_text(prices: PriceBook, token: str, raw: int) -> str | None:
    micro = prices.weigh(token, raw).micro_usd
    return None if micro is None else str(micro)
