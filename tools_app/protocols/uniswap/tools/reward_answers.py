"""Defines the answers of the reward tools: rewards that came, rewards that are owed, and running incentives."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import Report, seen, told
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta


class Reward(Told):
    """What came, or is owed, of one token; dollars are null where it has no price."""

    token: TokenMeta
    amount: TokenAmount
    value_usd: UsdAmount | None


class RewardsClaimed(Report):
    """What a claim brought. `is_still_staked` is whether the position goes on earning."""

    rewards: tuple[Reward, ...] = seen(lambda outcome: list_came(outcome))
    is_still_staked: bool = seen(lambda outcome: bool(outcome.plan.details.get("staked")))


class RewardsHarvested(Report):
    """What a harvest of many positions brought; `came_back` are those whose incentives are over, and `left_out` those
    whose incentives no log tells.
    """

    total_rewards: tuple[Reward, ...] = seen(lambda outcome: list_came(outcome))
    positions_harvested: tuple[str, ...] = told("position_ids")
    came_back: tuple[str, ...]
    left_out: tuple[str, ...]


class PositionStakedReport(Report):
    """In which incentive a position earns now, and until when (Unix seconds)."""

    position_id: str
    incentive: str = seen(lambda outcome: str(_key(outcome)))
    reward_token: str = seen(lambda outcome: _key(outcome).reward_token)
    ends_at: int = seen(lambda outcome: _key(outcome).ends_at)


class PositionCameBack(Report):
    """A position that is the wallet's own again; `left_at_staker` are addresses of unregistered reward tokens."""

    position_id: str = seen(lambda outcome: str(outcome.plan.details["position_ids"][0]))
    rewards: tuple[Reward, ...] = seen(lambda outcome: list_came(outcome))
    left_at_staker: tuple[str, ...]


class StakeTold(Told):
    """One stake: its incentive by its parts, until when it runs, and what is owed for it now."""

    incentive: str
    ends_at: int
    owed: TokenAmount


class AtStaker(Told):
    """A position at the staker. `unknown_incentives` are those of its stakes that no log tells."""

    position_id: str
    pool: str
    stakes: tuple[StakeTold, ...]
    unknown_incentives: int


class IncentiveTold(Told):
    """An incentive that runs in a pool: what is left in it until `ends_at`, and how many positions share it."""

    incentive: str
    ends_at: int
    left: TokenAmount
    left_usd: UsdAmount | None
    stakes: int


class RewardsTold(OfChain):
    """What lies at the staker, what was earned before and not fetched, and what runs in the pool that was asked about.

    `known_since` is the block from which on logs were read: what was staked or opened before is not told.
    """

    positions: tuple[AtStaker, ...]
    credited: tuple[Reward, ...]
    running: tuple[IncentiveTold, ...]
    known_since: int


@dataclass(frozen=True, slots=True)
class _OfIncentive:
    incentive: str


def _key(outcome: PlanOutcome) -> IncentiveKey:
    return IncentiveKey.parse(read_details(_OfIncentive, outcome).incentive)


def list_came(outcome: PlanOutcome) -> tuple[Reward, ...]:
    """Each reward with what the preview's prices say of it."""
    found = []
    for flow in outcome.plan.receives:
        came, told = outcome.deltas.get(flow.token.address, 0), outcome.plan.details["value_usd"][flow.token.address]
        micro = None if told is None or not flow.expected else UsdAmount(int(told) * max(0, came) // flow.expected)
        found.append(Reward(flow.token, TokenAmount(came, flow.token), micro))
    return tuple(found)
