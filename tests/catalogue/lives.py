"""Weeks of one golem: its agent acts over REST, its owners approve what asks for them, its clock goes with the chain.

Once a week its worth is kept with the parts of the change, which are held to balances, feeds and receipts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.actions.value_golem import value_golem
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, NavSnapshot, OutcomeRecord
from permits_app.models.allowlist import AllowlistKind
from permits_app.performance.nav_parts import Parts
from tests.catalogue.door import Door
from tests.catalogue.shelf import symbols
from tests.evm.world import World
from tests.permits_app.approvals import people
from tools_app.chain.chains import get_deployment
from tools_app.core import clock
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import NATIVE

CHAIN_ID = 31_337
ETH, DAI, USD = 10**18, 10**18, 10**6
CENT = 10_000
DAY = 86_400


@dataclass
class Moved:
    """The chain and the product's clock, which go together."""

    world: World
    really: Callable[[], datetime]
    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return self.really() + self.ahead

    def pass_days(self, days: int) -> None:
        self.world.rpc.call("evm_increaseTime", days * DAY)
        self.world.rpc.call("evm_mine")
        self.ahead += timedelta(days=days)


@dataclass
class Life:
    """A golem whose weeks are told one by one."""

    door: Door
    moved: Moved
    paid_in: int = 0
    receipts: set[str] = field(default_factory=set)
    weeks: list[Parts] = field(default_factory=list)

    @property
    def golem(self) -> Any:
        return self.door.agent.golem

    @property
    def rpc(self) -> Any:
        return self.door.stage.world.rpc

    def act(self, tool: str, **params: Any) -> None:
        """The agent previews it, whoever has to agrees, and what was promised is what came."""
        found = REGISTRY.get(tool)
        assert isinstance(found, WriteTool)
        permit = self.door.post("preview_action", {"action_type": found.key, "venue": found.venue, **params})
        ended = self.door.commit(permit)
        assert ended["status"] == "COMMITTED", (tool, ended)
        outcome = OutcomeRecord.objects.get(permit_id=permit["permit_id"])
        assert outcome.is_verified, (tool, outcome.findings)

    def move_price(self, symbol: str, percent: int) -> int:
        """The feed tells so many percent of what it told; what it told before."""
        world = self.door.stage.world
        feed = world.tokens[symbol].feed
        raw = int(self.rpc.read(feed, "latestAnswer()", returns="(int256)")[0])
        self.tell_price(symbol, raw * percent // 100)
        return raw

    def tell_price(self, symbol: str, raw: int) -> None:
        world = self.door.stage.world
        world.transact(world.actors.deployer, world.tokens[symbol].feed, "setAnswer(int256)", raw)

    def pay_in(self, dollars: int) -> None:
        """Somebody sends dollars, which are no profit."""
        world, usdc = self.door.stage.world, symbols()["USDC"]
        owner = world.new_account(ETH, {"USDC": dollars * USD})
        world.transact(owner, usdc, "transfer(address,uint256)", self.golem.address, dollars * USD)
        self.paid_in += dollars * USD

    def allow(self, *tokens: str) -> None:
        """Its owner lets it hold what it did not know."""
        choices = [AllowlistChoice(CHAIN_ID, AllowlistKind.TOKEN, each, "next market") for each in tokens]
        allow_addresses(golem=self.golem, choices=choices, actor="user:owner", now=clock.now())

    def value(self) -> Holdings:
        """What it is worth, kept."""
        count = NavSnapshot.objects.filter(golem=self.golem).count()
        held = value_golem(golem=self.golem, now=clock.now())
        assert held is not None and held.is_complete and held.is_steady, held and held.problems
        assert NavSnapshot.objects.filter(golem=self.golem).count() == count + 1
        return held

    def live_a_week(self, before: Holdings, *, late: int = 0) -> tuple[Holdings, Parts]:
        """Its worth a week later, and the parts of the change, which are held to feeds and receipts.

        `late` is what rewards may have earned between a preview and the block that paid them.
        """
        self.moved.pass_days(7)
        fees, held = self._read_new_fees(), self.value()
        row = NavSnapshot.objects.filter(golem=self.golem).order_by("-at")[0]
        parts = Parts.from_json(row.parts)
        assert parts.profit + parts.moved == held.nav_micro_usd - before.nav_micro_usd
        assert abs(parts.gas + self.price_of(NATIVE) * fees) <= 1
        assert parts.slippage <= late
        self.weeks.append(parts)
        return held, parts

    def price_of(self, token: str) -> Fraction:
        """Micro-USD of a base unit, as the feed tells it."""
        feed = get_deployment(CHAIN_ID).feeds[token].address
        answer, decimals = (
            self.rpc.read(feed, f"{name}()", returns=f"({kind})")
            for name, kind in (("latestAnswer", "int256"), ("decimals", "uint8"))
        )
        raw, places = (int(each[0] if isinstance(each, list | tuple) else each) for each in (answer, decimals))
        token_decimals = 18 if token == NATIVE else self.door.stage.reader().token(token).decimals
        return Fraction(raw * 10**6, 10 ** (places + token_decimals))

    def wallet_worth(self) -> int:
        """Micro-USD of all that lies in the wallet, by the chain's own words."""
        priced = get_deployment(CHAIN_ID).feeds
        balances: Mapping[str, int] = self.door.stage.wallet()
        return int(sum(self.price_of(token) * raw for token, raw in balances.items() if raw and token in priced))

    def take_everything_out(self, wait: Callable[[], None]) -> None:
        """Its owner halts it, and what it holds is left, step by step; `wait` lets pass what queues wait for."""
        HaltSetting.objects.create(golem=self.golem, unwind_on_halt=True)
        halt_golem(golem=self.golem, reason="ten weeks are over", actor="owner:1", now=clock.now())
        for _ in range(6):
            carry_out_halt(golem_id=self.golem.pk, epoch=1, now=clock.now())
            wait()
            if HaltRecord.objects.get(golem=self.golem).completed_at is not None:
                return
        pytest.fail("the halt did not end")

    def ether_in(self, held: Holdings) -> int:
        """Base units of the coin and of its wrapped form, in wallet and positions, what is owed subtracted."""
        parts = [*held.tokens, *(part for each in held.positions for part in each.parts)]
        return sum(part.raw for part in parts if part.token.address in (NATIVE, symbols()["WETH"]))

    def at(self, protocol: str, key: str) -> str:
        found = SHELF.get(protocol)
        assert found is not None
        return str(found.address(CHAIN_ID, key))

    def _read_new_fees(self) -> int:
        """Wei that receipts not read before say were paid."""
        hashes = {
            row.tx_hash
            for permit in ActionPermit.objects.filter(golem=self.golem)
            for row in permit.transactions.exclude(block_number=None)
        }
        paid = 0
        for each in sorted(hashes - self.receipts):
            receipt = self.rpc.call("eth_getTransactionReceipt", each)
            paid += int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
        self.receipts |= hashes
        return paid


def go_with_the_chain(world: World, monkeypatch: pytest.MonkeyPatch) -> Moved:
    """From now on the product's clock goes with the chain's."""
    moved, read_code = Moved(world, clock.now), people.current_code

    def show_code(owner: Any) -> str:
        # What reads codes goes by the clock of the machine.
        with monkeypatch.context() as patch:
            patch.setattr(clock, "now", moved.really)
            return read_code(owner)

    monkeypatch.setattr(people, "current_code", show_code)
    monkeypatch.setattr(clock, "now", moved.now)
    return moved
