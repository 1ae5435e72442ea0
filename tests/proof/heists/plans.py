"""Heists by order: how the Safe stands when the thief begins, and what everybody does from then on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import Limit, Rule, RuleKind, address_key, guardian_rule, limit_rule, spender_rule
from tests.proof.caged.engines import make_account
from tests.proof.caged.morpho import SEIZE
from tests.proof.caged.safe import TRANSFER, USD
from tests.proof.caged.signed import LISTEN
from tests.proof.caged.uniswap import EXACT_IN, MINT_V3
from tests.proof.heists.knowing_moves import KnowingThief, knock
from tests.proof.heists.moves import ALL, DOLLARS, Thief, narrow_range
from tests.proof.heists.scene import HONEST_FEE, MINT, MULTICALL, TRADER, Scene
from tests.proof.heists.steps import Act, Finding, Heist, Order, Step
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

HOUR = 3_600
ZERO = "0x" + "00" * 20
SET_ANSWER = "function setAnswer(int256 answer)"
SET_UPDATED_AT = "function setUpdatedAt(uint256 unixSeconds)"
LIQUIDATE = "function liquidationCall(address collateral, address debt, address user, uint256 amount, bool receive)"
PENNIES = range(16, 21)
MOST_POSITIONS_OF_BATCHES = 4
# Two rules that are proposed together: what a heist about proposals looks at.
BUNDLE_LIMIT = limit_rule(Limit.MAX_GAS_TOP_UP_WEI, 11 * 10**16)


def bundle(scene: Scene) -> tuple[Rule, Rule]:
    """Two loosenings of one proposal."""
    return BUNDLE_LIMIT, spender_rule(scene.treasury, most_micro_usd=USD)


class Planner:
    """Makes the heists of one scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.caged = scene, scene.caged
        self.base = scene.engine.now()
        self.trader = make_account("heists: trader").address
        self._drawn: dict[Order, tuple[Heist, KnowingThief]] = {}

    def make(self, order: Order) -> Heist:
        """The heist of this order; it depends on nothing else."""
        return self._draw(order)[0]

    def _draw(self, order: Order) -> tuple[Heist, KnowingThief]:
        if order not in self._drawn:
            # The ways on from one step are asked for one after the other, and their trunk is the same.
            trunk = Order(order.number, order.turns[:-1])
            kept = {trunk: self._draw(trunk)} if order.turns else {}
            self._drawn = {**kept, order: self._turn(order, *kept[trunk]) if order.turns else self._start(order)}
        return self._drawn[order]

    def _start(self, order: Order) -> tuple[Heist, KnowingThief]:
        rng = random.Random(f"heist {order.number}")
        phase = rng.choice((0, 0, 0, 0, 2, 3, 4))
        pennies = rng.choice(PENNIES) if rng.random() < 0.08 else 0
        dollars = rng.choice((500, 2_000, 4_000)) if pennies or rng.random() < 0.4 else 0
        first = self.scene.first_token
        tokens = range(first, first + pennies + bool(dollars) + MOST_POSITIONS_OF_BATCHES)
        owned = (first + pennies, dollars) if dollars else None
        thief = KnowingThief(self.scene, tokens[max(0, pennies - 1) :], owned)
        caps = {"WETH": rng.choice((0, 10**16, 5 * 10**17))} if rng.random() < 0.25 else {}
        is_lied_to = rng.random() < 0.15 and not phase
        steps = self._begin(rng, pennies)
        steps += self._hold(rng, thief, dollars)
        if rng.random() < 0.5:
            # Until a batch has run there is no price that another could be held against.
            steps.append(self._small_batch(Act.BATCH, None))
        steps += self._tighten(phase, caps)
        if is_lied_to:
            told = self.caged.coins["WETH"].price * rng.choice((3, 50, 80, 125, 300)) // 100
            steps.append(self._set_price("WETH", told))
        steps += self._try_honestly(rng, thief, caps, is_lied_to=is_lied_to)
        steps += self._govern(rng, is_lied_to=is_lied_to)
        opening = len(steps)
        steps += self._go_on(rng, thief, is_lied_to=is_lied_to)
        return Heist(order, tuple(steps), phase, caps, is_lied_to, tokens, opening), thief

    def _turn(self, order: Order, trunk: Heist, thief: KnowingThief) -> tuple[Heist, KnowingThief]:
        # A longer heist can come to more positions, and what is not looked at would look like a loss.
        tokens = range(trunk.tokens.start, trunk.tokens.stop + MOST_POSITIONS_OF_BATCHES)
        thief = KnowingThief(self.scene, range(thief.tokens[0], tokens.stop), thief.owned)
        fresh = order.turns[-1].step
        steps = self._go_on(random.Random(f"heist {order}"), thief, is_lied_to=trunk.is_lied_to)
        steps = [*trunk.steps[:fresh], *steps]
        return replace(trunk, order=order, steps=tuple(steps), tokens=tokens, fresh=fresh), thief

    def _go_on(self, rng: random.Random, thief: KnowingThief, *, is_lied_to: bool) -> list[Step]:
        """What goes on from the moment that the thief begins."""
        steps: list[Step] = []
        for _ in range(rng.randint(3, 20)):
            steps.append(self._batch(rng, thief))
            if rng.random() < 0.3:
                steps.append(self._happen(rng, is_lied_to=is_lied_to))
        return steps

    # ---- how the Safe stands --------------------------------------------------------------------------------------

    def _own(
        self, to: str, data: bytes, act: Act = Act.SETUP, finding: Finding | None = None, seconds: int = 0
    ) -> Step:
        """The owners' own transaction, from the Safe."""
        return Step(act, self.caged.safe, to, data, seconds, finding=finding)

    def _own_calls(self, calls: Sequence[Call]) -> list[Step]:
        return [self._own(call.to, call.data) for call in calls]

    def _begin(self, rng: random.Random, pennies: int) -> list[Step]:
        thief = self.caged.stranger.address
        steps = [self._appoint(self.caged.session.address)]
        if rng.random() < 0.5:
            steps.append(self._appoint_trader())
        signed = rng.choice((self.scene.deposit, self.scene.revocation, b""))
        if signed:
            listen = encode_call(LISTEN, self.caged.safe, signed)
            steps.append(Step(Act.SETUP, thief, self.scene.evil, listen, 0))
        if pennies:
            usdc, weth = (self.caged.coins[symbol].address for symbol in ("USDC", "WETH"))
            asked = self.scene.v3.minting(usdc, weth, HONEST_FEE, 0.01, self.caged.safe)
            # The last of them is narrow: no liquidity may go into it.
            narrow = narrow_range(self.scene, "WETH", HONEST_FEE, 0.01, 1)
            minted = [encode_call(MINT_V3, one) for one in (*[asked] * (pennies - 1), narrow)]
            given = encode_call(MULTICALL, minted)
            steps.append(Step(Act.SETUP, thief, self.scene.v3.npm, given, 0))
        return steps

    def _appoint(self, key: str) -> Step:
        data = cage_contract.encode_set_session(
            key=key, expires_at=self.base + 20 * 24 * HOUR, operations=1_000, budget_micro_usd=10**8 * USD
        )
        return self._own(self.caged.cage, data)

    def _appoint_trader(self) -> Step:
        data = cage_contract.encode_appoint(
            TRADER,
            key=self.trader,
            expires_at=self.base + 20 * 24 * HOUR,
            operations=1_000,
            budget_micro_usd=10**6 * USD,
        )
        return self._own(self.caged.cage, data)

    def _hold(self, rng: random.Random, thief: KnowingThief, dollars_of_position: int) -> list[Step]:
        """What the owners put away before."""
        calls: list[Call] = []
        if rng.random() < 0.5:
            symbol, dollars = rng.choice((("WETH", 3_000), ("WETH", 9_000), ("USDC", 5_000), ("USDC", 15_000)))
            calls += thief.supply(symbol, thief.units(symbol, dollars))
        if rng.random() < 0.15:
            calls += thief.supply("WBTC", thief.units("WBTC", 12_000))
        if rng.random() < 0.3:
            calls += thief.deposit(rng.choice((1_000, 10_000)) * USD)
        if rng.random() < 0.3:
            calls += thief.lend_at_morpho(rng.choice((1_000, 8_000)))
        if rng.random() < 0.3:
            calls += thief.pledge_at_morpho(thief.units("WETH", rng.choice((3_000, 9_000))))
        if rng.random() < 0.2:
            # Dust of one asset beside what is lent of another, as anyone may give it.
            calls += thief.supply("WETH", thief.units("WETH", 1))
        if dollars_of_position:
            calls += thief.mint("WETH", dollars_of_position, self.caged.safe)
        return self._own_calls(calls)

    def hold_everything(self, thief: Thief, dollars_of_position: int) -> list[Step]:
        """Something in every place, and a deposit that the owners signed in the thief's hands; nothing by chance."""
        listen = encode_call(LISTEN, self.caged.safe, self.scene.deposit)
        steps = [
            self._appoint(self.caged.session.address),
            Step(Act.SETUP, self.caged.stranger.address, self.scene.evil, listen, 0),
        ]
        lent = [("WETH", 3_000), ("USDC", 5_000), ("WBTC", 12_000)]
        calls = [call for symbol, dollars in lent for call in thief.supply(symbol, thief.units(symbol, dollars))]
        calls += [*thief.deposit(10_000 * USD), *thief.mint("WETH", dollars_of_position, self.caged.safe)]
        return [*steps, *self._own_calls(calls)]

    def _tighten(self, phase: int, caps: dict[str, int]) -> list[Step]:
        rules = [limit_rule(Limit.PHASE, phase)] if phase else []
        for symbol, most in caps.items():
            rules.append(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(self.caged.coins[symbol].address), most))
        return [self._propose(*rules)] if rules else []

    def _propose(self, *rules: Rule, act: Act = Act.SETUP, finding: Finding | None = None) -> Step:
        return self._own(self.caged.cage, cage_contract.encode_propose(rules), act, finding)

    # ---- what must go well ----------------------------------------------------------------------------------------

    def _try_honestly(
        self, rng: random.Random, thief: KnowingThief, caps: dict[str, int], *, is_lied_to: bool
    ) -> list[Step]:
        """An exit as an honest golem would make it, through the pool that its own position earns fees in."""
        if is_lied_to or caps or rng.random() < 0.5:
            return []
        is_stale = rng.random() < 0.5
        feed, deployer = self.scene.spare_feed, self.caged.deployer.address
        calls = tuple(thief.swap("WETH", rng.choice((10**15, 10**16, 10**17)), "USDC"))
        data = cage_contract.encode_execute(calls)
        finding = Finding.STALE if is_stale else Finding.EXIT
        sold = Step(Act.MUST_SUCCEED, self.caged.session.address, self.caged.cage, data, 1, calls, finding)
        if not is_stale:
            return [sold]
        old = Step(Act.SETUP, deployer, feed, encode_call(SET_UPDATED_AT, self.base - 2 * HOUR), 0)
        return [old, sold, Step(Act.SETUP, deployer, feed, encode_call(SET_UPDATED_AT, 0), 0)]

    def _govern(self, rng: random.Random, *, is_lied_to: bool) -> list[Step]:
        """One thing that owners do, and what must come of it."""
        cage, thief = self.caged.cage, self.caged.stranger.address
        way = rng.randrange(14)
        if way == 0:
            broken = encode_call("function breakDown()")
            gone = Rule(RuleKind.ASSET, address_key(self.scene.fragile), 0)
            applied = cage_contract.encode_apply_change(gone.kind, gone.key)
            return [
                Step(Act.SETUP, thief, self.scene.fragile, broken, 0),
                self._propose(gone, act=Act.MUST_SUCCEED, finding=Finding.STUCK),
                # While positions are held an asset goes after two days; without any it is gone already.
                Step(Act.OTHER, thief, cage, applied, 49 * HOUR),
                # At a feed that jumped nothing runs that holds its asset, which is no fault of the one that broke.
                self._small_batch(Act.BATCH, None)
                if is_lied_to
                else self._small_batch(Act.MUST_SUCCEED, Finding.STUCK),
            ]
        if way == 1:
            dust = encode_call(MINT, self.caged.safe, 10**17)
            gone = Rule(RuleKind.ASSET, address_key(self.scene.spare), 0)
            removed = self._propose(gone, act=Act.MUST_SUCCEED, finding=Finding.DUST)
            return [Step(Act.SETUP, self.caged.deployer.address, self.scene.spare, dust, 0), removed]
        halt = cage_contract.encode_halt()
        guardian = self.caged.guardian.address
        if way == 2:
            return [
                Step(Act.SETUP, guardian, cage, halt, 1),
                self._small_batch(Act.MUST_FAIL, Finding.HALTED),
                self._propose(guardian_rule(ZERO)),
                self._own(cage, cage_contract.encode_resume()),
                Step(Act.MUST_FAIL, guardian, cage, halt, 1, finding=Finding.GUARDIAN),
            ]
        if way == 3:
            other = make_account("heists: another key").address
            return [
                self._appoint(other),
                self._small_batch(Act.MUST_FAIL, Finding.KEY),
                self._appoint(self.caged.session.address),
            ]
        if way == 4:
            one = rng.choice(bundle(self.scene))
            applied = cage_contract.encode_apply_change(one.kind, one.key)
            return [self._propose(*bundle(self.scene)), Step(Act.OTHER, thief, cage, applied, 49 * HOUR)]
        return []

    def _small_batch(self, act: Act, finding: Finding | None) -> Step:
        """What every rule allows to whoever may act at all."""
        calls = (self.caged.approve("USDC", 1),)
        data = cage_contract.encode_execute(calls)
        return Step(act, self.caged.session.address, self.caged.cage, data, 1, calls, finding)

    # ---- what goes on ---------------------------------------------------------------------------------------------

    def _batch(self, rng: random.Random, thief: KnowingThief) -> Step:
        calls = thief.make_batch(rng)
        seconds = rng.choice((0, 1, 1, 12, 60, 600, HOUR, HOUR, 2 * HOUR))
        data = cage_contract.encode_execute(calls)
        if rng.random() < 0.15:
            calls = tuple(thief.use_role(rng))
            return Step(Act.BATCH, self.trader, self.caged.cage, cage_contract.encode_execute(calls), seconds, calls)
        return Step(Act.BATCH, self.caged.session.address, self.caged.cage, data, seconds, calls)

    def _happen(self, rng: random.Random, *, is_lied_to: bool) -> Step:
        """Between two batches: liquidators, gifts, pushed pools, prices, coins for gas."""
        caged, thief = self.caged, self.caged.stranger.address
        way, seconds = rng.randrange(21), rng.choice((0, 12, 60, 600))
        usdc, weth = caged.coins["USDC"].address, caged.coins["WETH"].address
        if way < 6:
            data = encode_call(LIQUIDATE, weth, usdc, caged.safe, ALL // 2, False)
            return Step(Act.LIQUIDATION, thief, self.scene.market.pool, data, max(12, seconds))
        if way == 6:
            to = rng.choice((caged.safe, self.scene.vault, self.scene.market.reserves["USDC"].a_token))
            return Step(Act.OTHER, thief, usdc, encode_call(TRANSFER, to, rng.choice(DOLLARS) * USD), seconds)
        if way in (7, 8):
            path = (usdc, weth) if way == 7 else (weth, usdc)
            raw = bytes.fromhex(path[0][2:]) + HONEST_FEE.to_bytes(3, "big") + bytes.fromhex(path[1][2:])
            amount = 100_000 * USD if way == 7 else 30 * 10**18
            data = encode_call(EXACT_IN, (raw, thief, amount, 0))
            return Step(Act.OTHER, thief, self.scene.open_router, data, seconds)
        if way == 9:
            data = cage_contract.encode_top_up_gas(rng.choice((10**15, 10**17)))
            return Step(Act.OTHER, caged.session.address, caged.cage, data, seconds)
        if way == 10:
            data = encode_call(SET_ANSWER, rng.choice((0, 0, 1)))
            return Step(Act.SEQUENCER, caged.deployer.address, self.scene.sequencer, data, seconds)
        if way in (11, 12):
            return Step(Act.NOTE, thief, caged.cage, cage_contract.encode_note_prices(), seconds)
        if way == 13:
            paid = rng.choice((100, 1_000, 3_000)) * USD
            data = cage_contract.encode_pay_out(recipient=0, asset=usdc, amount=paid)
            return Step(Act.OTHER, self.trader, caged.cage, data, seconds)
        if way == 14 and is_lied_to:
            return self._set_price("WETH", caged.coins["WETH"].price * rng.choice((50, 80, 100, 125, 300)) // 100)
        if way in (17, 18):
            morpho = self.scene.morpho
            data = encode_call(SEIZE, morpho.honest.values, caged.safe, rng.choice((10**15, 10**17)), 0, b"")
            return Step(Act.LIQUIDATION, thief, morpho.at, data, max(12, seconds))
        if way in (19, 20):
            to, data = knock(self.scene, rng)
            return Step(Act.MUST_FAIL, thief, to, data, seconds, finding=Finding.BORROWED)
        symbol = rng.choice(("WETH", "WBTC"))
        if is_lied_to:
            symbol = "WBTC"
        return self._set_price(symbol, caged.coins[symbol].price * rng.randint(92, 108) // 100)

    def _set_price(self, symbol: str, price: int) -> Step:
        data = encode_call(SET_ANSWER, price)
        feed = self.caged.coins[symbol].feed
        return Step(Act.PRICE, self.caged.deployer.address, feed, data, 0, price=(symbol, price))
