"""Reads what is told of a market: how it stands, what its oracle tells, and what an account has of it.

Plans are told everything in one batch. For positions, what costs most to answer (averages, and a reward that the market
works out) is asked in a second batch, and only of what is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.pendle.addresses import Place
from tools_app.protocols.pendle.market_maths import WAD, Market, to_assets
from tools_app.standards import erc20
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS, Maturing
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable, Reads

STATE: Final = (
    "function readState(address router) view returns ((int256 totalPt, int256 totalSy, int256 totalLp,"
    " address treasury, int256 scalarRoot, uint256 expiry, uint256 lnFeeRateRoot, uint256 reserveFeePercent,"
    " uint256 lastLnImpliedRate))"
)
PT_RATE: Final = "function getPtToAssetRate(address market, uint32 duration) view returns (uint256)"
LP_RATE: Final = "function getLpToAssetRate(address market, uint32 duration) view returns (uint256)"
SHARE_RATE: Final = "function exchangeRate() view returns (uint256)"
STORED_INDEX: Final = "function pyIndexStored() view returns (uint256)"
CLOSED_AT: Final = (
    "function getPostExpiryData() view returns (uint256 firstPYIndex, uint256 totalSyInterestForTreasury,"
    " uint256[] firstRewardIndexes, uint256[] userRewardOwed)"
)
INTEREST: Final = "function userInterest(address user) view returns (uint128 index, uint128 accrued)"
INTEREST_FEE: Final = "function interestFeeRate() view returns (uint128)"
REWARDS: Final = "function redeemRewards(address user) returns (uint256[] rewards)"
"""Not a view: the market pays what it owes and answers it. Asked by eth_call, behind everything else of the batch."""
KEPT_REWARD: Final = "function userReward(address token, address user) view returns (uint128 index, uint128 accrued)"
"""What the market owes whoever has no part of it any more."""
PAUSED: Final = "function paused() view returns (bool)"
"""Of a yield that can be paused, as Pendle's own base of yields can; others do not answer."""
NOW: Final = "function getCurrentBlockTimestamp() view returns (uint256)"
TOKENS: Final = "function readTokens() view returns (address sy, address pt, address yt)"
IS_MARKET: Final = "function isValidMarket(address market) view returns (bool)"
ASSET: Final = "function assetInfo() view returns (uint8 kind, address asset, uint8 decimals)"
IS_TOKEN: Final = 0
"""What `assetInfo` says of a yield whose asset is a token that its shares stand for."""


@dataclass(frozen=True, slots=True)
class Held:
    """Base units of the market's tokens in the wallet, of shares that its yield tokens earned and were not paid (the
    protocol's fee taken off), and of the reward that the market owes it.
    """

    pt: int
    yt: int
    lp: int
    sy: int
    interest: int
    reward: int

    @property
    def is_nothing(self) -> bool:
        """Whether there is none of anything."""
        return not (self.pt or self.yt or self.lp or self.sy or self.interest or self.reward)


@dataclass(frozen=True, slots=True)
class Standing:
    """A market at one moment. `share_rate` is what a share brings; `pt_rate` and `lp_rate` are the oracle's averages,
    None where it has none. While it `is_paused` the yield's shares move nowhere.
    """

    market: Market
    share_rate: int
    pt_rate: int | None
    lp_rate: int | None
    held: Held
    is_paused: bool = False

    @property
    def face(self) -> int:
        """What a claim is due: its asset, or less where shares lost some of what they stood for."""
        return min(WAD, self.share_rate * WAD // self.market.index)

    def claim(self, place: Place) -> Maturing:
        """How claims count. Raises PositionsUnreadable while there is no average and they are not due."""
        return Maturing(
            place.asset,
            place.symbols.pt,
            place.decimals,
            self.market.expiry,
            face=self.face,
            average=None if self.market.is_over else told(self.pt_rate, place),
        )

    def worth_of_claims(self, place: Place, amount: int) -> int:
        """Base units of the asset that claims count as. Raises PositionsUnreadable."""
        return self.claim(place).leg(amount).raw

    def worth_of_lp(self, place: Place, amount: int) -> int:
        """Base units of the asset that a part of the market counts as. Raises PositionsUnreadable."""
        return amount * told(self.lp_rate, place) // WAD

    def market_of_yields(self, amount: int) -> int:
        """What yield tokens cost at the average, in the asset: what people are shown, and nobody counts."""
        if self.market.is_over or self.pt_rate is None:
            return 0
        return amount * max(0, self.face - self.pt_rate) // WAD


def told(rate: int | None, place: Place) -> int:
    """The oracle's word. Raises PositionsUnreadable where it has none."""
    if rate is None:
        raise PositionsUnreadable(f"the market of {place.symbols.pt} has no average price of fifteen minutes yet")
    return rate


def standing_calls(chain_id: int, place: Place, account: str) -> list[ReadCall]:
    """All questions of one market."""
    return [*_cheap_calls(chain_id, place, account), *_dear_calls(place, account)]


def _cheap_calls(chain_id: int, place: Place, account: str) -> list[ReadCall]:
    multicall = load_deployment(KNOWN_NETWORKS[chain_id]).contracts["multicall3"]
    return [
        ReadCall(place.market, STATE, (place.router,)),
        ReadCall(multicall, NOW),
        ReadCall(place.sy, SHARE_RATE),
        ReadCall(place.yt, STORED_INDEX),
        ReadCall(place.yt, CLOSED_AT),
        ReadCall(place.yield_factory, INTEREST_FEE),
        ReadCall(place.market, TOKENS),
        ReadCall(place.market_factory, IS_MARKET, (place.market,)),
        ReadCall(place.sy, ASSET),
        *(erc20.balance_call(token, account) for token in (place.pt, place.yt, place.market, place.sy)),
        ReadCall(place.yt, INTEREST, (account,)),
        ReadCall(place.sy, PAUSED),
    ]


def _dear_calls(place: Place, account: str) -> list[ReadCall]:
    return [
        ReadCall(place.oracle, PT_RATE, (place.market, AVERAGE_SECONDS)),
        ReadCall(place.oracle, LP_RATE, (place.market, AVERAGE_SECONDS)),
        ReadCall(place.market, REWARDS, (account,)),
    ]


def read_standing(place: Place, outcomes: Sequence[ReadOutcome]) -> Standing:
    """The answers to `standing_calls`. Raises PositionsUnreadable."""
    *cheap, pt_rate, lp_rate, reward = outcomes
    standing = _read_cheap(place, cheap)
    for signature, outcome in ((PT_RATE, pt_rate), (LP_RATE, lp_rate), (REWARDS, reward)):
        standing = _fill(standing, signature, outcome)
    return standing


def _read_cheap(place: Place, outcomes: Sequence[ReadOutcome]) -> Standing:
    state, now, share_rate, stored, closed, fee, tokens, is_market, info, *own = outcomes
    *balances, interest, paused = own
    _check_named(place, tokens, is_market, info)
    if not all(each.ok for each in (state, now, share_rate, stored, fee, *balances, interest)):
        raise PositionsUnreadable(f"the market of {place.symbols.pt} does not tell how it stands")
    rate = int(share_rate.values[0])
    claims, shares, supply, _, scalar, expiry, fee_root, reserve, ln_rate = state.values[0]
    market = Market(
        claims=claims,
        shares=shares,
        supply=supply,
        scalar_root=scalar,
        expiry=expiry,
        fee_root=fee_root,
        reserve_percent=reserve,
        ln_rate=ln_rate,
        index=max(rate, int(stored.values[0])),
        now=int(now.values[0]),
    )
    pt, yt, lp, sy = (int(each.values[0]) for each in balances)
    until = int(closed.values[0]) if market.is_over and closed.ok else market.index
    index, accrued = (int(each) for each in interest.values)
    earned = accrued + (yt * (until - index) * WAD // (index * until) if index and until > index else 0)
    held = Held(
        pt=pt,
        yt=yt,
        lp=lp,
        sy=sy if place.counts_shares else 0,
        interest=earned - earned * int(fee.values[0]) // WAD,
        reward=0,
    )
    is_paused = paused.ok and bool(paused.values[0])
    return Standing(market=market, share_rate=rate, pt_rate=None, lp_rate=None, held=held, is_paused=is_paused)


def _fill(standing: Standing, signature: str, outcome: ReadOutcome) -> Standing:
    """The standing with one of the dear answers."""
    if signature == PT_RATE:
        return replace(standing, pt_rate=int(outcome.values[0]) if outcome.ok else None)
    if signature == LP_RATE:
        return replace(standing, lp_rate=int(outcome.values[0]) if outcome.ok else None)
    # A reward that cannot be told keeps nobody in: it counts as none.
    reward = int(outcome.values[0][-1]) if outcome.ok and outcome.values[0] else 0
    return replace(standing, held=replace(standing.held, reward=reward))


def _check_named(place: Place, tokens: ReadOutcome, is_market: ReadOutcome, info: ReadOutcome) -> None:
    """Raises PositionsUnreadable where the chain says otherwise of a market than who named it."""
    named = (place.sy, place.pt, place.yt), (True,), (IS_TOKEN, place.asset, place.decimals)
    told = (tuple(tokens.values), tuple(is_market.values), tuple(info.values))
    if not all(each.ok for each in (tokens, is_market, info)) or told != named:
        raise PositionsUnreadable(f"{place.market} is another market than the one that is known as {place.symbols.pt}")


def ask_standings(chain_id: int, places: Sequence[Place], account: str) -> Reads[list[Standing]]:
    """Each market and what `account` has of it, in one batch. Raises PositionsUnreadable."""
    batches = [standing_calls(chain_id, place, account) for place in places]
    outcomes = yield [call for batch in batches for call in batch]
    found, start = [], 0
    for place, batch in zip(places, batches, strict=True):
        found.append(read_standing(place, outcomes[start : start + len(batch)]))
        start += len(batch)
    return found


def ask_held(chain_id: int, places: Sequence[Place], account: str) -> Reads[list[tuple[Place, Standing]]]:
    """The markets of which `account` has something, with the averages of what it has; the other is None.

    Raises PositionsUnreadable.
    """
    batches = [
        [*_cheap_calls(chain_id, place, account), ReadCall(place.market, KEPT_REWARD, (place.reward, account))]
        for place in places
    ]
    outcomes = iter((yield [call for batch in batches for call in batch]))
    found: list[tuple[Place, Standing]] = []
    for place, batch in zip(places, batches, strict=True):
        *cheap, kept = [next(outcomes) for _ in batch]
        standing = _read_cheap(place, cheap)
        held = replace(standing.held, reward=int(kept.values[1]) if kept.ok else 0)
        if not held.is_nothing:
            found.append((place, replace(standing, held=held)))
    wanted = [_of_what_is_held(place, standing.held, account) for place, standing in found]
    if not any(wanted):
        return found
    told = iter((yield [call for calls in wanted for call in calls]))
    for number, calls in enumerate(wanted):
        place, standing = found[number]
        for call in calls:
            standing = _fill(standing, call.signature, next(told))
        found[number] = (place, standing)
    return found


def _of_what_is_held(place: Place, held: Held, account: str) -> list[ReadCall]:
    claims, part, reward = _dear_calls(place, account)
    return [*((claims,) if held.pt or held.yt else ()), *((part, reward) if held.lp else ())]


def shares_worth(standing: Standing, shares: int) -> int:
    """What shares bring now, in the asset."""
    return to_assets(shares, standing.share_rate)
