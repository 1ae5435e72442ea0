"""Writes a permit's story line by line: flows, calls, simulation, hooks, transactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from permits_app.admin.outcome_table import token_units
from permits_app.admin.sent_links import show_payload
from permits_app.admin.story_facts import Fact
from permits_app.models import ActionPermit
from permits_app.permits.balance_deltas import read_deltas
from permits_app.permits.kept_bounds import KeptFlow
from permits_app.permits.kept_simulation import KeptCall, read_simulation
from permits_app.permits.stored_calls import read_signed_calls
from permits_app.safety.hook_chain import SAFETY_HOOKS
from tools_app.core.units import format_units
from tools_app.pages.html import show_age, show_amount, show_badge, show_hex
from tools_app.simulation.select import describe_fidelity
from tools_app.wording.address_names import format_token_amount, name_addresses
from tools_app.wording.decoded_calls import DecodedCall, decode_call
from tools_app.wording.formats import (
    format_age,
    format_coin,
    format_gas,
    format_gwei,
    format_seconds,
    format_usd,
    shorten_amount,
)

HOOK_PURPOSE: Mapping[str, str] = {
    "policy_cage": "Phase and cage allow this kind of action",
    "allowlist_guard": "Every token, contract and recipient is listed",
    "spending_limiter": "Within every spending limit",
    "rate_limiter": "Not too many writes, no equal one open",
    "simulator": "The exact calls were run",
    "hallucination_detector": "Addresses, code and amounts are real",
    "result_filter": "Secrets are kept out of the answer",
}


@dataclass(frozen=True, slots=True)
class FlowArrow:
    """One arrow of the picture: a promised movement, and what really moved once that is known."""

    symbol: str
    amount: SafeString
    bound: str
    actual: SafeString | str = ""


@dataclass(frozen=True, slots=True)
class HookLine:
    """One of the seven hooks: its number, verdict and note."""

    number: int
    name: str
    purpose: str
    verdict: str
    tone: str
    note: str


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call with what simulation and receipt say of it."""

    number: int
    call: DecodedCall
    simulated: str = ""
    is_ok: bool = True
    revert_reason: str = ""


@dataclass(frozen=True, slots=True)
class SentLine:
    """One transaction that was signed for the permit."""

    number: int
    label: str
    tx_hash: SafeString
    state: SafeString
    nonce: int
    block: str
    fee: SafeString | str
    gas_used: str
    gas_predicted: str
    gas_limit: str
    gas_percent: int
    max_fee: str
    sent: str


def describe_flow(flow: KeptFlow, permit: ActionPermit, *, sign: int) -> FlowArrow:
    """One promised movement; `sign` -1 for a spend."""
    decimals, symbol = flow.token.decimals, flow.token.symbol
    moved = _moved(permit, flow.token.address)
    least = "at most" if sign < 0 else "at least"
    return FlowArrow(
        symbol=symbol,
        amount=show_amount(format_units(flow.expected, decimals, symbol)),
        bound=f"{least} {shorten_amount(format_units(flow.bound, decimals, symbol))}",
        actual="" if moved is None else show_amount(format_units(abs(moved), decimals, symbol)),
    )


def _moved(permit: ActionPermit, address: str) -> int | None:
    outcome = permit.outcome
    if outcome is None:
        return None
    return next((delta.raw for delta in read_deltas(outcome.actual) if delta.token == address), 0)


def list_calls(permit: ActionPermit) -> tuple[CallLine, ...]:
    """The plan's calls with what the simulation saw of each; carried by one transaction, only the last has figures."""
    simulation = read_simulation(permit.simulation)
    runs: list[KeptCall | None] = list(simulation.calls) if simulation is not None else []
    if len(runs) < len(permit.batch):
        runs = [*[None] * (len(permit.batch) - 1), *runs]
    runs += [None] * (len(permit.plan_calls) - len(runs))
    return tuple(
        CallLine(
            number=number,
            call=decode_call(call, chain_id=permit.chain_id),
            simulated=format_gas(run.gas_used) if run is not None else "",
            is_ok=run is None or run.succeeded,
            revert_reason=(run.revert_reason or "") if run is not None else "",
        )
        for number, (call, run) in enumerate(zip(permit.plan_calls, runs, strict=False), start=1)
    )


def describe_simulation(permit: ActionPermit, now: datetime) -> tuple[Fact, ...]:
    """Engine, block, gas and result."""
    run = read_simulation(permit.simulation)
    if run is None:
        return ()
    age = (permit.created_at - datetime.fromtimestamp(run.block.timestamp, tz=now.tzinfo)).total_seconds()
    return (
        Fact("Engine", run.engine, describe_fidelity(run.fidelity, run.block, at=permit.created_at)),
        Fact("On block", f"{permit.block_number:,}", f"{format_seconds(age)} old at the preview"),
        Fact("Block hash", show_hex(permit.block_hash)),
        Fact("Base fee", format_gwei(run.block.base_fee)),
        Fact("Gas", format_gas(sum(call.gas_used for call in run.calls))),
        Fact("Result", "every call succeeded" if run.succeeded else "a call reverted"),
    )


def list_deltas(permit: ActionPermit) -> tuple[Fact, ...]:
    """The golem's balances before and after, as simulated; a token that stands for a position is told with that."""
    facts, run = [], read_simulation(permit.simulation)
    for row in run.balances if run is not None else ():
        change = row.after - row.before
        if run is None or row.account != permit.account or row.token in run.claims or not change:
            continue
        decimals, symbol = token_units(permit, row.token)
        shown = format_units(change, decimals, symbol)
        facts.append(
            Fact(
                symbol,
                show_amount(f"+{shown}" if change > 0 else shown),
                f"{shorten_amount(format_units(row.before, decimals))} → "
                f"{shorten_amount(format_units(row.after, decimals))}",
            )
        )
    return tuple(facts)


def list_surprises(permit: ActionPermit) -> tuple[str, ...]:
    """Movements and rights the plan did not speak of; a token that stands for a position is told with the position."""
    run = read_simulation(permit.simulation)
    if run is None:
        return ()
    transfers = [
        f"{format_token_amount(permit.chain_id, seen.token, seen.amount)} from {seen.sender} to {seen.recipient}"
        for seen in run.unexpected_transfers
        if seen.token not in run.claims
    ]
    approvals = [
        f"{seen.spender} may take {seen.amount} base units of {seen.token}" for seen in run.unexpected_approvals
    ]
    return (*transfers, *approvals)


DID_NOT_RUN = "did not run"


def list_hooks(permit: ActionPermit) -> tuple[HookLine, ...]:
    """The seven hooks in order, with their verdicts."""
    by_name = {str(entry.get("hook")): entry for entry in permit.hook_decisions}
    lines = []
    for number, name in enumerate(SAFETY_HOOKS, start=1):
        entry = by_name.get(name)
        verdict = str(entry.get("decision", "")) if entry else ""
        tone = {"Allow": "good", "AllowModified": "warn", "Reject": "bad"}.get(verdict, "quiet")
        if entry is None and name == "result_filter":
            verdict, tone = "on the way out", "good"
        lines.append(
            HookLine(
                number=number,
                name=name.replace("_", " "),
                purpose=HOOK_PURPOSE.get(name, ""),
                verdict={"Allow": "allowed", "AllowModified": "allowed, changed", "Reject": "refused"}.get(
                    verdict, verdict or DID_NOT_RUN
                ),
                tone=tone,
                note=str(entry.get("note", "")) if entry else "",
            )
        )
    return tuple(lines)


def describe_commit(permit: ActionPermit) -> tuple[Fact, ...]:
    """Grant, nonces and how long it took."""
    facts = []
    grant = getattr(permit, "grant", None)
    if permit.committing_at:
        facts.append(Fact("Started", show_age(permit.committing_at)))
    if grant is not None:
        used = grant.consumed_at.strftime("%H:%M:%S UTC") if grant.consumed_at else "not used"
        facts.append(
            Fact(
                "Capability",
                f"minted {grant.minted_at.strftime('%H:%M:%S UTC')}, used {used}",
                f"one use, up to {format_usd(grant.value_limit_micro_usd)}",
            )
        )
    reservations = list(permit.nonce_reservations.order_by("nonce"))
    if reservations:
        nonces = ", ".join(str(row.nonce) for row in reservations)
        facts.append(
            Fact("Nonces", nonces, ", ".join(sorted({row.get_state_display().lower() for row in reservations})))
        )
    if permit.committing_at and permit.finished_at:
        took = (permit.finished_at - permit.committing_at).total_seconds()
        facts.append(Fact("Took", f"{took:.1f} s"))
    return tuple(facts)


def list_sent(permit: ActionPermit, now: datetime) -> tuple[SentLine, ...]:
    """The signed transactions with predicted and used gas."""
    lines, calls = [], read_signed_calls(permit)
    for row in permit.transactions.order_by("call_index"):
        label = calls[row.call_index].label if row.call_index < len(calls) else ""
        lines.append(
            SentLine(
                number=row.call_index + 1,
                label=name_addresses(label, permit.chain_id),
                tx_hash=show_payload(row),
                state=show_badge(row.state),
                nonce=row.nonce,
                block=f"{row.block_number:,}" if row.block_number else "–",
                fee=show_amount(format_coin(row.fee_wei, row.chain_id)) if row.fee_wei else "–",
                gas_used=format_gas(row.gas_used),
                gas_predicted=_spell_predicted_gas(permit, row.call_index),
                gas_limit=format_gas(row.gas_limit),
                gas_percent=min(100, (row.gas_used or 0) * 100 // max(1, row.gas_limit)),
                max_fee=format_gwei(row.max_fee_per_gas),
                sent=format_age(row.broadcast_at, now=now) if row.broadcast_at else "not seen sent",
            )
        )
    return tuple(lines)


def _spell_predicted_gas(permit: ActionPermit, index: int) -> str:
    """Of one that was signed; what a user operation uses around its call is the bundler's, and only bounded."""
    per_call = (permit.expected_outcome or {}).get("gas_per_call", [])
    if index >= len(per_call):
        return "–"
    call = read_signed_calls(permit)[index]
    terms = call.user_operation
    if terms is None:
        return format_gas(per_call[index])
    around = call.gas_limit - terms.call_gas_limit
    return f"{format_gas(int(per_call[index]) - around)} for its call, at most {format_gas(around)} around it"
