"""The outcome of a permit: receipts and balances against the prediction. Ground truth is the chain.

Transfer events of our own receipts are the first witness, the balance difference over the blocks the second;
where they disagree the balances decide and the disagreement is a finding. Seed: 002, "OutcomeRecord".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from permits_app.balance_deltas import describe_deltas
from permits_app.models import ActionPermit
from tools_app.core.units import BPS, value_in_micro_usd
from tools_app.standards import erc20
from tools_app.standards.user_operation import DEPOSIT_OF, ENTRY_POINT
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, ReceiptView, TokenMeta

_TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What happened to one plan. `deltas` in base units by token; `findings` say in words what did not match.

    No event tells of the chain's coin: where a plan moves it and balances could not tell either, `deltas` are without
    it and `is_coin_known` is off.
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


def judge_outcome(
    *,
    permit: ActionPermit,
    plan: TxPlan,
    receipts: Sequence[ReceiptView],
    balances: tuple[Mapping[str, int], Mapping[str, int]] | None,
) -> Judgement:
    """Judge `receipts` against the permit. `balances` are the account's before and after, or None when unreadable.

    Gas is the signer's; it shows in the account's own coin only where the two are one.
    """
    succeeded = all(receipt.succeeded for receipt in receipts) and len(receipts) == len(permit.calls)
    fee = sum(receipt.fee for receipt in receipts)
    findings: list[str] = []
    from_logs = sum_transfers(receipts=receipts, account=permit.account)
    deltas, source = dict(from_logs), "receipt"
    if balances is not None:
        own_fee = sum(receipt.fee for receipt in receipts if not receipt.paid_by)
        pays_itself = permit.signer == permit.account
        source = _reconcile(deltas, balances, plan, own_fee if pays_itself else 0, findings)
    expected = {item["token"]: int(item["raw"]) for item in permit.expected_outcome.get("balance_deltas", [])}
    coins = {flow.token.symbol for flow in (*plan.spends, *plan.receives) if flow.token.is_native}
    is_coin_known = balances is not None or not coins or not any(receipt.succeeded for receipt in receipts)
    if not is_coin_known:
        findings += [f"{symbol}: the balances do not tell how much of it moved" for symbol in coins]
    if succeeded:
        findings += _check_bounds(plan, deltas, is_coin_known=is_coin_known)
    else:
        findings += [f"call {i + 1} reverted" for i, receipt in enumerate(receipts) if not receipt.succeeded]
    compared = {*expected, *deltas} - (set() if is_coin_known else {NATIVE})
    divergence = max((_divergence(expected.get(a, 0), deltas.get(a, 0)) for a in compared), default=0)
    return Judgement(
        succeeded=succeeded,
        is_verified=succeeded and not findings,
        deltas={address: delta for address, delta in deltas.items() if delta},
        expected_deltas=expected,
        divergence_bps=divergence,
        gas_used=sum(receipt.gas_used for receipt in receipts),
        gas_expected=int(permit.expected_outcome.get("gas_used", 0)),
        fee_wei=fee,
        ground_truth_source=source,
        findings=tuple(findings),
        is_coin_known=is_coin_known,
    )


def sum_transfers(*, receipts: Sequence[ReceiptView], account: str) -> dict[str, int]:
    """Base units each token moved in and out of `account`, from Transfer events; an ERC-721 token counts one.

    The simulation counts it so too, by `balanceOf`; a position opened as predicted then diverges by nothing.
    """
    moved: dict[str, int] = {}
    word = "0x" + account.lower().removeprefix("0x").rjust(64, "0")
    for receipt in receipts:
        for log in receipt.logs:
            if len(log.topics) not in (3, 4) or log.topics[0] != _TRANSFER_TOPIC:
                continue
            # An ERC-721 Transfer has a fourth topic: an id, not an amount.
            data = log.data if len(log.topics) == 3 else "0x1"
            amount = int(data, 16) if data not in ("", "0x") else 0
            if log.topics[2].lower() == word:
                moved[log.address] = moved.get(log.address, 0) + amount
            if log.topics[1].lower() == word:
                moved[log.address] = moved.get(log.address, 0) - amount
    return moved


def read_balances(*, chain: ChainReader, permit: ActionPermit, tokens: Sequence[TokenMeta]) -> dict[str, int]:
    """Base units of each token and of the chain's coin at the reader's block.

    What a smart account keeps at the EntryPoint for gas is its coin too: change of an operation is left there.
    """
    account = permit.account
    plain = [token for token in tokens if not token.is_native]
    calls = [erc20.balance_call(token.address, account) for token in plain]
    chain.preload(calls=calls, accounts=[account])
    held = {NATIVE: chain.native_balance(account)}
    if permit.sends_operation:
        [deposit] = chain.call(ENTRY_POINT, DEPOSIT_OF, account)
        held[NATIVE] += int(deposit)
    outcomes = chain.call_many(calls)
    for token, outcome in zip(plain, outcomes, strict=True):
        if outcome.ok:
            held[token.address] = int(outcome.values[0])
    return held


def describe_actual(*, judgement: Judgement, plan: TxPlan, receipts: Sequence[ReceiptView]) -> dict[str, Any]:
    """JSON-ready account of what happened: deltas with units, gas, fee in wei, hashes, block."""
    return {
        "balance_deltas": describe_deltas(judgement.deltas, {token.address: token for token in plan.tokens}),
        "gas_used": judgement.gas_used,
        "gas_per_call": [receipt.gas_used for receipt in receipts],
        "fee_wei": str(judgement.fee_wei),
        "tx_hashes": [receipt.tx_hash for receipt in receipts],
        **({"paid_by": sorted(payers)} if (payers := {each.paid_by for each in receipts if each.paid_by}) else {}),
        "block_number": max((receipt.block_number for receipt in receipts), default=0),
        "succeeded": judgement.succeeded,
    }


def value_spent(*, permit: ActionPermit, judgement: Judgement, chain_native_decimals: int) -> int:
    """Micro-USD really spent at the preview's prices, gas included: what the ledger settles."""
    total = 0
    prices = {price["feed"]: price for price in permit.prices}
    for part in permit.spend_entry.breakdown:
        if part["role"] == "gas":
            budget = int(part.get("raw", 0))
            total += -(-int(part["micro_usd"]) * judgement.fee_wei // budget) if budget else 0
            continue
        if part["role"] == "allowance":
            total += int(part["micro_usd"])
            continue
        if part["token"] == NATIVE and not judgement.is_coin_known:
            total += int(part["micro_usd"])
            continue
        left = max(0, -judgement.deltas.get(part["token"], 0))
        price = prices.get(part["feed"])
        decimals = next(
            (f["token"]["decimals"] for f in permit.bounds["spends"] if f["token"]["address"] == part["token"]),
            chain_native_decimals,
        )
        if price is not None:
            total += value_in_micro_usd(
                raw=left, token_decimals=decimals, price=int(price["answer"]), price_decimals=int(price["decimals"])
            )
    return total


def _reconcile(
    deltas: dict[str, int],
    balances: tuple[Mapping[str, int], Mapping[str, int]],
    plan: TxPlan,
    fee: int,
    findings: list[str],
) -> str:
    before, after = balances
    source = "receipt"
    for token in plan.tokens:
        if token.is_native or token.address not in before or token.address not in after:
            continue
        difference = after[token.address] - before[token.address]
        if difference != deltas.get(token.address, 0):
            findings.append(
                f"{token.symbol}: transfer events say {deltas.get(token.address, 0)}, balances say {difference}"
            )
            deltas[token.address] = difference
            source = "balance_check"
    if NATIVE in before and NATIVE in after:
        deltas[NATIVE] = after[NATIVE] - before[NATIVE] + fee
    return source


def _check_bounds(plan: TxPlan, deltas: Mapping[str, int], *, is_coin_known: bool) -> list[str]:
    findings = []
    for flow in plan.spends:
        left = -deltas.get(flow.token.address, 0)
        if left > flow.bound:
            findings.append(f"{flow.token.symbol}: {left} left, the permit allowed {flow.bound}")
    for flow in plan.receives:
        arrived = deltas.get(flow.token.address, 0)
        if arrived < flow.bound and (is_coin_known or not flow.token.is_native):
            findings.append(f"{flow.token.symbol}: {arrived} arrived, the permit promised {flow.bound}")
    return findings


def _divergence(expected: int, actual: int) -> int:
    if expected == actual:
        return 0
    return min(BPS, abs(expected - actual) * BPS // max(abs(expected), 1))
