"""Reads what an account has at Curve: LP tokens of a pool, staked or not, and what its gauge owes it; and the way
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.curve.addresses import NAME, Place, find_places
from tools_app.protocols.curve.reads import Held, ask_held, convex_call, tells_shut
from tools_app.standards.stable_pool_lp_value import Counting, counting_calls, read_counting
from tools_app.toolkit.params import EVERYTHING
from tools_app.toolkit.positions import Act, ExitStep, Locked, Position, PositionRef, Positions, Reads, gather

KIND: Final = "pool"
DUST: Final = 10**15
"""Fewer LP tokens, a tenth of a cent, stay: whoever sends so little keeps nobody from being out."""


def ref_of(chain_id: int, place: Place) -> PositionRef:
    """Names what is held of a pool, in wallet and gauge, by its LP token: who may use Curve may give that back."""
    return PositionRef(NAME, KIND, chain_id, place.pool.lp)


class CurvePositions(Positions):
    """One position for each pool; one batch for who has nothing, two for who has."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every pool of which something is held, staked or owed. Raises PositionsUnreadable."""
        places = find_places(chain_id)
        if not places:
            return ()
        held = yield from ask_held(places, account)
        owned = [(place, each) for place, each in zip(places, held, strict=True) if each.shares or each.owed]
        if not owned:
            return ()
        answers = yield from gather(
            *([convex_call(place), *counting_calls(chain_id, place.pool)] for place, _ in owned)
        )
        return tuple(
            _make(chain_id, place, each, read_counting(chain_id, place.pool, counting), is_shut=tells_shut(info))
            for (place, each), (info, *counting) in zip(owned, answers, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    pool: str
    lp_free: int
    lp_staked: int
    lp_at_convex: int
    earned_at_convex: int
    claimable: int
    is_reward_counted: bool


class CurveExits:
    """Out of Convex and the gauge, out of the pool, then rewards: who does not pay rewards keeps nobody in."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; dust stays, and so does a reward that nobody prices."""
        facts = read_stored(_Facts, position.facts)
        wanted = {"pool": facts.pool, "chain_id": position.ref.chain_id}
        if facts.lp_at_convex >= DUST:
            unstake = {**wanted, "amount": EVERYTHING, "claim": False}
            return Act("convex_unstake_lp", unstake, "the LP tokens are taken out of Convex")
        if facts.lp_staked >= DUST:
            unstake = {**wanted, "action": "unstake", "amount": EVERYTHING}
            return Act("curve_stake_gauge", unstake, "the LP tokens are taken out of the gauge")
        if facts.lp_free >= DUST:
            give_back = {**wanted, "lp_amount": EVERYTHING}
            return Act("curve_remove_liquidity", give_back, "the LP tokens are given back for the pool's coins")
        if facts.claimable and facts.is_reward_counted:
            return Act("curve_stake_gauge", {**wanted, "action": "claim"}, "the gauge's reward is claimed")
        if facts.earned_at_convex and facts.is_reward_counted:
            return Act("convex_claim_rewards", wanted, "what Convex owes is claimed")
        return None


def _make(chain_id: int, place: Place, held: Held, counting: Counting, *, is_shut: bool) -> Position:
    reward, pool = place.reward, place.pool
    return Position(
        ref=ref_of(chain_id, place),
        label=f"Curve {pool.label}",
        legs=(*counting.legs_of(held.shares), *reward.legs_of(chain_id, held.owed)),
        uncounted=(*counting.uncounted_of(held.shares), *reward.uncounted_of(chain_id, held.owed)),
        # Who shuts a pool down at Convex keeps nothing that is staked there.
        locked=(Locked(counting.token, 0, "frozen"),) if is_shut and held.at_convex else (),
        claim_tokens=frozenset({pool.lp, place.gauge}),
        facts={
            "pool": pool.address,
            "gauge": place.gauge,
            "lp_free": str(held.free),
            "lp_staked": str(held.staked),
            "lp_at_convex": str(held.at_convex),
            "earned_at_convex": str(held.earned),
            "virtual_price": str(counting.virtual_price),
            "counted_in": counting.token,
            "feeds_apart_bps": str(counting.apart_bps),
            "claimable": str(held.claimable),
            "reward": reward.address,
            "is_reward_counted": reward.is_counted(chain_id),
        },
        share_index=counting.index_of(held.shares),
    )
