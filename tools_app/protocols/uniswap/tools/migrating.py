"""`uniswap_lp_migrate_position`: a V3 position taken out and opened again in another pool of the same two tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.errors import PositionEmpty
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.pools import find_v3_pool
from tools_app.protocols.uniswap.pools import read_pool as read_named_pool
from tools_app.protocols.uniswap.tools.family import uniswap
from tools_app.protocols.uniswap.tools.joint_steps import JointSteps
from tools_app.protocols.uniswap.tools.liquidity import read_opened
from tools_app.protocols.uniswap.tools.own_positions import read_own, spacing_of
from tools_app.protocols.uniswap.tools.position_details import describe_amounts, describe_range
from tools_app.protocols.uniswap.v3.positions import V3Position
from tools_app.protocols.uniswap.v4.keys import list_usual_keys
from tools_app.protocols.uniswap.v4.pools import key_of, pool_of, read_states
from tools_app.protocols.uniswap.v4.positions import read_pool
from tools_app.standards import concentrated as ranges
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.markets import Pool, PoolNotFound
from tools_app.toolkit.params import FeeTier, PoolName, PositionId, SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.views import NATIVE

TargetVersion = Annotated[
    Literal["v3", "v4"], Field(description="Where it goes: v4, or v3 for another fee (then name target_fee).")
]


class MigrateReport(Told):
    """What moving a position to another pool did."""

    old_position_id: str
    new_position_id: str
    target_version: str
    liquidity: str


@dataclass(frozen=True, slots=True)
class _MigrationDetails:
    position_id: str
    target_version: str


def report_migrate(outcome: PlanOutcome) -> MigrateReport:
    """The new position from the manager's event."""
    details, (new_position_id, liquidity) = read_details(_MigrationDetails, outcome), read_opened(outcome)
    return MigrateReport(details.position_id, new_position_id, details.target_version, liquidity)


@uniswap.write(
    action_type="migrate_position",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_migrate,
    action_class=ActionClass.REBALANCE,
    snippet=(
        "migrate_position: take a Uniswap V3 position out and open the same range in a V4 pool of its tokens, or at"
        " another fee, under one permit; what is over stays in the wallet."
    ),
    guidelines=(
        "Compare depth and fee of the V4 pool first: a thin pool earns little, and leaving it again costs gas.",
        "A hook of the pool could stop or tax the way out: evaluate it before entering.",
    ),
)
def uniswap_lp_migrate_position(
    ctx: WriteContext,
    position_id: PositionId,
    target_version: TargetVersion = "v4",
    target_fee: FeeTier | None = None,
    pool: PoolName | None = None,
    slippage_bps: SlippageBps = 50,
) -> TxPlan:
    """Move a Uniswap V3 position of the golem into a V4 pool, or to another fee of V3.

    Use when the other pool trades more, or at a better fee; the range is widened to its ticks. By default the V4 pool
    without a hook at the same fee is taken; the wrapped coin comes out as the coin where the pool is of the coin. The
    permit bounds the whole: the least that comes out, and the most that goes in, which is never more than that. Into V4
    it is several transactions unless a Safe sends them as one, and a price that moves in between leaves the tokens in
    the wallet. wallet_get_status lists positions. Does not swap.
    """
    ctx.step("Reading the position")
    joint = JointSteps.begin(ctx, slippage_bps=slippage_bps)
    position = read_own(joint.reader, [position_id], ctx.account)[position_id]
    if position.liquidity == 0:
        raise PositionEmpty(f"position {position_id} has no liquidity to move", position_id=position_id)
    ctx.step("Reading the pool")
    if target_version == V4:
        target = _choose_pool(joint, position, target_fee, pool)
    else:
        target = _choose_fee(joint, position, target_fee, pool)
    is_turned = target.token0 != position.pool.token0 and target.token1 != position.pool.token1
    ticks = _fit_ticks(position, spacing_of(joint.reader, target), is_turned=is_turned)
    ctx.step("Building calls")
    have = joint.take_out(position, position.liquidity, as_coin=NATIVE in (target.token0, target.token1))
    offer = joint.open(target, ticks, (have[1], have[0]) if is_turned else have)
    tokens = joint.tokens_of(target)
    return joint.finish(
        action_class=ActionClass.REBALANCE,
        details={
            "position_id": position_id,
            **({"manager": joint.v4.positions} if target.version == V4 else {}),
            "target_version": target_version,
            "old_pool": position.pool.id,
            "liquidity": str(offer.liquidity),
            **describe_range(target, tokens, *ticks),
            **describe_amounts("amount", tokens, offer.used),
            **describe_amounts("maximum_amount", tokens, offer.offered),
        },
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _choose_fee(joint: JointSteps, position: V3Position, fee: int | None, named: str | None) -> Pool:
    """The V3 pool of another fee. Raises InvalidParams, PoolNotFound."""
    old = position.pool
    if named is not None or fee in (None, old.fee):
        raise InvalidParams(
            f"within V3 a position goes to another fee than its {old.fee}",
            fields={"target_fee": "another fee", **({} if named is None else {"pool": "leave it out"})},
        )
    return find_v3_pool(joint.reader, joint.deployment, old.token0, old.token1, fee or 0)


def _choose_pool(joint: JointSteps, position: V3Position, fee: int | None, named: str | None) -> Pool:
    """In V4's own order, with its state. Raises InvalidParams, PoolNotFound."""
    reader, wrapped, old = joint.reader, joint.deployment.wrapped_native, position.pool
    if named is not None:
        found = read_named_pool(reader, joint.deployment, named)
        if found.version != V4 or {found.token0, found.token1} != {old.token0, old.token1}:
            raise InvalidParams(
                f"{named} is no V4 pool of the position's tokens", fields={"pool": "leave it out, or another"}
            )
        return read_pool(reader, joint.v4, key_of(found))
    keys = list_usual_keys(old.token0, old.token1, wrapped)
    usable = [each for each in read_states(reader, [pool_of(key, joint.v4, wrapped) for key in keys]) if each.liquidity]
    wanted = old.fee if fee is None else fee
    fitting = [each for each in usable if key_of(each).fee == wanted]
    if not fitting:
        fees = sorted({key_of(each).fee for each in usable})
        raise PoolNotFound(
            f"there is no V4 pool of this pair with fee {wanted} and liquidity"
            + (f"; there are some with {', '.join(map(str, fees))}" if fees else ""),
            fee=wanted,
            target_fees=fees,
        )
    return read_pool(reader, joint.v4, key_of(max(fitting, key=lambda each: each.liquidity)))


def _fit_ticks(position: V3Position, spacing: int, *, is_turned: bool) -> tuple[int, int]:
    """The position's range in the order of the new pool, widened to its ticks."""
    lower, upper = position.tick_lower, position.tick_upper
    if is_turned:
        lower, upper = -upper, -lower
    lowest, highest = ranges.usable_tick_bounds(spacing)
    wide = ranges.floor_to_spacing(lower, spacing), ranges.ceil_to_spacing(upper, spacing)
    return max(wide[0], lowest), min(wide[1], highest)
