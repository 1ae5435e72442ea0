"""Reports of a write's transactions what every report says, and reads events out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from tools_app.chain.abi import decode_log
from tools_app.chain.abi_records import AbiEvent
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.stored_json import read_stored
from tools_app.standards import erc20
from tools_app.standards.calldata import calls as is_call
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import NATIVE, LogEntry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mined:
    """The transaction of what a plan is about, and the gas units of all of them."""

    tx_hash: str
    block_number: int
    gas_used: int
    explorer_url: str | None


def describe_mined(outcome: PlanOutcome) -> Mined:
    """Where the plan's last call that is no approval ended up; a batch is one transaction."""
    acts = [index for index, call in enumerate(outcome.plan.calls) if not is_call(call.data, erc20.APPROVE)]
    last = len(outcome.receipts) - 1
    main = outcome.receipts[min(acts[-1], last) if acts else last]
    return Mined(
        tx_hash=main.tx_hash,
        block_number=main.block_number,
        gas_used=sum(receipt.gas_used for receipt in outcome.receipts),
        explorer_url=explorer_url(outcome.plan.chain_id, main.tx_hash),
    )


def read_report(tool: WriteTool, outcome: PlanOutcome) -> object:
    """What a tool tells of its success: where it was mined, and beside that what its own report says, or what moved.

    A report declares only what is its own.
    """
    if tool.report is None:
        return report_plainly(outcome)
    return {**_members_of(describe_mined(outcome)), **_members_of(tool.report(outcome))}


def _members_of(report: Any) -> Mapping[str, object]:  # Any: a mapping or any dataclass
    return report if isinstance(report, Mapping) else {each.name: getattr(report, each.name) for each in fields(report)}


def report_plainly(outcome: PlanOutcome) -> dict[str, object]:
    """Hashes, block, gas, the explorer's page, and what really left or came of every token that the plan speaks of."""
    mined, native = describe_mined(outcome), outcome.deltas.get(NATIVE, 0)
    tokens = {token.address: token for token in outcome.plan.tokens}
    moved = [
        {"token": token.symbol, "address": address, "change": TokenAmount(outcome.deltas[address], token)}
        for address, token in tokens.items()
        if outcome.deltas.get(address)
    ]
    coin = [] if NATIVE in tokens or not native else [{"token": NATIVE, "change": str(native)}]
    return {
        "tx_hashes": [receipt.tx_hash for receipt in outcome.receipts],
        "block_number": mined.block_number,
        "gas_used": mined.gas_used,
        "explorer_url": mined.explorer_url,
        "moved": [*moved, *coin],
    }


def explorer_url(chain_id: int, tx_hash: str) -> str | None:
    """The page of a transaction on the chain's public explorer; None on the local chain, which has none."""
    network = KNOWN_NETWORKS.get(chain_id)
    return network.explorer_tx_url.format(tx_hash=tx_hash) if network and network.explorer_tx_url else None


def events_of(outcome: PlanOutcome, signature: str, *, contract: str) -> list[dict[str, AbiValue]]:
    """Every event of one kind that `contract` emitted in the plan's transactions, in order, by argument name."""
    return [found for log in _logs_of(outcome, contract) if (found := decode_log(signature, log)) is not None]


def read_details(kind: type[T], outcome: PlanOutcome) -> T:
    """The details that the plan of `outcome` told, as far as `kind` names them. Raises ValueError naming the field."""
    return read_stored(kind, outcome.plan.details)


def list_events(outcome: PlanOutcome, event: AbiEvent[T], *, contract: str) -> list[T]:
    """Every event of one kind that `contract` emitted in the plan's transactions, in order, as its record."""
    return event.list(_logs_of(outcome, contract))


def _logs_of(outcome: PlanOutcome, contract: str) -> list[LogEntry]:
    return [log for receipt in outcome.receipts for log in receipt.logs if log.address == contract]
