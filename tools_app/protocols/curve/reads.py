"""Reads what is told of a pool and its gauge: for the account, and how they stand; one batch each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.curve.addresses import Place
from tools_app.standards import erc20
from tools_app.standards.stable_pool_lp_value import Counting, counting_calls, read_counting
from tools_app.standards.stable_swap import StableSwap
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

BALANCES: Final = "function balances(uint256 i) view returns (uint256)"
AMPLIFICATION: Final = "function A() view returns (uint256)"
FEE: Final = "function fee() view returns (uint256)"
ADMIN_FEE: Final = "function admin_fee() view returns (uint256)"
CLAIMABLE: Final = "function claimable_tokens(address account) returns (uint256)"
"""Not a view: the gauge writes down what was earned and answers it. Asked by eth_call."""
EARNED: Final = "function earned(address account) view returns (uint256)"
REWARD_RATE: Final = "function rewardRate() view returns (uint256)"
PERIOD_FINISH: Final = "function periodFinish() view returns (uint256)"
EXTRAS: Final = "function extraRewardsLength() view returns (uint256)"
POOL_INFO: Final = (
    "function poolInfo(uint256 pid) view returns (address lptoken, address token, address gauge, address crvRewards,"
    " address stash, bool shutdown)"
)
INFLATION: Final = "function inflation_rate() view returns (uint256)"
WORKING: Final = "function working_supply() view returns (uint256)"
WEIGHT: Final = "function gauge_relative_weight(address gauge) view returns (uint256)"


@dataclass(frozen=True, slots=True)
class Held:
    """LP tokens in the wallet, in the gauge and at Convex, and base units of the gauge's reward that can be claimed of
    its minter and of Convex.
    """

    free: int
    staked: int
    claimable: int
    at_convex: int
    earned: int

    @property
    def shares(self) -> int:
        """All LP tokens."""
        return self.free + self.staked + self.at_convex

    @property
    def owed(self) -> int:
        """All of the reward."""
        return self.claimable + self.earned


@dataclass(frozen=True, slots=True)
class Standing:
    """A pool at one moment: its books, how its shares count, and what the account has of it."""

    books: StableSwap
    counting: Counting
    held: Held


@dataclass(frozen=True, slots=True)
class Emission:
    """What a gauge is paid: base units of the reward a second for all of it, and what of the stakes works for it."""

    per_second: int
    working: int


def held_calls(place: Place, account: str) -> list[ReadCall]:
    """The questions of an account."""
    return [
        erc20.balance_call(place.pool.lp, account),
        erc20.balance_call(place.gauge, account),
        ReadCall(place.gauge, CLAIMABLE, (account,)),
        erc20.balance_call(place.convex_rewards, account),
        ReadCall(place.convex_rewards, EARNED, (account,)),
    ]


def read_held(place: Place, outcomes: Sequence[ReadOutcome]) -> Held:
    """The answers to `held_calls`. Raises PositionsUnreadable."""
    free, staked, claimable, at_convex, earned = outcomes
    if not free.ok or not staked.ok or not at_convex.ok:
        raise PositionsUnreadable(f"{place.pool.label}, its gauge or Convex does not tell balances")
    # A reward that cannot be told keeps nobody in: it counts as none.
    owed, more = (int(each.values[0]) if each.ok else 0 for each in (claimable, earned))
    return Held(int(free.values[0]), int(staked.values[0]), owed, int(at_convex.values[0]), more)


def ask_held(places: tuple[Place, ...], account: str) -> Reads[list[Held]]:
    """What `account` has of each pool. Raises PositionsUnreadable."""
    outcomes = yield [call for place in places for call in held_calls(place, account)]
    size = len(outcomes) // len(places)
    return [read_held(place, outcomes[size * index :][:size]) for index, place in enumerate(places)]


def ask_standing(chain_id: int, place: Place, account: str) -> Reads[Standing]:
    """The pool and what `account` has of it, in one batch. Raises PositionsUnreadable."""
    pool = place.pool
    books, counting, own = yield from gather(
        [
            *(ReadCall(pool.address, BALANCES, (index,)) for index in range(len(pool.coins))),
            *(ReadCall(pool.address, each) for each in (AMPLIFICATION, FEE, ADMIN_FEE)),
            ReadCall(pool.lp, erc20.TOTAL_SUPPLY),
        ],
        counting_calls(chain_id, pool),
        held_calls(place, account),
    )
    if not all(each.ok for each in books):
        raise PositionsUnreadable(f"{pool.label} does not tell its balances")
    *balances, amp, fee, admin_fee, supply = (int(each.values[0]) for each in books)
    decimals = {token.address: token.decimals for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    scales = tuple(10 ** (18 - decimals[coin]) for coin in pool.coins)
    return Standing(
        StableSwap(tuple(balances), scales, amp, fee, admin_fee, supply),
        read_counting(chain_id, pool, counting),
        read_held(place, own),
    )


def ask_emission(place: Place) -> Reads[Emission | None]:
    """What the gauge is paid now; None where it or its controller does not tell."""
    outcomes = yield [
        ReadCall(place.gauge, INFLATION),
        ReadCall(place.gauge, WORKING),
        ReadCall(place.controller, WEIGHT, (place.gauge,)),
    ]
    if not all(each.ok for each in outcomes):
        return None
    rate, working, weight = (int(each.values[0]) for each in outcomes)
    return Emission(rate * weight // 10**18, working)


@dataclass(frozen=True, slots=True)
class AtConvex:
    """How a pool stands at Convex: base units of the reward a second until the unix second `until`, all LP tokens
    there, how many other rewards there are, and whether it takes no more.
    """

    per_second: int
    until: int
    staked: int
    extras: int
    is_shut_down: bool


def convex_call(place: Place) -> ReadCall:
    """How the pool stands in Convex's own list."""
    return ReadCall(place.booster, POOL_INFO, (place.number,))


def tells_shut(info: ReadOutcome) -> bool:
    """Whether Convex takes no more into the pool, by the answer to `convex_call`."""
    return info.ok and bool(info.values[-1])


def ask_convex(place: Place) -> Reads[AtConvex]:
    """How the pool stands there. Raises PositionsUnreadable, also where Convex tells another pool under its number."""
    outcomes = yield [
        *(ReadCall(place.convex_rewards, each) for each in (REWARD_RATE, PERIOD_FINISH, erc20.TOTAL_SUPPLY, EXTRAS)),
        convex_call(place),
    ]
    if not all(each.ok for each in outcomes):
        raise PositionsUnreadable(f"Convex does not tell how {place.pool.label} stands there")
    rate, until, staked, extras = (int(each.values[0]) for each in outcomes[:4])
    lp, _, _, rewards, *_ = outcomes[4].values
    if (str(lp).lower(), str(rewards).lower()) != (place.pool.lp.lower(), place.convex_rewards.lower()):
        raise PositionsUnreadable(f"Convex tells another pool under number {place.number}")
    return AtConvex(rate, until, staked, extras, tells_shut(outcomes[4]))
