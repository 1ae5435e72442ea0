"""The outcome of a permit: receipts and balances against the prediction. Ground truth is the chain.

Events of our own receipts are what contracts claim, the balance difference over the blocks is what happened: where they
disagree the balances decide and the disagreement is a finding. Verified is only what the balances show, of the account
and of whom the plan pays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from permits_app.execution.balance_evidence import Evidence, ToldByEvents, list_expected, sum_transfers
from permits_app.models import ActionPermit
from permits_app.permits.balance_deltas import describe_deltas
from permits_app.safety.position_rules import claims_of, find_broken, sum_slashed
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import BPS
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE, ReceiptView

_MOST_INTEREST = 4
"""Ten millionths a second, over 1,200% a year: what a debt may grow between two blocks without anybody's doing."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What happened to one plan. `deltas` in base units by token; `findings` say in words what did not match.

    No event tells of the chain's coin: where a plan moves it and balances could not tell either, `deltas` are without
    it and `is_coin_known` is off. `unshown` are the plan's tokens that may have moved otherwise than events
    say, since no balance shows it. `revert_reason` is a contract's own text. `is_fee_known` is off where
    calls ran that no node shows.
    """

    succeeded: bool
    is_verified: bool
    deltas: Mapping[str, int]
    expected_deltas: Mapping[str, int]
    divergence_bps: int
    gas_used: int
    gas_expected: int
    fee_wei: int
    ground_truth_source: str
    findings: tuple[str, ...]
    is_coin_known: bool
    unshown: frozenset[str] = frozenset()
    revert_reason: str = ""
    is_fee_known: bool = True


def judge_outcome(
    *, permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView], evidence: Evidence | None
) -> Judgement:
    """Judge `receipts` against the permit. `evidence` is None when no balances tell of it: then nothing is verified.

    Gas is the signer's; it shows in the account's own coin only where the two are one.
    """
    succeeded = _all_succeeded(permit, receipts)
    told = sum_transfers(receipts=receipts, account=permit.account)
    expected = list_expected(permit)
    deltas, unshown, source, findings = _weigh(permit, plan, told, evidence, expected)
    if evidence is None and any(receipt.succeeded for receipt in receipts):
        findings.insert(0, "no balances tell what this permit moved: it is judged by its receipts alone")
    coin = find_coin_change(permit, receipts, evidence)
    if coin is not None:
        deltas[NATIVE] = coin
    coins = {flow.token.symbol for flow in (*plan.spends, *plan.receives) if flow.token.is_native}
    is_coin_known = coin is not None or not coins or not any(receipt.succeeded for receipt in receipts)
    if not is_coin_known:
        findings += [f"{symbol}: the balances do not tell how much of it moved" for symbol in coins]
    if succeeded:
        findings += _check_bounds(permit, plan, deltas, expected, is_coin_known=is_coin_known)
        findings += _check_undeclared(plan, deltas, expected)
        findings += _check_payees(permit, plan, deltas, evidence)
        findings += _check_principals(plan, receipts)
        findings += _check_positions(plan, evidence)
    else:
        findings += [f"call {i + 1} reverted" for i, receipt in enumerate(receipts) if not receipt.succeeded]
    # What nobody could see diverges by nothing.
    compared = {*expected, *deltas} if evidence is not None else {*deltas}
    compared -= set() if is_coin_known else {NATIVE}
    divergence = max((_divergence(expected.get(a, 0), deltas.get(a, 0)) for a in compared), default=0)
    return Judgement(
        succeeded=succeeded,
        is_verified=succeeded and not findings,
        deltas={address: delta for address, delta in deltas.items() if delta},
        expected_deltas=expected,
        divergence_bps=divergence,
        gas_used=sum(receipt.gas_used for receipt in receipts),
        gas_expected=int(permit.expected_outcome.get("gas_used", 0)),
        fee_wei=sum(receipt.fee for receipt in receipts),
        ground_truth_source=source,
        findings=tuple(findings),
        is_coin_known=is_coin_known,
        unshown=unshown if any(receipt.succeeded for receipt in receipts) else frozenset(),
    )


def leave_unjudged(*, permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView], reason: str) -> Judgement:
    """What is sure whatever else was met: the receipts. Nothing is verified, and no amount is known."""
    may_have_moved = any(receipt.succeeded for receipt in receipts)
    return Judgement(
        succeeded=_all_succeeded(permit, receipts),
        is_verified=False,
        deltas={},
        expected_deltas=list_expected(permit),
        divergence_bps=0,
        gas_used=sum(receipt.gas_used for receipt in receipts),
        gas_expected=int(permit.expected_outcome.get("gas_used", 0)),
        fee_wei=sum(receipt.fee for receipt in receipts),
        ground_truth_source="receipt",
        findings=(reason,),
        is_coin_known=not may_have_moved,
        unshown=frozenset(token.address for token in plan.tokens if may_have_moved),
    )


def find_coin_change(permit: ActionPermit, receipts: Sequence[ReceiptView], evidence: Evidence | None) -> int | None:
    """By how much the permit changed the account's coin, fees not counted, in wei; None where balances do not tell."""
    change = evidence.change_of(permit.account, NATIVE) if evidence is not None else None
    if change is None or permit.signer != permit.account:
        return change
    return change + sum(receipt.fee for receipt in receipts if not receipt.paid_by)


def describe_actual(*, judgement: Judgement, plan: TxPlan, receipts: Sequence[ReceiptView]) -> dict[str, object]:
    """JSON-ready account of what happened: deltas with units, gas, fee in wei, hashes, block."""
    return {
        "balance_deltas": describe_deltas(
            judgement.deltas, {token.address: token for token in plan.tokens}, chain_id=plan.chain_id
        ),
        "gas_used": judgement.gas_used,
        "gas_per_call": [receipt.gas_used for receipt in receipts],
        "fee_wei": str(judgement.fee_wei),
        "tx_hashes": [receipt.tx_hash for receipt in receipts],
        **({"paid_by": sorted(payers)} if (payers := {each.paid_by for each in receipts if each.paid_by}) else {}),
        "block_number": max((receipt.block_number for receipt in receipts), default=0),
        "succeeded": judgement.succeeded,
        **({"revert_reason": judgement.revert_reason} if judgement.revert_reason else {}),
    }


def _all_succeeded(permit: ActionPermit, receipts: Sequence[ReceiptView]) -> bool:
    return all(receipt.succeeded for receipt in receipts) and len(receipts) == len(permit.calls)


def _weigh(
    permit: ActionPermit, plan: TxPlan, told: ToldByEvents, evidence: Evidence | None, expected: Mapping[str, int]
) -> tuple[dict[str, int], frozenset[str], str, list[str]]:
    """Deltas by token, the plan's tokens that no balance shows, the witness that decided, and findings.

    What only an event claims of a token the plan does not speak of is left out. A token that stands for a position is
    told by the position, also where the plan approves it: shares are rounded otherwise than events say, and rebase.
    """
    named = {token.address: token.symbol for token in plan.tokens if not token.is_native}
    flows = {flow.token.address for flow in (*plan.spends, *plan.receives)}
    claims = _list_claims(permit, evidence)
    deltas: dict[str, int] = {}
    unshown: set[str] = set()
    findings: list[str] = []
    source = "receipt"
    for address in dict.fromkeys((*named, *told.moved, *(token for token in expected if token != NATIVE))):
        if address in claims and address not in flows:
            continue
        claimed, name = told.moved.get(address, 0), named.get(address) or address
        shown = evidence.change_of(permit.account, address) if evidence is not None else None
        if shown is not None:
            deltas[address] = shown
            if shown != claimed:
                findings.append(f"{name}: transfer events say {claimed}, balances say {shown}")
                source = "balance_check"
        elif address in named:
            deltas[address] = claimed
            unshown.add(address)
            if evidence is not None:
                findings.append(f"{name}: its balance could not be read; transfer events say {claimed}")
        elif claimed:
            findings.append(f"{name}: transfer events say {claimed}, and no balance shows it; it is left out")
    if told.unreadable:
        listed = ", ".join(told.unreadable[:3]) + (", …" if len(told.unreadable) > 3 else "")
        findings.append(f"events of {listed} name the account and do not say what moved; they are left out")
    return deltas, frozenset(unshown), source, findings


def _list_claims(permit: ActionPermit, evidence: Evidence | None) -> frozenset[str]:
    """Tokens whose movements the positions tell; none where the positions could not be read."""
    if evidence is None or evidence.moved is None:
        return frozenset()
    return claims_of(evidence.moved) | SHELF.claims_on(permit.chain_id)


def _check_bounds(
    permit: ActionPermit,
    plan: TxPlan,
    deltas: Mapping[str, int],
    expected: Mapping[str, int],
    *,
    is_coin_known: bool,
) -> list[str]:
    findings = []
    for flow in plan.spends:
        left = -deltas.get(flow.token.address, 0)
        if flow.token.is_native and not is_coin_known:
            continue
        if left > flow.bound:
            findings.append(f"{flow.token.symbol}: {left} left, the permit allowed {flow.bound}")
        elif left < (least := _least_spent(plan, flow.token.address, expected)):
            findings.append(f"{flow.token.symbol}: {left} left, at least {least} was to be spent")
    for flow in plan.receives:
        arrived = deltas.get(flow.token.address, 0)
        if arrived < flow.bound and (is_coin_known or not flow.token.is_native):
            findings.append(f"{flow.token.symbol}: {arrived} arrived, the permit promised {flow.bound}")
    return findings


def _least_spent(plan: TxPlan, token: str, expected: Mapping[str, int]) -> int:
    """Base units that have to leave: all that was to be spent where the plan names one exact amount, else as much less
    as its slippage and its own bound leave room for. Zero where the plan gets the same token back.
    """
    flows = [flow for flow in plan.spends if flow.token.address == token]
    if any(flow.token.address == token for flow in plan.receives):
        return 0
    most, quoted = sum(flow.bound for flow in flows), sum(flow.expected for flow in flows)
    simulated = -expected.get(token, 0)
    foreseen = simulated if simulated > 0 else quoted
    if len(plan.spends) == 1 and foreseen >= most:
        return most
    room = max(most - foreseen, foreseen * (plan.slippage_bps or 0) // BPS)
    return max(0, foreseen - room)


def _check_undeclared(plan: TxPlan, deltas: Mapping[str, int], expected: Mapping[str, int]) -> list[str]:
    """A token that the plan neither spends nor receives moved otherwise than the simulation showed."""
    # Shares that are themselves a position are told by its change.
    flows = {flow.token.address for flow in (*plan.spends, *plan.receives)} | plan.claims
    symbols = {token.address: token.symbol for token in plan.tokens} | {NATIVE: "the chain's coin"}
    return [
        f"{symbols.get(address) or address}: {delta} moved, the simulation showed {expected.get(address, 0)}"
        for address, delta in deltas.items()
        if address not in flows and delta != expected.get(address, 0)
    ]


@dataclass(frozen=True, slots=True)
class _Payee:
    """What the simulation saw arrive at whom the plan pays, in base units."""

    recipient: str
    token: str
    raw: IntText


def _read_payees(permit: ActionPermit) -> list[_Payee]:
    return [read_stored(_Payee, row) for row in permit.expected_outcome.get("payees", [])]


def _check_payees(
    permit: ActionPermit, plan: TxPlan, deltas: Mapping[str, int], evidence: Evidence | None
) -> list[str]:
    """Whom the plan pays got less than left the account, and less than the simulation showed where a fee is known."""
    if evidence is None:
        return []
    foreseen = {(row.recipient, row.token): row.raw for row in _read_payees(permit)}
    tokens = {token.address: token for token in plan.tokens}
    findings = []
    for holding in plan.list_payees(permit.account):
        recipient, address = holding
        left, arrived = -deltas.get(address, 0), evidence.change_of(*holding)
        if tokens[address].has_transfer_fee:
            left = min(left, foreseen.get(holding, left))
        if arrived is None:
            findings.append(f"{tokens[address].symbol}: what {recipient} holds of it could not be read")
        elif arrived < left:
            findings.append(f"{tokens[address].symbol}: {arrived} reached {recipient}, {left} should have")
    return findings


def _check_principals(plan: TxPlan, receipts: Sequence[ReceiptView]) -> list[str]:
    """More of others' money moved than the plan says. By the events of these receipts: what a principal moves in the
    same block by itself is no business of the permit's.
    """
    tokens = {token.address: token for token in plan.tokens}
    findings = []
    for principal, address in plan.list_others():
        most = sum(
            flow.most for flow in plan.principals if (flow.principal, flow.token.address) == (principal, address)
        )
        left = -sum_transfers(receipts=receipts, account=principal).moved.get(address, 0)
        if left > most:
            findings.append(f"{tokens[address].symbol}: {left} left {principal}, the permit allowed {most}")
    return findings


def _check_positions(plan: TxPlan, evidence: Evidence | None) -> list[str]:
    """A position changed for the worse than promised, or unannounced; interest between the blocks is allowed for, and
    what a slash took in them.

    What other permits promised in the same blocks counts with it: positions tell what all of them did together.
    """
    if not plan.changes or evidence is None:
        return []
    if evidence.moved is None:
        return ["the positions that the permit promises to change could not be read"]
    beside = evidence.changes_beside
    room = _MOST_INTEREST * max(evidence.seconds, 1)
    slashed = sum_slashed(evidence.moved)
    broken = find_broken((*plan.changes, *beside), evidence.moved, room=room, slashed=slashed)
    if broken is None:
        return []
    if evidence.others and evidence.beside is None:
        return [f"{broken.slot}: other permits ran in part in the same blocks, and what each of them did is not known"]
    promise = "nothing" if broken.bound is None else f"at least {broken.bound}"
    who = "the permits of these blocks" if beside else "the permit"
    return [f"{broken.slot}: {broken.change} base units of {broken.token} changed, {who} promised {promise}"]


def _divergence(expected: int, actual: int) -> int:
    if expected == actual:
        return 0
    return min(BPS, abs(expected - actual) * BPS // max(abs(expected), 1))
