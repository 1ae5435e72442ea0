"""What a thief with the session key tries at Morpho, at the loan callback, through a bundler and at the registry of
identities, where the other fences are not set up; and what a stranger tries at the callback.
"""

from __future__ import annotations

import random
from typing import Any

from tests.contracts.lent_safe import ANNOUNCE, OF_AAVE, OF_MORPHO, encode_steps
from tests.proof.caged.morpho import AUTHORIZE, BORROW, FLASH_LOAN, LEND, PLEDGE, RELEASE, REPAY, SEIZE, TAKE_BACK
from tests.proof.caged.safe import USD
from tests.proof.caged.uniswap import FOREVER, WHOLE
from tests.proof.heists.moves import DOLLARS, Thief
from tests.proof.heists.scene import AGGREGATE, Scene
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

TRANSFER_FROM = "function transferFrom(address from, address to, uint256 amount)"


class KnowingThief(Thief):
    """Knows more than the other fences are asked about."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.moves_of_its_own = (
            (3, self.use_morpho),
            (2, self.borrow_at_morpho_to_the_edge),
            (2, self.use_strange_market),
            (2, self.liquidate),
            (2, self.call_back),
            (2, self.bundle_for_anybody),
            (2, self.rewrite_identity),
        )

    def lend_at_morpho(self, dollars: int) -> list[Call]:
        """Dollars into the honest market, for the account."""
        return self._paying_morpho("USDC", dollars * USD, LEND, dollars * USD, 0, self.caged.safe, b"")

    def pledge_at_morpho(self, amount: int) -> list[Call]:
        """Ether that covers a debt, for the account."""
        return self._paying_morpho("WETH", amount, PLEDGE, amount, self.caged.safe, b"")

    def _paying_morpho(
        self, symbol: str, amount: int, signature: str, *asked: Any, strange: bool = False
    ) -> list[Call]:
        morpho = self.scene.morpho
        terms = morpho.strange if strange else morpho.honest
        right = self.caged.approve(symbol, amount, morpho.at)
        return [right, morpho.call(signature, terms.values, *asked), self.caged.approve(symbol, 0, morpho.at)]

    def use_morpho(self, rng: random.Random) -> list[Call]:
        """Lends, pledges, borrows, repays, takes out: for the account, to the thief, in another's name."""
        morpho, safe = self.scene.morpho, self.caged.safe
        honest, dollars = morpho.honest.values, rng.choice(DOLLARS)
        amount, ether = dollars * USD, self.units("WETH", dollars)
        whose, to = (rng.choice((safe, safe, safe, self.caged.stranger.address)) for _ in range(2))
        data = rng.choice((b"", b"", b"", b"\x01"))
        return rng.choice(
            (
                self._paying_morpho("USDC", amount, LEND, amount, 0, whose, data),
                self._paying_morpho("WETH", ether, PLEDGE, ether, whose, data),
                self._paying_morpho("USDC", amount, REPAY, amount, 0, whose, data),
                [morpho.call(TAKE_BACK, honest, amount, 0, whose, to)],
                [morpho.call(RELEASE, honest, ether, whose, to)],
                [morpho.call(BORROW, honest, amount, 0, whose, to)],
                [morpho.call(TAKE_BACK, honest, amount, 0, safe, safe), *self.swap("USDC", amount, "WETH")],
                [morpho.call(AUTHORIZE, self.caged.stranger.address, True)],
                [
                    *self.pledge_at_morpho(2 * ether),
                    morpho.call(BORROW, honest, amount, 0, safe, to),
                    *self._paying_morpho("USDC", amount, REPAY, amount // 2, 0, safe, b""),
                ],
            )
        )

    def borrow_at_morpho_to_the_edge(self, rng: random.Random) -> list[Call]:
        """What was pledged is borrowed against, and taken out until hardly anything is left above the threshold."""
        morpho, safe = self.scene.morpho, self.caged.safe
        ether = rng.choice((1, 2, 3)) * WHOLE
        owed = ether * self.caged.coins["WETH"].price // 10**20 * rng.choice((8_599, 8_000, 7_000)) // 10_000
        borrowed = morpho.call(BORROW, morpho.honest.values, owed, 0, safe, safe)
        kept = owed * 10**20 * 10_000 // (self.caged.coins["WETH"].price * 8_590)
        out = morpho.call(RELEASE, morpho.honest.values, max(1, ether - kept - rng.choice((10**9, 10**15))), safe, safe)
        return [*self.pledge_at_morpho(ether), borrowed, out]

    def use_strange_market(self, rng: random.Random) -> list[Call]:
        """Puts into the market whose price the thief tells, and takes out of it."""
        morpho, safe, strange = self.scene.morpho, self.caged.safe, self.scene.morpho.strange.values
        amount, ether = (self.units(symbol, rng.choice(DOLLARS)) for symbol in ("USDC", "WETH"))
        return rng.choice(
            (
                self._paying_morpho("USDC", amount, LEND, amount, 0, safe, b"", strange=True),
                self._paying_morpho("WETH", ether, PLEDGE, ether, safe, b"", strange=True),
                [morpho.call(TAKE_BACK, strange, amount, 0, safe, safe)],
                [morpho.call(BORROW, strange, amount, 0, safe, safe)],
            )
        )

    def liquidate(self, rng: random.Random) -> list[Call]:
        """The thief's own debt at a price of its making, or the account's own."""
        whose, strange = rng.choice(((self.caged.stranger.address, True), (self.caged.safe, False)))
        seized = rng.choice((10**15, 10**16, 5 * 10**16, 3 * 10**17))
        data = rng.choice((b"", b"", b"", b"\x01"))
        return self._paying_morpho("USDC", 40_000 * USD, SEIZE, whose, seized, 0, data, strange=strange)

    def call_back(self, rng: random.Random) -> list[Call]:
        """A loan whose lender calls the account back with the thief's steps, announced or not."""
        morpho, caged, usdc = self.scene.morpho, self.caged, self.caged.coins["USDC"].address
        steps = self.stolen_steps(rng.choice(DOLLARS))
        announced = Call(self.scene.callback, announce_as(caged.safe, morpho.at, steps), 0, "")
        itself = Call(caged.safe, announce_as(caged.safe, morpho.at, steps), 0, "")
        asked = morpho.call(FLASH_LOAN, usdc, rng.choice((1, 1_000 * USD)), steps)
        dollars = 100 * USD
        lent = self._paying_morpho("USDC", dollars, LEND, dollars, 0, caged.safe, steps)
        return rng.choice(([asked], [announced, asked], [itself, asked], lent))

    def stolen_steps(self, dollars: int) -> bytes:
        """What the thief would have the account do within a loan."""
        return encode_steps([self.caged.transfer("USDC", self.caged.stranger.address, dollars * USD)])

    def bundle_for_anybody(self, rng: random.Random) -> list[Call]:
        """A right for a bundler that does what anybody tells it: it moves the dollars, to the thief too."""
        caged, usdc = self.caged, self.caged.coins["USDC"].address
        amount, to = self.units("USDC", rng.choice(DOLLARS)), rng.choice((caged.safe, caged.stranger.address))
        moved = encode_call(TRANSFER_FROM, caged.safe, to, amount)
        asked = caged.call(self.scene.multicall, AGGREGATE, [(usdc, moved)])
        ended = [caged.approve("USDC", 0, self.scene.multicall)] if rng.random() < 0.7 else []
        return [caged.approve("USDC", amount, self.scene.multicall), asked, *ended]

    def rewrite_identity(self, rng: random.Random) -> list[Call]:
        """Where the golem's agent points, and whose wallet it names."""
        thief, agent = self.caged.stranger.address, self.scene.agent
        ways: tuple[tuple[str, tuple[object, ...]], ...] = (
            ("setAgentURI(uint256,string)", (agent, "https://thief.example/1")),
            ("setMetadata(uint256,string,bytes)", (agent, "a2a", b"https://thief.example")),
            ("setAgentWallet(uint256,address,uint256,bytes)", (agent, thief, FOREVER, bytes(65))),
            ("unsetAgentWallet(uint256)", (agent,)),
            ("register(string)", ("https://thief.example/2",)),
        )
        signature, values = rng.choice(ways)
        return [self.caged.call(self.scene.registry, f"function {signature}", *values)]


def announce_as(account: str, lender: str, steps: bytes) -> bytes:
    """An announcement that names the account as who makes it."""
    return encode_call(ANNOUNCE, lender, steps) + bytes.fromhex(account[2:])


def knock(scene: Scene, rng: random.Random) -> tuple[str, bytes]:
    """Where a stranger announces steps to the Safe's callback, or hands over a loan that the Safe did not ask for."""
    caged, thief = scene.caged, scene.caged.stranger.address
    steps = encode_steps([caged.transfer("USDC", thief, rng.choice(DOLLARS) * USD)])
    lender = rng.choice((thief, scene.morpho.at, caged.safe))
    data = rng.choice(
        (
            encode_call(ANNOUNCE, lender, steps),
            announce_as(caged.safe, lender, steps),
            encode_call(OF_MORPHO, 0, steps),
            encode_call(OF_AAVE, caged.coins["USDC"].address, 0, 0, caged.safe, steps),
        )
    )
    return rng.choice((caged.safe, caged.safe, scene.callback)), data
