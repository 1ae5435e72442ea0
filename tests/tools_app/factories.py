"""Contexts for tool tests on the local world, and the one way a test carries a plan out: its exact calls, sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from eth_account.signers.local import LocalAccount

from golem_project.embedded.world.rpc import call_data, checksum
from tests.evm.world import CHAIN_ID, World
from tools_app.chain.chains import configure_chains, open_reader
from tools_app.chain.networks import KNOWN_NETWORKS, configured_networks, with_rpc_urls
from tools_app.core.clock import Deadline
from tools_app.standards.receipts import read_report
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import encode_result
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import ToolDef, WriteTool
from tools_app.toolkit.views import NATIVE, GolemView, LogEntry, ReceiptView

MOST_MS = 60_000


def make_context(
    world: World,
    *,
    address: str | None = None,
    base_asset: str = "USDC",
    golem_id: UUID | None = None,
    services: Mapping[type, object] | None = None,
    steps: list[str] | None = None,
) -> WriteContext:
    """A context that reads `world` at its newest block, beside other chains that a test wired, for a golem whose wallet
    is `address`.
    """
    others = [each for each in configured_networks() if each.chain_id != CHAIN_ID]
    configure_chains([with_rpc_urls(KNOWN_NETWORKS[CHAIN_ID], [world.rpc_url]), *others])
    now = datetime.now(tz=UTC)
    deadline = Deadline.after_ms(MOST_MS)
    readers: dict[int, ChainReader] = {}

    def open_chain(chain_id: int) -> ChainReader:
        if chain_id not in readers:
            readers[chain_id] = open_reader(chain_id, now=now, deadline=deadline)
        return readers[chain_id]

    return WriteContext(
        golem=GolemView(
            id=golem_id or uuid4(),
            name="test golem",
            address=address,
            home_chain_id=CHAIN_ID,
            base_asset=base_asset,
            phase=Phase.THRIVING,
        ),
        now=now,
        deadline=deadline,
        open_chain=open_chain,
        report_step=(steps if steps is not None else []).append,
        services=services or {},
    )


def find_tool(name: str) -> ToolDef:
    """A declared tool by its name."""
    for family in FAMILIES:
        for tool in family.tools:
            if tool.name == name:
                return tool
    raise LookupError(name)


def call_tool(ctx: WriteContext, name: str, /, **params: Any) -> Any:
    """What a tool's handler answers for parameters as an agent sends them, validated like theirs."""
    tool = find_tool(name)
    return tool.handler(ctx, **validate_params(tool.params_model, params))


def answer_of(ctx: WriteContext, name: str, /, **params: Any) -> Any:
    """The JSON-ready answer of a read tool."""
    return encode_result(call_tool(ctx, name, **params))


def report_of(name: str, outcome: PlanOutcome) -> Any:
    """The JSON-ready data a write tool reports of an outcome."""
    tool = find_tool(name)
    assert isinstance(tool, WriteTool)
    return encode_result(read_report(tool, outcome))


def run_plan(world: World, account: LocalAccount, plan: TxPlan) -> PlanOutcome:
    """Send the plan's calls, byte for byte, from `account`; every one must succeed."""
    before = read_balances(world, account.address, [token.address for token in plan.tokens])
    receipts = []
    for call in plan.calls:
        raw = world.send(account, call.to, "0x" + call.data.hex(), value=call.value, gas=5_000_000)
        assert raw["status"] == "0x1", f"{call.label} reverted"
        receipts.append(view_receipt(raw))
    after = read_balances(world, account.address, list(before))
    deltas = {token: after[token] - before[token] for token in before}
    deltas[NATIVE] += sum(receipt.fee for receipt in receipts)
    return PlanOutcome(plan=plan, account=account.address, receipts=tuple(receipts), deltas=deltas)


def read_balances(world: World, account: str, tokens: Sequence[str]) -> dict[str, int]:
    """Base units of each token, and the coin under NATIVE, asked together."""
    asked = [token for token in dict.fromkeys(tokens) if token != NATIVE]
    data = call_data("balanceOf(address)", account)
    calls = [("eth_call", [{"to": token, "data": data}, "latest"]) for token in asked]
    *told, coin = world.rpc.call_all([*calls, ("eth_getBalance", [account, "latest"])])
    return {**{token: int(raw, 16) for token, raw in zip(asked, told, strict=True)}, NATIVE: int(coin, 16)}


def view_receipt(raw: Mapping[str, Any]) -> ReceiptView:
    """A node's receipt as tools see it."""
    return ReceiptView(
        tx_hash=raw["transactionHash"],
        succeeded=raw["status"] == "0x1",
        block_number=int(raw["blockNumber"], 16),
        block_hash=raw["blockHash"],
        gas_used=int(raw["gasUsed"], 16),
        effective_gas_price=int(raw["effectiveGasPrice"], 16),
        l1_fee=0,
        logs=tuple(
            LogEntry(
                address=checksum(log["address"]),
                topics=tuple(log["topics"]),
                data=log["data"],
                block_number=int(log["blockNumber"], 16),
                tx_hash=log["transactionHash"],
                log_index=int(log["logIndex"], 16),
            )
            for log in raw["logs"]
        ),
    )
