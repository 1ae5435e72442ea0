"""Judges what the key of a cage's role may do: its session, allowances and payouts.

The same judgements in the contract's own order: `_enter`, `_use`, `_charge` and `payOut` of PolicyCage.sol. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from permits_app.policy_cage.contract import (
    Limit,
    Refill,
    RuleKind,
    address_key,
    payout_key,
)
from permits_app.policy_cage.preflight_types import Observed, Refusal, Refused, value_of
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState, SessionState
from tools_app.chain.abi import checksum
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

_TRANSFER = bytes.fromhex("a9059cbb")


@dataclass(frozen=True, slots=True)
class Payout:
    """`amount` base units of `asset` to the recipient that the owners registered under a number."""

    recipient: int
    asset: str
    amount: int


def check_entry(state: CageState, observed: Observed, sender: str) -> int:
    """The role whose key `sender` is. Raises Refused where its session lets it do nothing."""
    role = state.find_role(sender)
    if state.is_halted:
        raise Refused("CageHalted")
    if role is None:
        raise Refused("NotSessionKey", sender)
    session = state.sessions[role]
    if observed.now >= session.expires_at:
        raise Refused("SessionExpired", observed.now, session.expires_at)
    if session.operations_left == 0:
        raise Refused("NoOperationsLeft")
    for has, most in (
        (session.expires_at, observed.now + state.limit(Limit.MAX_SESSION_SECONDS)),
        (session.operations_left, state.limit(Limit.MAX_SESSION_OPERATIONS)),
        (session.budget_left, state.limit(Limit.MAX_SESSION_BUDGET_MICRO_USD)),
    ):
        if has > most:
            raise Refused("SessionTooLarge", has, most)
    if not observed.has_account_code:
        raise Refused("AccountIsNoContract", state.account)
    if observed.is_key_owner:
        raise Refused("KeyIsOwner", sender)
    return role


def check_outflow(state: CageState, asset: str, amount: int, *, now: int) -> None:
    """Raises Refused where so much of an asset may not leave, by whichever role. `now` in unix seconds."""
    most = state.rule(RuleKind.OUTFLOW_PER_BATCH, address_key(asset))
    if amount > most:
        raise Refused("OutflowTooLarge", asset, amount, most)
    most = state.rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(asset))
    spent = state.spent(asset, now=now) + amount
    if spent > most:
        raise Refused("OutflowInWindowTooLarge", asset, spent, most)


def check_allowance(state: CageState, kind: RuleKind, key: bytes, amount: int, *, now: int) -> None:
    """Raises Refused where an allowance that refills has less left."""
    most, used = Refill.unpack(state.rule(kind, key)).most, state.used(kind, key, now=now) + amount
    if used > most:
        raise Refused("AllowanceUsedUp", int(kind), key, used, most)


def charge_budget(state: CageState, role: int, used: int) -> None:
    """Raises Refused where a role's session has less than `used` micro-USD left."""
    left = state.sessions.get(role, SessionState()).budget_left
    if used > left:
        raise Refused("SessionBudgetExceeded", used, left)


def find_recipient(state: CageState, number: int) -> str:
    """Who is paid under a number; the zero address for nobody."""
    return checksum(f"0x{state.rule(RuleKind.RECIPIENT, number.to_bytes(32, 'big')):040x}")


def list_payees(state: CageState, *, role: int = 0) -> dict[tuple[str, str], int]:
    """Whom a role may pay of what: the recipient's number by (recipient, asset), the lowest where it has several."""
    found: dict[tuple[str, str], int] = {}
    for (kind, key), value in sorted(state.rules.items()):
        packed = int(key, 16)
        if kind == RuleKind.PAYOUT and value and packed >> 168 == role:
            number, asset = packed >> 160 & 0xFF, checksum(f"0x{packed & (1 << 160) - 1:040x}")
            recipient = find_recipient(state, number)
            if recipient != ZERO_ADDRESS:
                found.setdefault((recipient, asset), number)
    return found


def find_payout(calls: Sequence[Call], payees: Mapping[tuple[str, str], int]) -> Payout | None:
    """The payout that calls come to: one transfer of an asset to somebody who may be paid it; None for all others."""
    if len(calls) != 1:
        return None
    [call] = calls
    if call.value and not call.data:
        asset, to, amount = NATIVE, call.to, call.value
    elif len(call.data) == 68 and call.data[:4] == _TRANSFER and not call.value and not any(call.data[4:16]):
        asset, to, amount = call.to, checksum("0x" + call.data[16:36].hex()), int.from_bytes(call.data[36:], "big")
    else:
        return None
    number = payees.get((to, asset))
    return None if number is None else Payout(number, asset, amount)


def predict_payout(state: CageState, payout: Payout, observed: Observed, *, sender: str) -> Refusal | None:
    """What `payOut` of `sender` would be refused for; None when it pays.

    Of `observed` the prices, the moment, and `failure`: how the transfer ends by itself.
    """
    try:
        role = check_entry(state, observed, sender)
        if find_recipient(state, payout.recipient) == ZERO_ADDRESS:
            raise Refused("RecipientUnknown", payout.recipient)
        if state.asset(payout.asset) is None:
            raise Refused("AssetNotApproved", payout.asset)
        key = payout_key(role, payout.recipient, payout.asset)
        check_allowance(state, RuleKind.PAYOUT, key, payout.amount, now=observed.now)
        check_outflow(state, payout.asset, payout.amount, now=observed.now)
        worth = value_of(observed, payout.asset, payout.amount)
        if observed.failure is not None:
            return observed.failure
        _check_paid(state, payout, observed)
        if observed.acted:
            raise Refused("AccountActed", observed.nonce + observed.acted, observed.nonce)
        charge_budget(state, role, worth)
    except Refused as refused:
        return refused.refusal
    return None


def _check_paid(state: CageState, payout: Payout, observed: Observed) -> None:
    if isinstance(observed.before, Refusal) or observed.after is None or isinstance(observed.after, Refusal):
        raise Refused("BalanceUnreadable", payout.asset)
    index = state.assets.index(payout.asset)
    gone = max(0, observed.before.balances[index] - observed.after.balances[index])
    if not 0 < gone <= payout.amount:
        raise Refused("PayoutNotMade", gone, payout.amount)
