"""One golem with plenty of everything, which carries cases out on the local chain and remembers what they told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from permits_app.models import SpendingLimits
from permits_app.safety.hook import HookCall
from tests.catalogue.circumstances import CIRCUMSTANCES
from tests.catalogue.services import lend_services
from tests.catalogue.shelf import CHAIN_ID, Filed, find_write, symbols
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import Standing, live_call
from tests.tools_app.factories import make_context, read_balances, view_receipt
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.standards.receipts import read_report
from tools_app.toolkit.case import About, Amount, Case, FromReport, ReadCase
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import Position, PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import encode_result
from tools_app.toolkit.views import NATIVE

ETH, USD = 10**18, 10**6
PURSE = {"WETH": 50 * ETH, "USDC": 100_000 * USD, "DAI": 100_000 * ETH, "USDT": 20_000 * USD}
RICH = 10**15
"""Micro-USD: limits that no case meets, so that a refusal has another reason."""


@dataclass
class Stage:
    """The golem, what it did so far, and what there is to look at."""

    live: LiveGolem
    cases: Mapping[str, Filed]
    told: dict[str, Any] = field(default_factory=dict)
    refs: dict[PositionRef, None] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    standing: Standing | None = None
    """The golem's, where nothing changes it any more; else it is read with each call."""

    @property
    def world(self) -> World:
        return self.live.world

    @property
    def account(self) -> str:
        return str(self.live.golem.address)

    def reader(self) -> ChainReader:
        """The chain at its newest block."""
        return make_context(self.world, address=self.account).chain()

    def params(self, case: Case | ReadCase, **changes: Any) -> dict[str, Any]:
        """The case's parameters, some of them changed, with what was told filled in."""
        return {key: self.fill(value) for key, value in {**case.params, **changes}.items()}

    def call(self, case: Case, **changes: Any) -> HookCall:
        """What the hooks are asked: the tool's plan at the newest block. Raises what the tool raises."""
        lend_services(self.live, find_write(case))
        return live_call(self.live, find_write(case).name, self.params(case, **changes), standing=self.standing)

    def prepare(self, case: Case) -> None:
        """Carry out what has to come before the case, and before that, each once."""
        for name in case.after:
            if name in self.done:
                continue
            earlier = self.cases[name].case
            self.prepare(earlier)
            plan = self.call(earlier).plan
            assert plan is not None
            self.note(earlier, self.carry_out(plan))
            self.done.add(name)
        for words in case.given:
            CIRCUMSTANCES[words](self)

    def note(self, case: Case, outcome: PlanOutcome) -> Any:
        """The tool's report, JSON-ready; later cases may refer to it."""
        told = encode_result(read_report(find_write(case), outcome))
        self.told.update(told)
        return told

    def carry_out(self, plan: TxPlan) -> PlanOutcome:
        """Mine the plan's calls as the golem."""
        before = read_balances(self.world, self.account, [token.address for token in plan.tokens])
        receipts = tuple(view_receipt(raw) for raw in self.send(plan))
        after = read_balances(self.world, self.account, list(before))
        deltas = {token: after[token] - before[token] for token in before}
        deltas[NATIVE] += sum(receipt.fee for receipt in receipts)
        # As the follower remembers what a receipt tells of.
        logs = [log for receipt in receipts for log in receipt.logs]
        for protocol in SHELF.on(CHAIN_ID):
            if protocol.positions is not None:
                self.refs.update(dict.fromkeys(protocol.positions.born(logs, self.account, CHAIN_ID)))
        return PlanOutcome(plan=plan, account=self.account, receipts=receipts, deltas=deltas)

    def send(self, plan: TxPlan) -> list[dict[str, Any]]:
        """The calls, byte for byte; every one succeeds."""
        rpc, receipts = self.world.rpc, []
        rpc.call("anvil_impersonateAccount", self.account)
        for call in plan.calls:
            request = {
                "from": self.account,
                "to": call.to,
                "data": "0x" + call.data.hex(),
                "value": hex(call.value),
                "gas": hex(5_000_000),
            }
            raw = self.world.wait(rpc.call("eth_sendTransaction", request))
            assert raw["status"] == "0x1", f"{call.label} reverted"
            receipts.append(raw)
        rpc.call("anvil_stopImpersonatingAccount", self.account)
        return receipts

    def positions(self) -> tuple[Position, ...]:
        """Everything the account has anywhere, at the newest block."""
        return read_positions(chain=self.reader(), account=self.account, hints=self.refs)

    def holdings(self) -> Holdings:
        """Everything it is worth, at the newest block."""
        return measure_holdings(chain=self.reader(), account=self.account, hints=self.refs)

    def wallet(self) -> dict[str, int]:
        """Base units of every registered token, and the coin."""
        return read_balances(self.world, self.account, list(symbols().values()))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What happens inside is undone, on the chain and in what is remembered."""
        rpc = self.world.rpc
        snapshot, newest = rpc.call_all([("evm_snapshot", []), ("eth_getBlockByNumber", ["latest", False])])
        told, refs = dict(self.told), dict(self.refs)
        try:
            yield
        finally:
            assert rpc.call("evm_revert", snapshot)
            rpc.call_all([("anvil_dropAllTransactions", []), ("evm_setTime", [int(newest["timestamp"], 16)])])
            self.told, self.refs = told, refs

    def pass_days(self, days: int) -> None:
        """Time passes, and nobody does anything; the price feeds of the world follow the block."""
        self.world.rpc.call("evm_increaseTime", days * 86_400)
        self.world.rpc.call("evm_mine")

    def fill(self, value: Any) -> Any:
        """A value with what was told filled in."""
        if isinstance(value, FromReport):
            return self.told[value.key]
        if isinstance(value, dict):
            return {key: self.fill(each) for key, each in value.items()}
        return [self.fill(each) for each in value] if isinstance(value, list) else value


def open_stage(live: LiveGolem, cases: Mapping[str, Filed]) -> Stage:
    """A full purse for a golem, and limits that stand in no case's way."""
    live.world.fund(live.golem.address, 100 * ETH, PURSE)
    SpendingLimits.objects.filter(golem=live.golem).update(
        per_transaction_micro_usd=RICH,
        per_tick_micro_usd=RICH,
        per_session_micro_usd=RICH,
        per_day_micro_usd=RICH,
        trading_costs_per_day_micro_usd=RICH,
        trading_costs_per_pair_micro_usd=RICH,
        trading_costs_per_venue_micro_usd=RICH,
    )
    told = {"account": str(live.golem.address), "pool": live.world.pool("v3", "WETH", "USDC").address}
    return Stage(live, cases, told)


def address_of(symbol: str) -> str:
    """A token's address by its symbol; the coin's sentinel."""
    return NATIVE if symbol == "ETH" else symbols()[symbol]


def is_near(found: int, wanted: Amount, *, rounding: int) -> bool:
    """Whether an amount is what a case says."""
    if isinstance(wanted, About):
        return abs(found - wanted.raw) * 10_000 <= abs(wanted.raw) * wanted.bps
    return abs(found - wanted) <= rounding


def call_refused(stage: Stage, case: Case, **changes: Any) -> GolemError | None:
    """The tool's own refusal of a call; None where it plans one."""
    try:
        stage.call(case, **changes)
    except GolemError as error:
        return error
    return None
