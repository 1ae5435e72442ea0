"""Random batches of a hostile session key: theft, bad trades, rights given away, debts, detours, garbage.

A batch depends on its number alone, so a finding names what makes it again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from golem_project.embedded.world.deploy import PERMIT2
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import Limit, limit_rule
from tests.proof.caged.safe import APPROVE, TAKE, TRADE, TRANSFER, USD, CagedSafe
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

MULTICALL = "function multicall(bytes[] data)"
APPROVAL_FOR_ALL = "function setApprovalForAll(address operator, bool approved)"
TRANSFER_FROM = "function transferFrom(address from, address to, uint256 amount)"
PERMIT2_APPROVE = "function approve(address token, address spender, uint160 amount, uint48 expiration)"
PERMIT2_TRANSFER = "function transferFrom(address from, address to, uint160 amount, address token)"
TAKE_FROM = "function takeFrom(address token, address from, uint256 amount)"
TAKE_THROUGH_PERMIT2 = "function takeThroughPermit2(address permit2, address token, address from, uint160 amount)"
ENTER_AGAIN = "function enterAgain(address cage, (address to, uint256 value, bytes data)[] calls)"
# Dollars that a step of a batch is about; the larger ones run into the caps.
SIZES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 20_000, 40_000, 60_000)


@dataclass(frozen=True, slots=True)
class HostileBatch:
    """A batch, and how many seconds after the last one it comes.

    `prices` are feeds that move before it, and `restored` those that are put right after it.
    """

    number: int
    calls: tuple[Call, ...]
    seconds: int
    prices: tuple[tuple[str, int], ...] = ()
    restored: tuple[tuple[str, int], ...] = ()


class Attacker:
    """Makes batches against one caged Safe."""

    def __init__(self, caged: CagedSafe) -> None:
        self.caged = caged
        self.symbols = tuple(caged.coins)
        self._moves: tuple[tuple[int, Callable[[random.Random], list[Call]]], ...] = (
            (16, self._trade),
            (3, self._steal),
            (4, self._take_position),
            (2, self._approve),
            (1, self._approve_through_permit2),
            (1, self._take_what_is_left),
            (1, self._give_rights),
            (1, self._call_what_is_forbidden),
            (1, self._wrap),
            (1, self._send_garbage),
        )

    def make_batch(self, number: int) -> HostileBatch:
        """The batch of this number."""
        rng = random.Random(f"hostile batch {number}")
        weights = [weight for weight, _ in self._moves]
        count = rng.choice((1, 1, 1, 1, 2, 2, 3))
        calls: list[Call] = []
        for _ in range(count):
            [(_, move)] = rng.choices(self._moves, weights)
            calls += move(rng)
        if rng.random() < 0.004:
            calls = rng.choice(([], [self.caged.approve("USDC", 0)] * 33))
        seconds = rng.choice((1, 1, 12, 60, 600, 900, 3_599, 3_600, 3_601, 7_200))
        prices: tuple[tuple[str, int], ...] = ()
        if rng.random() < 0.05:
            symbol = rng.choice(self.symbols[1:])
            prices = ((symbol, self.caged.coins[symbol].price * rng.randint(80, 125) // 100),)
        elif rng.random() < 0.02:
            symbol = rng.choice(self.symbols)
            broken = ((symbol, rng.choice((0, -1, 2**96))),)
            return HostileBatch(number, tuple(calls), seconds, broken, ((symbol, self.caged.coins[symbol].price),))
        return HostileBatch(number, tuple(calls), seconds, prices)

    # ---- moves ---------------------------------------------------------------------------------------------------

    def _amount(self, rng: random.Random, symbol: str) -> int:
        coin = self.caged.coins[symbol]
        micro_usd = rng.choice(SIZES) * USD * rng.randint(80, 120) // 100 + rng.randint(-2, 2)
        return micro_usd * 10 ** (coin.decimals + 8) // (coin.price * USD)

    def _trade(self, rng: random.Random) -> list[Call]:
        sold, bought = rng.sample(self.symbols, 2)
        amount = self._amount(rng, sold)
        value = self.caged.coins[sold].value(amount)
        # Mostly fair, often a little worse than allowed, sometimes shameless.
        keeps = rng.choice((10_000, 10_000, 9_990, 9_950, 9_900, 9_701, 9_700, 9_699, 9_500, 5_000, 0))
        coin = self.caged.coins[bought]
        back = value * keeps // 10_000 * 10 ** (coin.decimals + 8) // (coin.price * USD)
        return self.caged.trade(sold, amount, bought, back)

    def _steal(self, rng: random.Random) -> list[Call]:
        symbol = rng.choice(self.symbols)
        caged, amount = self.caged, self._amount(rng, symbol)
        token, thief = caged.coins[symbol].address, caged.stranger.address
        way = rng.randrange(4)
        if way == 0:
            return caged.take(symbol, amount)
        if way == 1:
            return [caged.call(token, TRANSFER, thief, amount)]
        if way == 2:
            return [caged.call(token, TRANSFER_FROM, caged.safe, thief, amount)]
        # A loan that nobody values, to hide what is taken.
        return [caged.position(rng.choice(SIZES) * USD, rng.choice(SIZES) * USD), *caged.take(symbol, amount)]

    def _take_position(self, rng: random.Random) -> list[Call]:
        caged, dollars = self.caged, rng.choice(SIZES)
        gross = dollars * USD * rng.randint(90, 110) // 100
        if rng.random() < 0.03:
            return [caged.position(2**128, 0)]
        debt = rng.choice((0, 0, 0, gross // 2, gross * 79 // 100, gross * 8 // 10, gross * 81 // 100, gross))
        largest = rng.choice((gross, gross // 2, gross // 3))
        paid = caged.take("USDC", dollars * USD) if rng.random() < 0.7 else []
        return [caged.position(gross, debt, largest, rng.randrange(3)), *paid]

    def _approve(self, rng: random.Random) -> list[Call]:
        symbol = rng.choice(self.symbols)
        spender = rng.choice((self.caged.venue, self.caged.venue, self.caged.stranger.address, self.caged.lender))
        amount = rng.choice((0, 1, self._amount(rng, symbol), 2**128, 2**256 - 1))
        return [self.caged.approve(symbol, amount, spender)]

    def _approve_through_permit2(self, rng: random.Random) -> list[Call]:
        caged = self.caged
        symbol = rng.choice(self.symbols)
        spender = rng.choice((caged.venue, caged.venue, caged.venue, caged.stranger.address))
        # A run starts at the present and lasts days: some of these times are past, some near, some too far.
        until = caged.engine.now() + rng.choice((0, 3_600, 86_400, 2 * 86_400, 10**9))
        token = rng.choice((caged.coins[symbol].address,) * 5 + (caged.lender,))
        amount = rng.choice((0, 1, self._amount(rng, symbol), 2**160 - 1))
        return [
            rng.choice(
                (
                    caged.call(PERMIT2, PERMIT2_APPROVE, token, spender, amount, until),
                    caged.call(PERMIT2, PERMIT2_APPROVE, token, spender, amount, until),
                    caged.approve(symbol, self._amount(rng, symbol), PERMIT2),
                    caged.call(PERMIT2, PERMIT2_TRANSFER, caged.safe, spender, 1, token),
                )
            )
        ]

    def _take_what_is_left(self, rng: random.Random) -> list[Call]:
        """The spender helps itself to rights that earlier batches left."""
        caged, symbol = self.caged, rng.choice(self.symbols)
        token, amount = caged.coins[symbol].address, self._amount(rng, symbol)
        return [
            rng.choice(
                (
                    caged.call(caged.venue, TAKE_FROM, token, caged.safe, amount),
                    caged.call(caged.venue, TAKE_THROUGH_PERMIT2, PERMIT2, token, caged.safe, amount),
                    caged.call(caged.venue, TAKE, token, amount),
                )
            )
        ]

    def _give_rights(self, rng: random.Random) -> list[Call]:
        caged, thief = self.caged, self.caged.stranger.address
        token = caged.coins[rng.choice(self.symbols)].address
        return [
            rng.choice(
                (
                    caged.call(token, "function increaseAllowance(address spender, uint256 amount)", thief, 1),
                    caged.call(caged.venue, APPROVAL_FOR_ALL, thief, True),
                    caged.call(PERMIT2, PERMIT2_APPROVE, token, thief, 1, 2**48 - 1),
                    caged.call(caged.safe, "function approveHash(bytes32 hash)", b"\1" * 32),
                    caged.call(caged.lender, APPROVE, thief, 1),
                )
            )
        ]

    def _call_what_is_forbidden(self, rng: random.Random) -> list[Call]:
        caged, thief = self.caged, self.caged.stranger.address
        loosened = [limit_rule(Limit.MAX_LOSS_BPS, 1_000).as_tuple()]
        inner = [(caged.coins["USDC"].address, 0, encode_call(APPROVE, caged.venue, 1))]
        return [
            rng.choice(
                (
                    caged.call(caged.safe, "function enableModule(address module)", thief),
                    caged.call(
                        caged.safe, "function addOwnerWithThreshold(address owner, uint256 threshold)", thief, 1
                    ),
                    caged.call(caged.safe, "function setFallbackHandler(address handler)", thief),
                    caged.call(caged.cage, FUNCTIONS["propose"], loosened),
                    caged.call(caged.cage, FUNCTIONS["resume"]),
                    caged.call(caged.handler, "function getModules(address safe)", caged.safe),
                    caged.call(caged.venue, ENTER_AGAIN, caged.cage, inner),
                    caged.call(caged.contracts["safe_multi_send"], "function multiSend(bytes transactions)", b""),
                    Call(to=thief, data=b"\1\2\3\4", value=0, label=""),
                    Call(to="0x" + "00" * 20, data=b"\1\2\3\4", value=0, label=""),
                )
            )
        ]

    def _wrap(self, rng: random.Random) -> list[Call]:
        caged, token = self.caged, self.caged.coins["USDC"].address
        inner = [
            encode_call(TAKE, token, 0),
            encode_call(TRADE, token, 0, token, rng.choice((0, USD))),
            encode_call(APPROVAL_FOR_ALL, caged.stranger.address, True),
            encode_call("function destroy()"),
            encode_call(MULTICALL, []),
            b"\1",
        ]
        chosen = rng.choices(inner, (6, 6, 1, 1, 1, 1), k=rng.randint(0, 3))
        call = caged.call(caged.venue, MULTICALL, chosen)
        if rng.random() < 0.1:
            call = Call(to=call.to, data=call.data[: rng.randrange(4, len(call.data))], value=0, label="")
        return [call]

    def _send_garbage(self, rng: random.Random) -> list[Call]:
        to = rng.choice((self.caged.venue, self.caged.coins["USDC"].address, self.caged.lender))
        value = rng.choice((0, 0, 1, 10**18))
        return [Call(to=to, data=rng.randbytes(rng.choice((0, 1, 3, 4, 36, 68, 100))), value=value, label="")]
