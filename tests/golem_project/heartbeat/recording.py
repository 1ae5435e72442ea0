"""Records consecutive ticks of a golem at a real pool of the local chain, in which seeded traders trade all the time.

The value of ether goes its own way: by chance, and for some days with a drift. Some of the trades come from one trader
who knows it and trades as far as the pool's fee lets it pay; most of them come by chance. Feeds tell the value at each
tick. The golem is not live: it wishes, is refused or rehearses, and sends nothing, so that each tick is the same
question: would it enter now?
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import exp, isqrt, sqrt
from typing import Any, Final

import pytest
from django.forms.models import model_to_dict

from golem_project.embedded.world.rpc import call_data
from golem_project.heartbeat.entry_caution import Doubted, doubt_wishes
from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.steps import wanted_actions
from permits_app.models import PolicyCage, SpendingLimits
from tests.bench.recorded import AHEAD_HOURS, HOURS_BETWEEN, RecordedTick, Recording
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tests.tools_app.history.followed import SINGLE, Followed
from tools_app.subsystems.intel.regime_maths import WEEK_HOURS

SEED: Final = 43
_FEE: Final = 500
_FEE_PART: Final = _FEE / 10**6
_HOURLY: Final = 0.0028
_DRIFT: Final = 0.0018
_STAYS: Final = 0.98
"""What ether's value moves in an hour by chance, how it drifts, and how likely an hour is like the one before."""
_KNOWING: Final = 3
_BY_CHANCE: Final = 4
"""So many times an hour whoever knows the value looks, each time after so many trades by chance."""
_EVERYWHERE: Final = (-887_270, 887_270)
_MINT: Final = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
_SLOT0: Final = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


class Market:
    """The pool, who trades in it, and the value that one of them knows."""

    def __init__(self, index: Followed, seed: int) -> None:
        self.world, self.pool, self.drawn = index.world, index.pool, random.Random(seed)
        usdc, weth = self.world.tokens["USDC"], self.world.tokens["WETH"]
        self.is_weth_first = self.pool.token0 == weth.address
        self.traders = [
            self.world.new_account(10**20, {"USDC": 10**9 * 10**6, "WETH": 300_000 * 10**18}).address for _ in range(2)
        ]
        self.router = self.world.contracts["uniswap_v3_swap_router_02"]
        for trader in self.traders:
            self.world.rpc.call("anvil_impersonateAccount", trader)
            for token in (usdc, weth):
                self._send(trader, token.address, "approve(address,uint256)", self.router, 2**256 - 1)
        self.value, self.drift = self.price(), 0.0
        self._provide_everywhere()
        liquidity = self.world.rpc.read(self.pool.address, "liquidity()", returns="(uint128)")[0]
        # Both tokens move the root of the price by what is paid over the liquidity.
        worth = liquidity * sqrt(self.value / 10**12) / 10**6
        self.piece_usd = worth * _HOURLY / _KNOWING / 2

    def _provide_everywhere(self) -> None:
        """The world's makers end at some price; somebody provides over all of them, so that trades always can go on."""
        manager = self.world.contracts["uniswap_v3_position_manager"]
        amounts = {self.world.tokens["USDC"].address: 10**8 * 10**6, self.world.tokens["WETH"].address: 40_000 * 10**18}
        maker = self.world.new_account(10**20, {"USDC": 10**8 * 10**6, "WETH": 40_000 * 10**18})
        for token in amounts:
            self.world.transact(maker, token, "approve(address,uint256)", manager, 2**256 - 1)
        pair = (self.pool.token0, self.pool.token1)
        order = (*pair, _FEE, *_EVERYWHERE, amounts[pair[0]], amounts[pair[1]], 0, 0, maker.address, 2**32)
        self.world.transact(maker, manager, _MINT, order)

    def root(self) -> int:
        """The pool's own price, as it keeps it."""
        return int(self.world.rpc.read(self.pool.address, "slot0()", returns=_SLOT0)[0])

    def price(self) -> float:
        """USDC for a WETH."""
        raw = (self.root() / 2**96) ** 2 * 10**12
        return raw if self.is_weth_first else 10**24 / raw

    def trade_an_hour(self, begins_at: int) -> None:
        """The value goes on, and everybody trades, a block each."""
        if self.drawn.random() > _STAYS:
            self.drift = self.drawn.choice((-_DRIFT, 0.0, 0.0, _DRIFT))
        move = self.drift + self.drawn.gauss(0, _HOURLY)
        between = 3_600 // (_KNOWING * (_BY_CHANCE + 1) + 1)
        at = begins_at
        for _ in range(_KNOWING):
            self.value *= exp(move / _KNOWING)
            for _ in range(_BY_CHANCE):
                at += between
                is_buying, usd = self.drawn.random() < 0.5, self.piece_usd * self.drawn.lognormvariate(0, 0.7)
                self._swap(self.traders[0], at, is_buying=is_buying, usd=usd)
            at += between
            self._trade_to_value(at)

    def tell_feed(self) -> int:
        """The feed of ether tells the value."""
        answer = round(self.value * 10**8)
        feed = self.world.tokens["WETH"].feed
        self.world.transact(self.world.actors.deployer, feed, "setAnswer(int256)", answer)
        return answer

    def _trade_to_value(self, at: int) -> None:
        """Whoever knows the value trades until the fee takes what is left of the difference."""
        price = self.price()
        is_buying = price < self.value
        until = self.value * (1 - _FEE_PART) if is_buying else self.value * (1 + _FEE_PART)
        if (price >= until) == is_buying:
            return
        ratio = until / 10**12 if self.is_weth_first else 10**12 / until
        limit = isqrt(int(ratio * 2**192))
        self._swap(self.traders[1], at, is_buying=is_buying, usd=10**8, limit=limit)

    def _swap(self, trader: str, at: int, *, is_buying: bool, usd: float, limit: int = 0) -> None:
        usdc, weth = self.world.tokens["USDC"].address, self.world.tokens["WETH"].address
        sold, bought = (usdc, weth) if is_buying else (weth, usdc)
        amount = int(usd * 10**6) if is_buying else int(usd / self.value * 10**18)
        self.world.rpc.call("evm_setNextBlockTimestamp", at)
        self._send(trader, self.router, SINGLE, (sold, bought, _FEE, trader, amount, 0, limit))

    def _send(self, trader: str, to: str, signature: str, *arguments: Any) -> None:
        call = {"from": trader, "to": to, "data": call_data(signature, *arguments), "gas": hex(600_000)}
        fees = {"maxFeePerGas": hex(10**11), "maxPriorityFeePerGas": hex(1)}
        sent = self.world.rpc.call("eth_sendTransaction", {**call, **fees})
        # The next one is to find the price that this one leaves.
        assert self.world.wait(sent)["status"] == "0x1", f"{signature} reverted"


def record(live: LiveGolem, settings: Any, *, ticks: int, before_hours: int = WEEK_HOURS) -> Recording:
    """So many ticks, one every three hours, after a week that the index followed, and a day more of prices."""
    settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE = 1_000_000
    index = Followed(live.world)
    index.watch(index.pool.address)
    index.fill()
    market = Market(index, SEED)
    turn_on(live.golem, is_live=False)
    for _ in range(before_hours // HOURS_BETWEEN):
        _go_on(market, index)
    before = read_limits(live)
    told: list[RecordedTick] = []
    prices: list[int] = []
    for number in range(ticks + AHEAD_HOURS // HOURS_BETWEEN):
        if number < ticks:
            told.append(_tick(live, hours=len(prices)))
        prices += _go_on(market, index)
    return Recording(
        seed=SEED,
        rule=RULE,
        weth=live.world.tokens["WETH"].address,
        usdc=live.world.tokens["USDC"].address,
        pool=index.pool.address,
        limits_before=before,
        limits_after=read_limits(live),
        hours=tuple(prices),
        ticks=tuple(told),
    )


def read_limits(live: LiveGolem) -> list[dict[str, str]]:
    """Every column of what the owner allows."""
    rows = [*SpendingLimits.objects.filter(golem=live.golem), *PolicyCage.objects.filter(golem=live.golem)]
    own = ("id", "golem")
    return [{name: str(told) for name, told in model_to_dict(row).items() if name not in own} for row in rows]


def _go_on(market: Market, index: Followed) -> list[int]:
    """Three hours of trades that the index follows; micro-USDC for a WETH at the end of each."""
    begins_at, prices = market.world.timestamp(), []
    for hour in range(HOURS_BETWEEN):
        market.trade_an_hour(begins_at + hour * 3_600)
        prices.append(round(market.price() * 10**6))
    index.now = let_pass(timedelta(hours=HOURS_BETWEEN, seconds=1), chain=market.world)
    market.tell_feed()
    index.mine(3)
    index.follow()
    return prices


def _tick(live: LiveGolem, *, hours: int) -> RecordedTick:
    """One tick, and what was weighed in it last."""
    weighed: list[dict[str, Any]] = []

    def doubt(asked: Sequence[RuleWish], **facts: Any) -> tuple[Doubted, ...]:
        doubted = doubt_wishes(asked, **facts)
        weighed.append({"wishes": tuple(asked), "known": facts["known"], "doubted": doubted})
        return doubted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wanted_actions, "doubt_wishes", doubt)
        row = tick(live.golem)
    last = weighed[-1]
    return RecordedTick(
        number=row.heartbeat_tick,
        at=int(row.decided_at.timestamp()),
        block=int(row.probes["block_number"]),
        hours=hours,
        phase=row.phase,
        wishes=tuple(replace(each, reason="") for each in last["wishes"]),
        known=last["known"],
        waited={each.wish_key: each.code for each in last["doubted"]},
    )
