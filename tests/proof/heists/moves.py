"""What a thief with the session key tries: one batch each, made for the place where something might give."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt, log
from typing import Any

from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW
from tests.proof.caged.safe import APPROVE, TAKE, USD
from tests.proof.caged.uniswap import COLLECT, DECREASE, EXACT_IN, FOREVER, INCREASE, MINT_V3, MOST, WHOLE
from tests.proof.heists.scene import (
    DEPOSIT,
    HONEST_FEE,
    MULTICALL,
    SET_ADDRESS,
    SHAMELESS_FEE,
    SPACINGS,
    TAKE_OUT,
    Scene,
)
from tools_app.toolkit.plan import Call

DOLLARS = (1, 10, 100, 300, 1_000, 2_000, 3_000, 5_000, 8_000, 12_000, 20_000, 30_000)
VARIABLE = 2
ALL = 2**256 - 1


@dataclass
class Thief:
    """Makes calls at one scene. `tokens` are the V3 positions there may be; `owned` is the one that the Safe had
    before, with the dollars of each token in it.
    """

    scene: Scene
    tokens: Sequence[int] = ()
    owned: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.caged = self.scene.caged
        self.moves: tuple[tuple[int, Callable[[random.Random], list[Call]]], ...] = (
            (4, self._swap),
            (2, self._swap_shamelessly),
            (2, self._take),
            (3, self._lend),
            (2, self._borrow_to_the_edge),
            (2, self._withdraw_to_whom),
            (3, self._sell_what_is_lent),
            (3, self._turn_what_is_lent),
            (3, self._buy_with_what_is_left),
            (3, self._grow_a_little),
            (2, self._open_position),
            (4, self._leave_position),
            (3, self._run_strange_code),
            (1, self._change_what_is_owned),
            (2, self._use_vault),
            (1, self._send_coins),
            (2, self._open_narrow),
            (2, self._grow_what_there_is),
            (2, self._bundle),
            (1, self._give_identity),
        )
        # A thief who knows more has some of its own.
        self.moves_of_its_own: tuple[tuple[int, Callable[[random.Random], list[Call]]], ...] = ()

    def make_batch(self, rng: random.Random) -> tuple[Call, ...]:
        """Mostly one move, sometimes two of them in a row."""
        moves = (*self.moves, *self.moves_of_its_own)
        weights = [weight for weight, _ in moves]
        calls: list[Call] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            [(_, move)] = rng.choices(moves, weights)
            calls += move(rng)
        return tuple(calls)

    # ---- pieces ----------------------------------------------------------------------------------------------------

    def units(self, symbol: str, dollars: float) -> int:
        coin = self.caged.coins[symbol]
        return int(dollars * 10 ** (coin.decimals + 8)) // coin.price

    def swap(self, sold: str, amount: int, bought: str, fee: int = HONEST_FEE, router: str = "") -> list[Call]:
        """At the real router, at any price, to the account."""
        coins, router = self.caged.coins, router or self.scene.router
        path = (
            bytes.fromhex(coins[sold].address[2:]) + fee.to_bytes(3, "big") + bytes.fromhex(coins[bought].address[2:])
        )
        asked = (path, self.caged.safe, amount, 0)
        return [self.caged.approve(sold, amount, router), self.caged.call(router, EXACT_IN, asked)]

    def supply(self, symbol: str, amount: int) -> list[Call]:
        pool, token = self.scene.market.pool, self.caged.coins[symbol].address
        supplied = self.caged.call(pool, SUPPLY, token, amount, self.caged.safe, 0)
        return [self.caged.approve(symbol, amount, pool), supplied]

    def withdraw(self, symbol: str, amount: int, to: str = "") -> Call:
        token = self.caged.coins[symbol].address
        return self.caged.call(self.scene.market.pool, WITHDRAW, token, amount, to or self.caged.safe)

    def borrow(self, symbol: str, amount: int) -> Call:
        token = self.caged.coins[symbol].address
        return self.caged.call(self.scene.market.pool, BORROW, token, amount, VARIABLE, 0, self.caged.safe)

    def deposit(self, amount: int) -> list[Call]:
        vault = self.scene.vault
        deposited = self.caged.call(vault, DEPOSIT, amount, self.caged.safe)
        return [self.caged.approve("USDC", amount, vault), deposited]

    def mint(self, other: str, dollars: float, to: str) -> list[Call]:
        """A V3 position of so many dollars of each, with every right taken back."""
        usdc, token = self.caged.coins["USDC"].address, self.caged.coins[other].address
        return self.scene.v3.open_position(usdc, token, HONEST_FEE, dollars, to)

    # ---- moves -----------------------------------------------------------------------------------------------------

    def _swap(self, rng: random.Random) -> list[Call]:
        other = rng.choice(("WETH", "WBTC"))
        pair = rng.choice((("USDC", other), (other, "USDC")))
        return self.swap(pair[0], self.units(pair[0], rng.choice(DOLLARS)), pair[1])

    def _swap_shamelessly(self, rng: random.Random) -> list[Call]:
        sold, bought = rng.choice((("USDC", "WETH"), ("WETH", "USDC")))
        return self.swap(sold, self.units(sold, rng.choice(DOLLARS)), bought, SHAMELESS_FEE)

    def _take(self, rng: random.Random) -> list[Call]:
        symbol = rng.choice(("USDC", "WETH", "WBTC", rng.choice(tuple(self.caged.coins))))
        amount = self.units(symbol, rng.choice(DOLLARS))
        token = self.caged.coins[symbol].address
        return [self.caged.approve(symbol, amount), self.caged.call(self.caged.venue, TAKE, token, amount)]

    def use_role(self, rng: random.Random) -> list[Call]:
        """What the key of the other role tries: mostly what it was given, and sometimes what it was not."""
        dollars = rng.choice((300, 1_000, 2_000, 3_000))
        return rng.choice(
            (
                self.swap("USDC", dollars * USD, "WETH"),
                self.supply("USDC", dollars * USD),
                [self.withdraw("USDC", dollars * USD), *self.swap("USDC", dollars * USD, "WETH")],
                self.swap("WETH", self.units("WETH", dollars), "USDC"),
                self._take(rng),
                self.deposit(dollars * USD),
            )
        )

    def _lend(self, rng: random.Random) -> list[Call]:
        symbol = rng.choice(("USDC", "WETH", "WETH", "WBTC"))
        amount = self.units(symbol, rng.choice(DOLLARS))
        repaid = [
            self.caged.approve("USDC", amount, self.scene.market.pool),
            self.caged.call(
                self.scene.market.pool, REPAY, self.caged.coins["USDC"].address, amount, VARIABLE, self.caged.safe
            ),
        ]
        return rng.choice((self.supply(symbol, amount), [self.withdraw(symbol, amount)], repaid))

    def _borrow_to_the_edge(self, rng: random.Random) -> list[Call]:
        """What was put in is borrowed against, and taken out again until nothing is left above the threshold."""
        held = rng.choice((1, 2, 3, 4)) * WHOLE
        debt = held * self.caged.coins["WETH"].price // 10**8 * rng.choice((7_299, 7_200, 6_000)) // 10_000 // 10**12
        need = debt * 10**12 * 10**8 * 10_000 // (7_800 * self.caged.coins["WETH"].price)
        out = held - need - rng.choice((10**9, 10**15))
        return [*self.supply("WETH", held), self.borrow("USDC", debt), self.withdraw("WETH", max(1, out))]

    def _withdraw_to_whom(self, rng: random.Random) -> list[Call]:
        symbol = rng.choice(("USDC", "WETH", "WBTC", "WBTC"))
        to = rng.choice((self.caged.safe, self.caged.stranger.address))
        return [self.withdraw(symbol, rng.choice((ALL, self.units(symbol, rng.choice(DOLLARS)))), to)]

    def _sell_what_is_lent(self, rng: random.Random) -> list[Call]:
        amount = self.units("WETH", rng.choice(DOLLARS))
        return [self.withdraw("WETH", amount), *self.swap("WETH", amount, "USDC")]

    def _turn_what_is_lent(self, rng: random.Random) -> list[Call]:
        dollars = rng.choice(DOLLARS)
        amount = self.units("USDC", dollars)
        turned = [self.withdraw("USDC", amount), *self.swap("USDC", amount, "WETH")]
        return [*turned, *self.supply("WETH", self.units("WETH", dollars * 0.99))]

    def _buy_with_what_is_left(self, rng: random.Random) -> list[Call]:
        """Dollars out of a lender, the vault or a position, and another asset for them."""
        dollars, other = rng.choice(DOLLARS), rng.choice(("WETH", "WETH", "WBTC"))
        bought = self.swap("USDC", self.units("USDC", dollars), other)
        way = rng.randrange(3)
        if way == 0:
            return [self.withdraw("USDC", self.units("USDC", dollars)), *bought]
        if way == 1 or self.owned is None:
            out = self.caged.call(self.scene.vault, TAKE_OUT, dollars * USD, self.caged.safe, self.caged.safe)
            return [out, *bought]
        return [*self._leave(*self.owned, self.caged.safe, rng.choice((10, 50, 99))), *bought]

    def _grow_a_little(self, rng: random.Random) -> list[Call]:
        """One position shrinks by next to nothing, another grows by what the wallet pays."""
        dollars = rng.choice((30, 100, 200, 300, 500))
        grown = self.supply("USDC", self.units("USDC", dollars))
        out = self.caged.call(self.scene.vault, TAKE_OUT, USD, self.caged.safe, self.caged.safe)
        return [out, *grown] if rng.random() < 0.5 else [self.withdraw("USDC", USD), *self.deposit(dollars * USD)]

    def _open_position(self, rng: random.Random) -> list[Call]:
        to = rng.choice((self.caged.safe, self.caged.safe, self.caged.stranger.address))
        return self.mint(rng.choice(("WETH", "WBTC")), rng.choice(DOLLARS[:7]), to)

    def _open_narrow(self, rng: random.Random) -> list[Call]:
        """In a range of a few spacings around the price, in a pool of the thief's or in an honest one."""
        fee = rng.choice((HONEST_FEE, SHAMELESS_FEE))
        asked = narrow_range(self.scene, "WETH", fee, rng.choice(DOLLARS[:7]), rng.choice((1, 2, 8, 12, 60)))
        return self._with_rights(asked[0:2], asked[5:7], self.caged.call(self.scene.v3.npm, MINT_V3, asked))

    def _grow_what_there_is(self, rng: random.Random) -> list[Call]:
        """More into a position that there may be, of the account's or of a stranger's making."""
        if not self.tokens:
            return self._open_narrow(rng)
        usdc, weth = (self.caged.coins[symbol].address for symbol in ("USDC", "WETH"))
        first, second, *amounts = self.scene.v3.order(usdc, weth, rng.choice(DOLLARS[:7]))
        asked = (rng.choice(self.tokens), *amounts, 0, 0, FOREVER)
        return self._with_rights((first, second), amounts, self.caged.call(self.scene.v3.npm, INCREASE, asked))

    def _with_rights(self, tokens: Sequence[str], amounts: Sequence[int], call: Call) -> list[Call]:
        npm = self.scene.v3.npm
        rights = [self.caged.call(token, APPROVE, npm, amount) for token, amount in zip(tokens, amounts, strict=True)]
        return [*rights, call, *(self.caged.call(token, APPROVE, npm, 0) for token in tokens)]

    def _bundle(self, rng: random.Random) -> list[Call]:
        """The same in a bundle of calls."""
        npm = self.scene.v3.npm
        move = rng.choice((self._open_narrow, self._grow_what_there_is, self._leave_position))
        return [self.caged.call(npm, MULTICALL, [call.data]) if call.to == npm else call for call in move(rng)]

    def _give_identity(self, rng: random.Random) -> list[Call]:
        """The golem's agent to the thief, or the right to it."""
        safe, thief, agent = self.caged.safe, self.caged.stranger.address, self.scene.agent
        ways: tuple[tuple[str, tuple[object, ...]], ...] = (
            ("safeTransferFrom(address,address,uint256)", (safe, thief, agent)),
            ("transferFrom(address,address,uint256)", (safe, thief, agent)),
            ("approve(address,uint256)", (thief, agent)),
            ("setApprovalForAll(address,bool)", (thief, True)),
        )
        signature, values = rng.choice(ways)
        return [self.caged.call(self.scene.registry, f"function {signature}", *values)]

    def _leave_position(self, rng: random.Random) -> list[Call]:
        """Out of a position, to the account or to the thief; what came to the account may be taken at once."""
        if not self.tokens:
            return self._open_position(rng)
        caged, npm, token = self.caged, self.scene.v3.npm, rng.choice(self.tokens)
        to = rng.choice((caged.safe, caged.safe, caged.stranger.address))
        dollars = rng.choice(DOLLARS)
        if self.owned is not None and rng.random() < 0.7:
            dollars = self.owned[1]
            left = self._leave(*self.owned, to, rng.choice((10, 50, 99)))
        else:
            out = caged.call(npm, DECREASE, (token, rng.choice((10**13, 10**14, 10**15)), 0, 0, FOREVER))
            left = [out, caged.call(npm, COLLECT, (token, to, MOST, MOST))]
        return left if rng.random() < 0.5 else [*left, *self._take_dollars(dollars)]

    def _leave(self, token: int, dollars: int, to: str, percent: int) -> list[Call]:
        """Out of so much of the position that has `dollars` of each of its tokens."""
        whole = isqrt(self.units("USDC", dollars) * self.units("WETH", dollars))
        npm = self.scene.v3.npm
        out = self.caged.call(npm, DECREASE, (token, whole * percent // 100, 0, 0, FOREVER))
        return [out, self.caged.call(npm, COLLECT, (token, to, MOST, MOST))]

    def _take_dollars(self, dollars: int) -> list[Call]:
        amount = self.units("USDC", dollars)
        return [
            self.caged.approve("USDC", amount),
            self.caged.call(self.caged.venue, TAKE, self.caged.coins["USDC"].address, amount),
        ]

    def _run_strange_code(self, rng: random.Random) -> list[Call]:
        """A path of the real router over a token that calls whoever listens."""
        amount = rng.choice((1_000, 10_000, 30_000)) * USD
        usdc, evil = self.caged.coins["USDC"].address, self.scene.evil
        path = bytes.fromhex(usdc[2:]) + HONEST_FEE.to_bytes(3, "big") + bytes.fromhex(evil[2:])
        router = rng.choice((self.scene.router, self.scene.open_router, self.scene.open_router))
        asked = (path, self.caged.safe, amount, 0)
        return [self.caged.approve("USDC", amount, router), self.caged.call(router, EXACT_IN, asked)]

    def _change_what_is_owned(self, rng: random.Random) -> list[Call]:
        return [self.caged.call(self.scene.owned, SET_ADDRESS, bytes(32), self.caged.stranger.address)]

    def _use_vault(self, rng: random.Random) -> list[Call]:
        amount = self.units("USDC", rng.choice(DOLLARS))
        to = rng.choice((self.caged.safe, self.caged.safe, self.caged.stranger.address))
        out = self.caged.call(self.scene.vault, TAKE_OUT, amount, to, self.caged.safe)
        return rng.choice((self.deposit(amount), [out]))

    def _send_coins(self, rng: random.Random) -> list[Call]:
        return [Call(to=self.caged.venue, data=b"", value=rng.choice((1, 10**15, 10**17, 10**18)), label="")]


def narrow_range(scene: Scene, other: str, fee: int, dollars: float, spacings: int) -> tuple[Any, ...]:
    """What is asked for a position of so many spacings at the price of the feeds, as the Safe's."""
    usdc, token = scene.caged.coins["USDC"].address, scene.caged.coins[other].address
    first, second, *amounts = scene.v3.order(usdc, token, dollars)
    spacing = SPACINGS[fee]
    lower = int(log(amounts[1] / amounts[0]) / log(1.0001)) // spacing * spacing
    return (first, second, fee, lower, lower + spacings * spacing, *amounts, 0, 0, scene.caged.safe, FOREVER)
