"""Reads what an account has at Moonwell, as one position: one debt is covered by all that was entered; and the way
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.moonwell.addresses import NAME, Place, find_place
from tools_app.protocols.moonwell.reads import Account, Held, ask_account
from tools_app.standards.aave_like.positions import REPAY_SPARE_BPS, ROOM_ABOVE_FLOOR_BPS
from tools_app.standards.stable_pool_lp_value import RewardToken
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS
from tools_app.toolkit.positions import (
    ACCOUNT,
    Act,
    ExitStep,
    Leg,
    Locked,
    NeedsTrade,
    Position,
    PositionRef,
    Positions,
    Reads,
    Stuck,
    Wait,
)
from tools_app.toolkit.valuation_rules import Uncounted

REWARD_SYMBOL: Final = "WELL"
REWARD_DECIMALS: Final = 18


def ref_of(chain_id: int, account: str) -> PositionRef:
    """The name of an account's one position."""
    return PositionRef(NAME, ACCOUNT, chain_id, account)


def reward_of(token: str) -> RewardToken:
    """What markets pay beside interest; on public chains mostly WELL."""
    return RewardToken(token, REWARD_SYMBOL, REWARD_DECIMALS)


class MoonwellPositions(Positions):
    """One position over all markets; one batch for who has nothing, two for who has."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """The account, if anything is in it. Raises PositionsUnreadable."""
        place = find_place(chain_id)
        if place is None:
            return ()
        found = yield from ask_account(place, account)
        if found is None or found.is_empty:
            return ()
        return (_make(place, account, found),)


def _make(place: Place, account: str, found: Account) -> Position:
    chain_id = place.chain_id
    held = [each for each in found.held if not each.is_empty]
    legs = [leg for each in held for leg in _legs(each)]
    uncounted: list[Uncounted] = []
    for each in held:
        reward = reward_of(each.reward_token)
        legs += reward.legs_of(chain_id, each.reward)
        uncounted += reward.uncounted_of(chain_id, each.reward)
    return Position(
        ref=ref_of(chain_id, account),
        label="Account at Moonwell",
        legs=tuple(legs),
        uncounted=tuple(uncounted),
        health_bps=found.health_bps,
        claim_tokens=frozenset(each.state.market.address for each in held),
        facts={
            "supplied": {each.state.market.asset: str(each.supplied) for each in held if each.receipts},
            "owed": {each.state.market.asset: str(each.owed) for each in held if each.owed},
            "not_collateral": [each.state.market.asset for each in held if each.receipts and not each.is_member],
            "cash": {each.state.market.asset: str(each.state.cash) for each in held if each.receipts},
            "claimable": str(sum(each.reward for each in held)),
            "is_reward_counted": any(reward_of(e.reward_token).is_counted(chain_id) for e in held if e.reward),
        },
        is_whole=found.is_whole,
        relies_on=frozenset({place.oracle, place.comptroller}),
        oracles=frozenset({place.oracle}),
        locked=tuple(lock for each in held for lock in _locked(each)),
    )


def _legs(held: Held) -> list[Leg]:
    asset, cover = held.state.market.asset, held.state.factor_bps if held.is_member else 0
    legs = [Leg(asset, held.supplied, cover_bps=cover)] if held.supplied else []
    return [*legs, Leg(asset, -held.owed)] if held.owed else legs


def _locked(held: Held) -> list[Locked]:
    """What is lent out whole, and that nothing goes in any more."""
    asset, short = held.state.market.asset, held.supplied - held.state.cash
    if short > 0:
        return [Locked(asset, short, "used")]
    return [Locked(asset, 0, "frozen")] if held.state.is_in_paused and held.supplied else []


@dataclass(frozen=True, slots=True)
class _Facts:
    supplied: dict[str, int]
    owed: dict[str, int]
    cash: dict[str, int]
    is_reward_counted: bool


class MoonwellExits:
    """Debts first, with what is held of them; then what is lent; then rewards, where they count."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The next step."""
        facts, chain_id = read_stored(_Facts, position.facts), position.ref.chain_id
        if not position.is_whole:
            return Stuck("it has entered a market of Moonwell that is not known here")
        supplied, cash = facts.supplied, facts.cash
        if facts.owed:
            return self._pay_back(position, facts, held)
        for asset, raw in supplied.items():
            if cash[asset]:
                amount = "max" if raw <= cash[asset] else str(cash[asset])
                params = {"asset": asset, "amount": amount, "chain_id": chain_id}
                return Act("moonwell_withdraw", params, "what is lent is taken out")
        if any(supplied.values()):
            return Wait(None, "all that is lent in the market is borrowed; it comes back as borrowers repay")
        if facts.is_reward_counted:
            return Act("moonwell_claim_rewards", {"chain_id": chain_id}, "what the markets owe beside is claimed")
        return None

    def _pay_back(self, position: Position, facts: _Facts, held: Mapping[str, int]) -> ExitStep:
        chain_id, owed = position.ref.chain_id, facts.owed
        asset = max(owed, key=lambda each: held.get(each, 0) * 10**18 // owed[each])
        needed = owed[asset] + owed[asset] * REPAY_SPARE_BPS // 10_000 + 2
        funds = held.get(asset, 0)
        short = NeedsTrade(asset, max(0, needed - funds), "the debt is to be repaid")
        if funds:
            params = {"asset": asset, "amount": "max", "chain_id": chain_id}
            return Act("moonwell_repay", params, "the debt is paid back", None if funds >= needed else short)
        has_room = (position.health_bps or 0) > DEFAULT_HEALTH_FLOOR_BPS + ROOM_ABOVE_FLOOR_BPS
        for cover in facts.supplied if has_room else ():
            if facts.cash[cover]:
                params = {"asset": cover, "amount": "max", "chain_id": chain_id}
                return Act("moonwell_withdraw", params, "as much as the floor of its health leaves", short)
        return short
