"""What the contract would answer to a batch, in the contract's own order and words.

Pure: it takes the mirrored state and what was observed (prices, balances before and after, which targets have code),
and gives None or the refusal with the values the contract would name. A differential test sends the same random
batches to both. Seed: issue of the cage, "Pre-flight in hook 1 predicts the contract's answer exactly".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from permits_app.policy_cage.call_rules import check_calls, list_rights
from permits_app.policy_cage.contract import UINT128_MAX, BatchClass, Limit, RuleKind, address_key
from permits_app.policy_cage.state import LOSSES, REBALANCES, CageState
from permits_app.policy_cage.verdicts import (
    UINT256_MAX,
    Measured,
    Observed,
    Refusal,
    Refused,
    Right,
    Verdict,
    price_of,
    value_of,
)
from tools_app.core.units import BPS
from tools_app.toolkit.plan import Call

_DEFENSIVE: Final = 2


@dataclass(frozen=True, slots=True)
class _Valued:
    """A measure with its values and their sum."""

    measured: Measured
    values: tuple[int, ...]
    total: int


def predict(state: CageState, calls: Sequence[Call], observed: Observed, *, sender: str) -> Verdict | Refusal:
    """What `execute(calls)` of `sender` would do at the observed moment."""
    try:
        _check_entry(state, observed, sender)
        check_calls(state, calls, observed)
        for asset in state.assets:
            price_of(observed, asset)
        before = _value(state, observed, _need(observed.before))
        rights = list_rights(state, calls)
        held = [_need_right(observed.rights_before, right) for right in rights]
        if observed.failure is not None:
            return observed.failure
        if observed.after is None:
            raise ValueError("neither an end nor a failure was observed")
        after = _value(state, observed, _need(observed.after))
        given = dict.fromkeys(state.assets, 0)
        for right, was in zip(rights, held, strict=True):
            given[right.token] += max(0, _need_right(observed.rights_after, right) - was)
        verdict = _judge(state, observed, before, after, given)
        # What a spender may take afterwards is moved without the session, so it is paid for now.
        used = verdict.moved + sum(value_of(observed, asset, amount) for asset, amount in given.items())
        if used > state.session.budget_left:
            raise Refused("SessionBudgetExceeded", used, state.session.budget_left)
    except Refused as refused:
        return refused.refusal
    return verdict


# ---- who and what --------------------------------------------------------------------------------------------------


def _check_entry(state: CageState, observed: Observed, sender: str) -> None:
    session = state.session
    if state.is_halted:
        raise Refused("CageHalted")
    if sender != session.key:
        raise Refused("NotSessionKey", sender)
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


# ---- what came of it -----------------------------------------------------------------------------------------------


def _judge(state: CageState, observed: Observed, before: _Valued, after: _Valued, given: Mapping[str, int]) -> Verdict:
    _judge_outflows(state, observed, before, after, given)
    verdict = _describe(state, before, after)
    _judge_loss(state, observed, verdict, before.total)
    _judge_class(state, observed, verdict.batch_class, after.total)
    _judge_concentration(state, before, after)
    _judge_positions(state, before, after)
    return verdict


def _judge_outflows(
    state: CageState, observed: Observed, before: _Valued, after: _Valued, given: Mapping[str, int]
) -> None:
    for asset, was, now in zip(state.assets, before.measured.balances, after.measured.balances, strict=True):
        if now > was and not state.is_approved(asset):
            raise Refused("AssetNotApproved", asset)
        amount, key = given[asset] + max(0, was - now), address_key(asset)
        if not amount:
            continue
        most = state.rule(RuleKind.OUTFLOW_PER_BATCH, key)
        if amount > most:
            raise Refused("OutflowTooLarge", asset, amount, most)
        most = state.rule(RuleKind.OUTFLOW_PER_WINDOW, key)
        spent = state.spent(asset, now=observed.now) + amount
        if spent > most:
            raise Refused("OutflowInWindowTooLarge", asset, spent, most)


def _describe(state: CageState, before: _Valued, after: _Valued) -> Verdict:
    moved, base_falls, other_falls, other_rises = 0, False, False, False
    held = zip(
        state.assets, before.measured.balances, after.measured.balances, before.values, after.values, strict=True
    )
    for asset, was, now, value_was, value_now in held:
        if now < was:
            base_falls |= asset == state.base_asset
            other_falls |= asset != state.base_asset
            moved += value_was - value_now
        elif now > was:
            other_rises |= asset != state.base_asset
    falls, rises, debt_rises = False, False, False
    for index in range(len(state.positions)):
        gross_was, gross_now = before.measured.gross[index], after.measured.gross[index]
        debt_was, debt_now = before.measured.debts[index], after.measured.debts[index]
        if gross_now < gross_was:
            falls = True
            moved += gross_was - gross_now
        if debt_now > debt_was:
            debt_rises = True
            moved += debt_now - debt_was
        rises |= gross_now > gross_was or after.measured.newest[index] > before.measured.newest[index]
    grows = sum(after.measured.gross) * BPS > sum(before.measured.gross) * (BPS + state.limit(Limit.MAX_LOSS_BPS))
    opens = debt_rises or (rises and (grows or not falls)) or (base_falls and other_rises)
    exchanges = (rises and falls) or (other_falls and other_rises)
    return Verdict(BatchClass(2 * opens + exchanges), moved, max(0, before.total - after.total))


def _judge_loss(state: CageState, observed: Observed, verdict: Verdict, total_before: int) -> None:
    if not verdict.loss:
        return
    most = verdict.moved * state.limit(Limit.MAX_LOSS_BPS) // BPS
    if verdict.loss > most:
        raise Refused("LossTooLarge", verdict.loss, most)
    most = max(0, total_before) * state.limit(Limit.MAX_WINDOW_LOSS_BPS) // BPS
    spent = state.spent(LOSSES, now=observed.now) + verdict.loss
    if spent > most:
        raise Refused("LossInWindowTooLarge", spent, most)


def _judge_class(state: CageState, observed: Observed, batch_class: BatchClass, total_after: int) -> None:
    phase = state.limit(Limit.PHASE)
    is_fine = (
        batch_class is BatchClass.LEAVING
        or phase < _DEFENSIVE
        or (phase == _DEFENSIVE and batch_class is BatchClass.REBALANCE)
    )
    if not is_fine:
        raise Refused("PhaseForbids", phase, int(batch_class))
    if batch_class is not BatchClass.LEAVING:
        _judge_drawdown(state, total_after)
    if batch_class not in (BatchClass.REBALANCE, BatchClass.OPENING_AND_REBALANCE):
        return
    interval = state.limit(Limit.MIN_REBALANCE_INTERVAL_SECONDS)
    elapsed = observed.now - state.last_rebalance_at
    if elapsed < interval:
        raise Refused("RebalanceTooSoon", elapsed, interval)
    count, most = state.spent(REBALANCES, now=observed.now) + 1, state.limit(Limit.MAX_REBALANCES_PER_DAY)
    if count > most:
        raise Refused("TooManyRebalances", count, most)


def _judge_drawdown(state: CageState, total_after: int) -> None:
    mark = state.limit(Limit.HIGH_WATER_MARK_MICRO_USD)
    if mark == 0:
        raise Refused("NoHighWaterMark")
    floor = mark * (BPS - state.limit(Limit.MAX_DRAWDOWN_BPS)) // BPS
    if total_after < floor:
        raise Refused("DrawdownExceeded", total_after, floor)
    if state.is_drawdown_breached:
        raise Refused("DrawdownNotAcknowledged")


def _judge_concentration(state: CageState, before: _Valued, after: _Valued) -> None:
    most = state.limit(Limit.MAX_CONCENTRATION_BPS)
    for asset, was, now in zip(state.assets, before.values, after.values, strict=True):
        if asset != state.base_asset and _is_too_large(was, before.total, now, after.total, most):
            raise Refused("ConcentrationTooLarge", asset, _share(now, after.total), most)


def _judge_positions(state: CageState, before: _Valued, after: _Valued) -> None:
    most, least = state.limit(Limit.MAX_POSITION_BPS), state.limit(Limit.MIN_COLLATERAL_RATIO_BPS)
    for index, target in enumerate(state.positions):
        was, now = before.measured.largest[index], after.measured.largest[index]
        if _is_too_large(was, before.total, now, after.total, most):
            raise Refused("PositionTooLarge", target, _share(now, after.total), most)
        gross, debt = after.measured.gross[index], after.measured.debts[index]
        if gross * BPS >= least * debt:
            continue
        debt_was = before.measured.debts[index]
        if debt_was == 0 or gross * debt_was < before.measured.gross[index] * debt:
            raise Refused("CollateralRatioTooLow", target, gross * BPS // debt, least)


def _is_too_large(was: int, total_was: int, now: int, total: int, most_bps: int) -> bool:
    if now * BPS <= most_bps * max(0, total):
        return False
    return total_was <= 0 or now * total_was > was * max(0, total)


def _share(value: int, total: int) -> int:
    return -(-value * BPS // total) if total > 0 else UINT256_MAX


# ---- values --------------------------------------------------------------------------------------------------------


def _value(state: CageState, observed: Observed, measured: Measured) -> _Valued:
    values = tuple(
        value_of(observed, asset, amount) for asset, amount in zip(state.assets, measured.balances, strict=True)
    )
    return _Valued(measured, values, sum(values) + sum(measured.gross) - sum(measured.debts))


def _need_right(rights: Mapping[Right, int | Refusal], right: Right) -> int:
    amount = rights[right]
    if isinstance(amount, Refusal):
        raise Refused(amount.name, *amount.args)
    return min(amount, UINT128_MAX)


def _need(measured: Measured | Refusal) -> Measured:
    if isinstance(measured, Refusal):
        raise Refused(measured.name, *measured.args)
    return measured
