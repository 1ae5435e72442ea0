"""`uniswap_lp_remove_shares`: take liquidity out of a V2 pair of which the golem holds shares."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.chain.abi import checksum
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.core.json_types import JsonObject
from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.errors import PositionEmpty
from tools_app.protocols.uniswap.pool_addresses import v2_pair_address
from tools_app.protocols.uniswap.pools import GET_RESERVES, TOKEN0, TOKEN1
from tools_app.protocols.uniswap.position_changes import FEE_DUST, LEAST_MOVE_BPS, pair_feeds
from tools_app.protocols.uniswap.positions import K_LAST
from tools_app.protocols.uniswap.positions_in_logs import SHARE
from tools_app.protocols.uniswap.tools.family import deadline_after, uniswap
from tools_app.protocols.uniswap.tools.position_details import describe_amounts
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v2 import plans as v2_plans
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.pool_maths import reserves_at
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadCall, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer
from tools_app.toolkit.markets import PositionNotFound
from tools_app.toolkit.params import Address, DeadlineSeconds, PercentWhole, SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import PositionChange, PositionRef
from tools_app.toolkit.result import TokenAmount

_BPS = 10_000


class RemoveSharesReport(Told):
    """What giving shares back brought."""

    amount0_received: TokenAmount
    amount1_received: TokenAmount
    shares_removed: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair at the pinned block, and what the account has of it in base units."""

    address: str
    tokens: tuple[str, str]
    supply: int
    reserves: tuple[int, int]
    held: int
    allowance: int

    def amounts(self, shares: int) -> tuple[int, int]:
        """Token0 and token1 that so many shares give, as the pair rounds."""
        return self.reserves[0] * shares // self.supply, self.reserves[1] * shares // self.supply


def report_remove_shares(outcome: PlanOutcome) -> RemoveSharesReport:
    """What arrived in the wallet."""
    got0, got1 = (TokenAmount(outcome.deltas.get(each.token.address, 0), each.token) for each in outcome.plan.receives)
    return RemoveSharesReport(
        amount0_received=got0,
        amount1_received=got1,
        shares_removed=str(outcome.plan.details["shares_removed"]),
    )


@uniswap.write(
    action_type="remove_shares",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    report=report_remove_shares,
    snippet=(
        "remove_shares: give shares of a Uniswap V2 pair back for both of its tokens; allowed in every phase. V3"
        " positions are left with remove_liquidity."
    ),
    guidelines=("Taking out 100% closes the position; anything less only decreases it.",),
)
def uniswap_lp_remove_shares(
    ctx: WriteContext,
    pair: Address,
    percent_to_remove: PercentWhole = 100,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Take liquidity out of a Uniswap V2 pair of which the golem holds shares.

    Use to shrink or close a V2 position. Both tokens come to the golem's wallet. The transaction reverts when either
    would be less by more than the slippage.
    Does not unwrap the coin, does not swap what comes out, and does not touch V3 positions.
    """
    reader = ctx.begin("Reading the pair")
    deployment = deployment_on(reader.chain_id)
    found = _read_pair(reader, deployment, pair, ctx.account)
    shares = found.held * percent_to_remove // 100
    if shares == 0:
        raise PositionEmpty(f"the golem holds no shares of {found.address} to give back", position=found.address)
    tokens = (reader.token(found.tokens[0]), reader.token(found.tokens[1]))
    amounts = found.amounts(shares)
    least = tuple(each * (_BPS - slippage_bps) // _BPS for each in amounts)
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, deadline)
    draft = PlanDraft(reader.chain_id, ctx.account)
    router, meta = deployment.v2_router, reader.token(found.address)
    draft.approve(meta, spender=router, amount=shares, allowance=found.allowance)
    draft.call(
        v2_plans.remove_shares(
            router=router,
            tokens=found.tokens,
            shares=shares,
            least0=least[0],
            least1=least[1],
            recipient=ctx.account,
            deadline=until,
            label=f"Take {percent_to_remove}% out of a Uniswap V2 pair",
        )
    )
    for token, amount, low in zip(tokens, amounts, least, strict=True):
        draft.receive(token, amount, at_least=low)
    draft.changes += _say_changes(reader, found, shares)
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if percent_to_remove == 100 else ActionClass.DECREASE_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        details=_describe(found, router, shares, percent_to_remove)
        | {"token0": tokens[0].symbol, "token1": tokens[1].symbol, **describe_amounts("amount", tokens, amounts)},
    )


def _describe(found: _Pair, router: str, shares: int, percent: int) -> JsonObject:
    return {
        "venue": "uniswap v2",
        "router": router,
        "pool": found.address,
        "percent_to_remove": percent,
        "shares_removed": str(shares),
    }


def _read_pair(reader: ChainReader, deployment: UniswapDeployment, pair: str, account: str) -> _Pair:
    """Raises PositionNotFound for what is no pair of the factory, ContractOutputUnexpected."""
    reads = [ReadCall(pair, each) for each in (TOKEN0, TOKEN1, erc20.TOTAL_SUPPLY, GET_RESERVES, K_LAST)]
    reads += [erc20.balance_call(pair, account), erc20.allowance_call(pair, account, deployment.v2_router)]
    told = reader.call_many(reads)
    if not (told[0].ok and told[1].ok):
        raise PositionNotFound(f"{pair} is no pair of Uniswap V2", position=pair)
    tokens = (checksum(told[0].values[0]), checksum(told[1].values[0]))
    if v2_pair_address(deployment.v2_factory, *tokens) != pair:
        raise PositionNotFound(f"{pair} is no pair of Uniswap V2's factory", position=pair)
    if not all(each.ok for each in told):
        raise ContractOutputUnexpected(f"{pair} does not tell its reserves and shares", address=pair)
    supply, (reserve0, reserve1, _), k_last = told[2].values[0], told[3].values, told[4].values[0]
    # The pair makes its protocol's shares before it gives any back.
    supply += v2_math.protocol_shares(supply, reserve0, reserve1, k_last)
    return _Pair(pair, tokens, supply, (reserve0, reserve1), told[5].values[0], told[6].values[0])


def _say_changes(reader: ChainReader, found: _Pair, shares: int) -> list[PositionChange]:
    """Legs of so many shares less, in the words that measure them: at the feeds' ratio, not at the pair's."""
    feeds = pair_feeds(reader.chain_id, *found.tokens)
    ratios = feeds.read(reader.call_many(feeds.calls) if feeds.calls else [])
    ratio = ratios.between(*found.tokens)
    reserves = reserves_at(ratio, *found.reserves) if ratio else found.reserves
    unpriced = ratios.unpriced(*found.tokens)
    ref = PositionRef(NAME, SHARE, reader.chain_id, found.address)
    changes = []
    for token, reserve in zip(found.tokens, reserves, strict=True):
        # Beside a token without a price, the other one's leg is nothing.
        gone = 0 if unpriced and token not in unpriced else reserve * shares // found.supply
        most = gone * (_BPS + LEAST_MOVE_BPS) // _BPS + FEE_DUST
        changes.append(PositionChange(NAME, SHARE, token, -gone, -most, ref))
    return changes
