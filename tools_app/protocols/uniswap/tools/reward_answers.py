"""What the tools of rewards answer: what came, what is owed, what runs."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Reward:
    """What came, or is owed, of one token; dollars are null where it has no price."""

    token: TokenMeta
    amount: TokenAmount
    value_usd: UsdAmount | None


@dataclass(frozen=True, slots=True)
class RewardsClaimed:
    """What a claim brought. `is_still_staked` is whether the position goes on earning."""

    rewards: tuple[Reward, ...]
    is_still_staked: bool


@dataclass(frozen=True, slots=True)
class RewardsHarvested:
    """What a harvest of many positions brought; `came_back` are those whose incentives are over, and `left_out` those
    whose incentives no log tells.
    """

    total_rewards: tuple[Reward, ...]
    positions_harvested: tuple[str, ...]
    came_back: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PositionStakedReport:
    """In which incentive a position earns now, and until when (Unix seconds)."""

    position_id: str
    incentive: str
    reward_token: str
    ends_at: int


@dataclass(frozen=True, slots=True)
class PositionCameBack:
    """A position that is the wallet's own again; `left_at_staker` are addresses of unregistered reward tokens."""

    position_id: str
    rewards: tuple[Reward, ...]
    left_at_staker: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StakeTold:
    """One stake: its incentive by its parts, until when it runs, and what is owed for it now."""

    incentive: str
    ends_at: int
    owed: TokenAmount


@dataclass(frozen=True, slots=True)
class AtStaker:
    """A position at the staker. `unknown_incentives` are those of its stakes that no log tells."""

    position_id: str
    pool: str
    stakes: tuple[StakeTold, ...]
    unknown_incentives: int


@dataclass(frozen=True, slots=True)
class IncentiveTold:
    """An incentive that runs in a pool: what is left in it until `ends_at`, and how many positions share it."""

    incentive: str
    ends_at: int
    left: TokenAmount
    left_usd: UsdAmount | None
    stakes: int


@dataclass(frozen=True, slots=True)
class RewardsTold:
    """What lies at the staker, what was earned before and not fetched, and what runs in the pool that was asked about.

    `known_since` is the block from which on logs were read: what was staked or opened before is not told.
    """

    positions: tuple[AtStaker, ...]
    credited: tuple[Reward, ...]
    running: tuple[IncentiveTold, ...]
    known_since: int
    block_number: int


def report_claim(outcome: PlanOutcome) -> RewardsClaimed:
    """Amounts from balances."""
    return RewardsClaimed(list_came(outcome), bool(outcome.plan.details.get("staked")))


def report_harvest(outcome: PlanOutcome) -> RewardsHarvested:
    """The same for many."""
    details = outcome.plan.details
    return RewardsHarvested(
        list_came(outcome),
        tuple(details["position_ids"]),
        tuple(details["came_back"]),
        tuple(details["left_out"]),
    )


def report_staked(outcome: PlanOutcome) -> PositionStakedReport:
    """What the plan chose."""
    key = IncentiveKey.parse(str(outcome.plan.details["incentive"]))
    return PositionStakedReport(str(outcome.plan.details["position_id"]), str(key), key.reward_token, key.ends_at)


def report_back(outcome: PlanOutcome) -> PositionCameBack:
    """Amounts from balances."""
    details = outcome.plan.details
    return PositionCameBack(str(details["position_ids"][0]), list_came(outcome), tuple(details["left_at_staker"]))


def list_came(outcome: PlanOutcome) -> tuple[Reward, ...]:
    """Each reward with what the preview's prices say of it."""
    found = []
    for flow in outcome.plan.receives:
        came, told = outcome.deltas.get(flow.token.address, 0), outcome.plan.details["value_usd"][flow.token.address]
        micro = None if told is None or not flow.expected else UsdAmount(int(told) * max(0, came) // flow.expected)
        found.append(Reward(flow.token, TokenAmount(came, flow.token), micro))
    return tuple(found)
