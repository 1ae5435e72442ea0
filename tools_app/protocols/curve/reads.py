"""What is read of a pool and its gauge: for the account, and how they stand; one batch each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.curve.addresses import Place
from tools_app.standards import erc20
from tools_app.standards.stable_shares import Counting, counting_calls, read_counting
from tools_app.standards.stable_swap import StableSwap
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

BALANCES: Final = "function balances(uint256 i) view returns (uint256)"
AMPLIFICATION: Final = "function A() view returns (uint256)"
FEE: Final = "function fee() view returns (uint256)"
ADMIN_FEE: Final = "function admin_fee() view returns (uint256)"
CLAIMABLE: Final = "function claimable_tokens(address account) returns (uint256)"
"""Not a view: the gauge writes down what was earned and answers it. Asked by eth_call."""
INFLATION: Final = "function inflation_rate() view returns (uint256)"
WORKING: Final = "function working_supply() view returns (uint256)"
WEIGHT: Final = "function gauge_relative_weight(address gauge) view returns (uint256)"


@dataclass(frozen=True, slots=True)
class Held:
    """LP tokens in the wallet and in the gauge, and base units of the reward that can be claimed."""

    free: int
    staked: int
    claimable: int

    @property
    def shares(self) -> int:
        """All LP tokens."""
        return self.free + self.staked


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
    """Three questions of an account."""
    return [
        erc20.balance_call(place.pool.lp, account),
        erc20.balance_call(place.gauge, account),
        ReadCall(place.gauge, CLAIMABLE, (account,)),
    ]


def ask_held(places: tuple[Place, ...], account: str) -> Reads[list[Held]]:
    """What `account` has of each pool. Raises PositionsUnreadable."""
    outcomes = yield [call for place in places for call in held_calls(place, account)]
    held = []
    for index, place in enumerate(places):
        free, staked, claimable = outcomes[3 * index : 3 * index + 3]
        if not free.ok or not staked.ok:
            raise PositionsUnreadable(f"{place.pool.label} or its gauge does not tell balances")
        # A reward that cannot be told keeps nobody in: it counts as none.
        reward = int(claimable.values[0]) if claimable.ok else 0
        held.append(Held(int(free.values[0]), int(staked.values[0]), reward))
    return held


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
    if not all(each.ok for each in books) or not own[0].ok or not own[1].ok:
        raise PositionsUnreadable(f"{pool.label} does not tell its balances")
    *balances, amp, fee, admin_fee, supply = (int(each.values[0]) for each in books)
    decimals = {token.address: token.decimals for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    scales = tuple(10 ** (18 - decimals[coin]) for coin in pool.coins)
    claimable = int(own[2].values[0]) if own[2].ok else 0
    return Standing(
        StableSwap(tuple(balances), scales, amp, fee, admin_fee, supply),
        read_counting(chain_id, pool, counting),
        Held(int(own[0].values[0]), int(own[1].values[0]), claimable),
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
