"""One account that acts at every protocol of the local chain: whatever it does there, what it is worth stays.

The calls are those of the product's own tools, mined byte for byte. Before and after each act the one net asset value
is read; it may fall by the gas that was paid and by a fee the protocol announces, and move by the interest of the
seconds that passed and by a rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from golem_project.embedded.world.accounts import CHAIN_ID, derive_account
from golem_project.embedded.world.fund import FEES, fund
from golem_project.embedded.world.rpc import JsonRpc, call_data, checksum
from tests.proof.walks import require
from tools_app.chain.chains import open_reader
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import Holdings, PriceBook, measure_holdings
from tools_app.portfolio.share_price_donation_guard import BelievedShare
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, Position, PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import ToolDef
from tools_app.toolkit.views import NATIVE, GolemView, LogEntry

FUNDS: Final = {"WETH": 60 * 10**18, "USDC": 150_000 * 10**6, "DAI": 150_000 * 10**18}
COINS: Final = 150 * 10**18
ROUNDING: Final = 50
"""Micro-USD that units of tokens may be rounded by in one act."""
_GAS_LEFT: Final = 10 * 10**18
_GAS_LIMIT: Final = 5_000_000
_MOST_MS: Final = 60_000
_YEAR_SECONDS: Final = 365 * 86_400


def _unmarked(chain_id: int, account: str, tokens: Collection[str]) -> Mapping[str, BelievedShare]:
    """A walk has no database: what its shares stood for before is not remembered."""
    return {}


@dataclass(frozen=True, slots=True)
class Act:
    """One call of a tool. `fee_micro_usd` is what the protocol says it keeps of it, `loses_bps` what a market may keep
    of what goes into positions or comes out.
    """

    tool: str
    params: Mapping[str, Any]
    fee_micro_usd: int = 0
    loses_bps: int = 0


@dataclass(slots=True)
class HoldingsWalk:
    """One account and what it did: `done` counts acts by their tool, `hints` are the positions it may have."""

    rpc: JsonRpc
    address: str
    contracts: Mapping[str, Mapping[str, str]]
    measure: Callable[..., Holdings] = measure_holdings
    hints: dict[PositionRef, None] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)

    @classmethod
    def begin(cls, rpc: JsonRpc, name: str, contracts: Mapping[str, Mapping[str, str]]) -> HoldingsWalk:
        """Of an account that is made up for it, with coins, WETH and dollars."""
        walk = cls(rpc, derive_account(name).address, contracts)
        fund(rpc, walk.address, COINS, FUNDS)
        return walk

    def read(self) -> tuple[ChainReader, Holdings]:
        """What it holds at the newest block, everything counted."""
        reader = open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(_MOST_MS))
        holdings = self.measure(chain=reader, account=self.address, hints=tuple(self.hints), marks_of=_unmarked)
        require(holdings.is_complete, f"something is not counted: {', '.join(holdings.problems)}")
        return reader, holdings

    def act(self, act: Act) -> bool:
        """Do it; False when the tool refused. Raises AssertionError when the value moved."""
        reader, before = self.read()
        try:
            plan = self._plan(reader, act)
        except GolemError:
            # What a tool refuses is not sent: dust, a floor of health, a limit of the protocol.
            return False
        gas = sum(self._send(call, act.tool) for call in plan.calls)
        later, after = self.read()
        spent = PriceBook(later).value_of(NATIVE, gas) + act.fee_micro_usd
        seconds = later.block.timestamp - reader.block.timestamp
        kept = abs(_in_positions(after) - _in_positions(before)) * act.loses_bps // BPS
        self._compare(act.tool, before, after, spent=spent, seconds=seconds, kept=kept)
        self.done[act.tool] = self.done.get(act.tool, 0) + 1
        return True

    def plan(self, act: Act) -> TxPlan:
        """What the tool plans now. Raises what the tool raises."""
        return self._plan(self.read()[0], act)

    def enter(self, act: Act) -> None:
        """Do it, whatever a market keeps of it. Raises AssertionError where it reverts, and what the tool raises."""
        reader, _ = self.read()
        for call in self._plan(reader, act).calls:
            self._send(call, act.tool)

    def pass_time(self, seconds: int) -> None:
        """Interest and yield are all that time brings or takes."""
        reader, before = self.read()
        self.rpc.call("evm_increaseTime", seconds)
        self.rpc.call("evm_mine")
        later, after = self.read()
        self._compare("time", before, after, spent=0, seconds=later.block.timestamp - reader.block.timestamp)

    def finalize(self) -> None:
        """Lido's oracle reports: every request becomes final, and nothing is earned or lost by it."""
        _, before = self.read()
        waiting = [each for each in self.positions("lido", REQUEST_KIND, before) if not each.facts["is_final"]]
        if not waiting:
            return
        ether = sum(int(each.facts["st_eth"]) for each in waiting)
        newest = max(int(each.ref.id) for each in waiting)
        admin = derive_account("lido deployer").address
        self.rpc.call("anvil_setBalance", admin, hex(10**24))
        report = call_data("submitReport(uint256,uint256,uint256,uint256,uint256)", 0, 86_400, 0, 0, newest)
        self._transact(admin, self.contracts["lido"]["oracle"], report, value=ether)
        _, after = self.read()
        self._compare("finalize", before, after, spent=0, seconds=1)

    def positions(self, protocol: str, kind: str = "", holdings: Holdings | None = None) -> list[Position]:
        """What it has at one protocol."""
        found = holdings if holdings is not None else self.read()[1]
        return [
            each.position
            for each in found.positions
            if each.ref.protocol == protocol and (not kind or each.ref.kind == kind)
        ]

    def balance(self, symbol: str) -> int:
        """Base units in the wallet; of the coin, without what gas needs."""
        reader = open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(_MOST_MS))
        if symbol == "ETH":
            return max(0, reader.native_balance(self.address) - _GAS_LEFT)
        return self.rpc.balance_of(reader.token(symbol).address, self.address)

    def address_of(self, symbol: str) -> str:
        """A registered token's."""
        reader = open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(_MOST_MS))
        return reader.token(symbol).address

    def _compare(
        self, what: str, before: Holdings, after: Holdings, *, spent: int, seconds: int, kept: int = 0
    ) -> None:
        """At most all that is held and owed doubles in a year, and a market keeps what it may."""
        moved = after.nav_micro_usd - before.nav_micro_usd + spent
        exposed = before.nav_micro_usd + 2 * before.debt_micro_usd
        bound = ROUNDING + kept + exposed * (seconds + 1) // _YEAR_SECONDS
        require(
            abs(moved) <= bound,
            f"{what} moved the net asset value by {moved} micro-USD, at most {bound} are rounding and interest"
            f" (positions {[str(each.ref) for each in after.positions]})",
        )

    def _plan(self, reader: ChainReader, act: Act) -> TxPlan:
        tool = find_tool(act.tool)
        golem = GolemView(uuid4(), "walk", self.address, CHAIN_ID, "USDC", Phase.THRIVING)
        context = WriteContext(
            golem=golem,
            now=clock.now(),
            deadline=Deadline.after_ms(_MOST_MS),
            open_chain=lambda _: reader,
            report_step=lambda _: None,
        )
        plan: TxPlan = tool.handler(context, **validate_params(tool.params_model, dict(act.params)))
        return plan

    def _send(self, call: Call, tool: str) -> int:
        """Mine one call and remember what it left; wei of gas."""
        receipt = self._transact(self.address, call.to, "0x" + call.data.hex(), value=call.value)
        require(receipt["status"] == "0x1", f"{tool}: {call.label} reverted")
        logs = [_read_log(log) for log in receipt["logs"]]
        for each in SHELF:
            if each.positions is not None:
                self.hints.update(dict.fromkeys(each.positions.born(logs, self.address, CHAIN_ID)))
        return int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)

    def _transact(self, sender: str, to: str, data: str, *, value: int = 0) -> dict[str, Any]:
        """Mined as if `sender` had signed it; the local chain asks for no key."""
        self.rpc.call("anvil_impersonateAccount", sender)
        request = {"from": sender, "to": to, "data": data, "value": hex(value), "gas": hex(_GAS_LIMIT), **FEES}
        return self.rpc.wait_for_receipt(self.rpc.call("eth_sendTransaction", request))


def _in_positions(holdings: Holdings) -> int:
    return sum(each.micro_usd or 0 for each in holdings.positions)


def _read_log(log: Mapping[str, Any]) -> LogEntry:
    return LogEntry(
        address=checksum(log["address"]),
        topics=tuple(log["topics"]),
        data=log["data"],
        block_number=int(log["blockNumber"], 16),
        tx_hash=log["transactionHash"],
        log_index=int(log["logIndex"], 16),
    )


def find_tool(name: str) -> ToolDef:
    """A declared tool. Raises LookupError."""
    return next(tool for family in FAMILIES for tool in family.tools if tool.name == name)


@contextmanager
def undone(rpc: JsonRpc) -> Iterator[None]:
    """What is mined inside is undone; the clock goes on from the machine's time."""
    snapshot = rpc.call("evm_snapshot")
    rpc.call("evm_setTime", int(clock.now().timestamp()))
    try:
        yield
    finally:
        rpc.call("evm_revert", snapshot)
