"""Reads what an account has in each market: what is lent, owed and covers; and the way out: the debt first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.core.stored_json import read_stored
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import NAME, Comet, find_comet, known_comets
from tools_app.protocols.compound_v3.reads import Account, answer_of, ask_accounts, health_of
from tools_app.standards import erc20
from tools_app.standards.aave_like.positions import REPAY_SPARE_BPS, ROOM_ABOVE_FLOOR_BPS
from tools_app.standards.stable_pool_lp_value import RewardToken
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS
from tools_app.toolkit.positions import (
    Act,
    ExitStep,
    Leg,
    Locked,
    NeedsTrade,
    Position,
    PositionRef,
    Positions,
    Reads,
    Wait,
    gather,
)

KIND: Final = "market"
REWARD_SYMBOL: Final = "COMP"
REWARD_DECIMALS: Final = 18


def ref_of(chain_id: int, comet: Comet) -> PositionRef:
    """The name of an account's position in a market."""
    return PositionRef(NAME, KIND, chain_id, comet.address)


def reward_of(token: str) -> RewardToken:
    """What a market pays beside interest; on every public chain it is COMP."""
    return RewardToken(token, REWARD_SYMBOL, REWARD_DECIMALS)


class CometPositions(Positions):
    """One position for each market; one batch for who has nothing."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every market in which something is lent, owed, covers or is claimable. Raises PositionsUnreadable."""
        comets = known_comets(chain_id)
        if not comets:
            return ()
        accounts = yield from ask_accounts(comets, account)
        held = [(comet, each) for comet, each in zip(comets, accounts, strict=True) if not each.is_empty]
        if not held:
            return ()
        told = yield from gather(*(_state_calls(comet) for comet, _ in held))
        states = [
            [answer_of(each, comet.label)[0] for each in state] for (comet, _), state in zip(held, told, strict=True)
        ]
        prices = yield [
            ReadCall(comet.address, signatures.PRICE, (state[0],))
            for (comet, _), state in zip(held, states, strict=True)
        ]
        return tuple(
            _make(chain_id, comet, each, state, int(answer_of(price, comet.label)[0]))
            for (comet, each), state, price in zip(held, states, prices, strict=True)
        )


def _state_calls(comet: Comet) -> list[ReadCall]:
    at = comet.address
    asked = (signatures.BASE_FEED, signatures.BASE_SCALE, signatures.SUPPLY_PAUSED, signatures.WITHDRAW_PAUSED)
    return [*(ReadCall(at, each) for each in asked), erc20.balance_call(comet.base, at)]


def _make(chain_id: int, comet: Comet, account: Account, state: Sequence[object], price: int) -> Position:
    feed, scale, is_in_paused, is_out_paused, free = state
    legs = [Leg(comet.base, account.supplied), Leg(comet.base, -account.owed)]
    legs += [Leg(cover.asset, raw, cover_bps=cover.threshold_bps) for cover, raw in account.covers]
    reward = reward_of(account.reward_token)
    debt = account.owed * price
    cover_value = sum(
        raw * cover.price * int(str(scale)) // cover.scale * cover.liquidate_factor // signatures.FACTOR
        for cover, raw in account.covers
    )
    locked = _locked(comet, account, int(str(free)), is_in_paused=bool(is_in_paused), is_out_paused=bool(is_out_paused))
    oracles = frozenset({checksum(str(feed)), *(cover.feed for cover, _ in account.covers)})
    return Position(
        ref=ref_of(chain_id, comet),
        label=comet.label,
        legs=(*(leg for leg in legs if leg.raw), *reward.legs_of(chain_id, account.reward)),
        uncounted=reward.uncounted_of(chain_id, account.reward),
        health_bps=health_of(cover_value, debt),
        claim_tokens=frozenset({comet.address}),
        facts={
            "market": comet.address,
            "supplied": str(account.supplied),
            "owed": str(account.owed),
            "collateral": {cover.asset: str(raw) for cover, raw in account.covers},
            "available_liquidity": "0" if is_out_paused else str(free),
            "is_withdraw_paused": bool(is_out_paused),
            "claimable": str(account.reward),
            "is_reward_counted": bool(account.reward) and reward.is_counted(chain_id),
        },
        relies_on=oracles,
        oracles=oracles,
        locked=locked,
    )


def _locked(
    comet: Comet, account: Account, free: int, *, is_in_paused: bool, is_out_paused: bool
) -> tuple[Locked, ...]:
    """What cannot be taken out now, and that nothing goes in any more."""
    if is_out_paused:
        held = [(comet.base, account.supplied), *((cover.asset, raw) for cover, raw in account.covers)]
        return tuple(Locked(token, raw, "paused") for token, raw in held if raw)
    if account.supplied > free:
        return (Locked(comet.base, account.supplied - free, "used"),)
    return (Locked(comet.base, 0, "frozen"),) if is_in_paused and account.supplied else ()


@dataclass(frozen=True, slots=True)
class _Facts:
    supplied: int
    owed: int
    collateral: dict[str, int]
    available_liquidity: int
    is_withdraw_paused: bool
    is_reward_counted: bool


class CometExits:
    """Out of a market: pay back, take what is lent, take the covers; then rewards, where they count."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The next step; a debt first, since it holds the covers."""
        chain_id = position.ref.chain_id
        comet = find_comet(chain_id, position.ref.id)
        if comet is None:
            return None
        facts, wanted = read_stored(_Facts, position.facts), {"market": comet.base, "chain_id": chain_id}
        supplied, liquidity, covers = facts.supplied, facts.available_liquidity, facts.collateral
        if facts.owed:
            return self._pay_back(position, comet.base, facts, held.get(comet.base, 0))
        if facts.is_withdraw_paused and (supplied or covers):
            return Wait(None, "the market is paused by its guardians: nothing goes out")
        for token in covers:
            params = {**wanted, "asset": token, "amount": "max"}
            return Act("compound_v3_withdraw", params, "nothing is owed: what covered is taken out")
        if supplied and not liquidity:
            return Wait(None, "all that is lent in the market is borrowed; it comes back as borrowers repay")
        if supplied:
            amount = "max" if supplied <= liquidity else str(liquidity)
            params = {**wanted, "asset": comet.base, "amount": amount}
            return Act("compound_v3_withdraw", params, "what is lent is taken out")
        if facts.is_reward_counted:
            return Act("compound_v3_claim_rewards", wanted, "what the market owes beside is claimed")
        return None

    def _pay_back(self, position: Position, market: str, facts: _Facts, funds: int) -> ExitStep:
        wanted = {"market": market, "chain_id": position.ref.chain_id}
        needed = facts.owed + facts.owed * REPAY_SPARE_BPS // 10_000 + 2
        short = NeedsTrade(market, max(0, needed - funds), "the debt is to be repaid")
        if funds:
            params = {**wanted, "amount": "max"}
            return Act("compound_v3_repay", params, "the debt is paid back", None if funds >= needed else short)
        has_room = (position.health_bps or 0) > DEFAULT_HEALTH_FLOOR_BPS + ROOM_ABOVE_FLOOR_BPS
        for token in facts.collateral if has_room and not facts.is_withdraw_paused else ():
            params = {**wanted, "asset": token, "amount": "max"}
            return Act("compound_v3_withdraw", params, "as much as the floor of its health leaves", short)
        return short
