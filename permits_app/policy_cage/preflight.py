"""What the contract would answer to a batch, in the contract's own order and words.

Pure: it takes the mirrored state and what was observed (prices, balances before and after, which targets have code),
and gives None or the refusal with the values the contract would name. A differential test sends the same random
batches to both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from permits_app.policy_cage.begin_prices import keep_prices
from permits_app.policy_cage.call_rules import check_calls, list_rights
from permits_app.policy_cage.contract import (
    UINT128_MAX,
    BatchClass,
    Limit,
    RuleKind,
    role_allowance_key,
)
from permits_app.policy_cage.preflight_types import (
    UINT256_MAX,
    Measured,
    Observed,
    PreflightVerdict,
    Refusal,
    Refused,
    Right,
    value_of,
)
from permits_app.policy_cage.roles import charge_budget, check_allowance, check_entry, check_outflow
from permits_app.policy_cage.state import LOSSES, POOLED, REBALANCES, CageState
from tools_app.core.units import BPS
from tools_app.toolkit.plan import Call

_DEFENSIVE: Final = 2
_DUST_BPS: Final = 100
_DUST_MICRO_USD: Final = 10_000
# In a valuer's `newest`: positions in pools, whose assets become each other by themselves.
MIXES: Final = 1 << 255
# What may come out of a pool of an asset beyond what lay there by the feeds, as a multiple of that.
_MOST_OF_PROPORTION: Final = 4


@dataclass(slots=True)
class _Moves:
    """What went up and down: in the wallet, and (sinks, gains) in wallet and positions together."""

    base_falls: bool = False
    other_falls: bool = False
    other_rises: bool = False
    base_sinks: bool = False
    other_sinks: bool = False
    other_gains: bool = False
    position_falls: bool = False
    position_rises: bool = False
    debt_rises: bool = False


@dataclass(frozen=True, slots=True)
class _Valued:
    """A measure with its values and their sum."""

    measured: Measured
    values: tuple[int, ...]
    total: int


def predict(state: CageState, calls: Sequence[Call], observed: Observed, *, sender: str) -> PreflightVerdict | Refusal:
    """What `execute(calls)` of `sender` would do at the observed moment."""
    try:
        role = check_entry(state, observed, sender)
        observed = keep_prices(state, observed)
        check_calls(state, calls, observed, role)
        before = _value(state, observed, _need(observed.before))
        rights = list_rights(state, calls)
        held = [_need_right(observed.rights_before, right) for right in rights]
        if observed.failure is not None:
            return observed.failure
        if observed.acted:
            raise Refused("AccountActed", observed.nonce + observed.acted, observed.nonce)
        if observed.after is None:
            raise ValueError("neither an end nor a failure was observed")
        after = _value(state, observed, _need(observed.after))
        given = dict.fromkeys(state.assets, 0)
        for right, was in zip(rights, held, strict=True):
            given[right.token] += max(0, _need_right(observed.rights_after, right) - was)
        verdict = _judge(state, observed, role, before, after, given)
        # What a spender may take afterwards is moved without the session, so it is paid for now.
        rights_given = sum(value_of(observed, asset, amount) for asset, amount in given.items())
        charge_budget(state, role, verdict.moved + rights_given)
    except Refused as refused:
        return refused.refusal
    return verdict


# ---- what came of it -----------------------------------------------------------------------------------------------


def _judge(
    state: CageState, observed: Observed, role: int, before: _Valued, after: _Valued, given: Mapping[str, int]
) -> PreflightVerdict:
    _judge_outflows(state, observed, role, before, after, given)
    verdict = _describe(state, observed, before, after)
    _judge_loss(state, observed, verdict, before.total)
    _judge_class(state, observed, verdict.batch_class, after.total)
    _judge_concentration(state, observed, before, after)
    _judge_positions(state, before, after)
    judge_growth(state, observed, verdict.batch_class, before.measured, after.measured, total_before=before.total)
    return verdict


def _judge_outflows(
    state: CageState, observed: Observed, role: int, before: _Valued, after: _Valued, given: Mapping[str, int]
) -> None:
    for asset, was, now in zip(state.assets, before.measured.balances, after.measured.balances, strict=True):
        if now > was and not state.is_approved(asset):
            raise Refused("AssetNotApproved", asset)
        amount = given[asset] + max(0, was - now) + _sunk(before, after, state.assets.index(asset))
        if not amount:
            continue
        check_outflow(state, asset, amount, now=observed.now)
        if role:
            key = role_allowance_key(role, asset)
            check_allowance(state, RuleKind.ROLE_ALLOWANCE, key, amount, now=observed.now)


def _sunk(before: _Valued, after: _Valued, index: int) -> int:
    """By how much more an asset fell in wallet and positions together than in the wallet; base units."""
    was, now = before.measured, after.measured
    fall = was.exposures[index] - now.exposures[index]
    return max(0, fall - max(0, was.balances[index] - now.balances[index]))


def _describe(state: CageState, observed: Observed, before: _Valued, after: _Valued) -> PreflightVerdict:
    was, now = before.measured, after.measured
    moves, moved, sunk = _Moves(), 0, 0
    for index, asset in enumerate(state.assets):
        is_base = asset == state.base_asset
        if now.balances[index] < was.balances[index]:
            moves.base_falls |= is_base
            moves.other_falls |= not is_base
            moved += before.values[index] - after.values[index]
        elif now.balances[index] > was.balances[index]:
            moves.other_rises |= not is_base
        if now.exposures[index] < was.exposures[index]:
            moves.base_sinks |= is_base
            moves.other_sinks |= not is_base
            sunk += value_of(observed, asset, _sunk(before, after, index))
    fallen = sum(max(0, each - since) for each, since in zip(was.gross, now.gross, strict=True))
    owed = sum(max(0, since - each) for each, since in zip(was.debts, now.debts, strict=True))
    moves.position_falls, moves.debt_rises = fallen > 0, owed > 0
    moved += max(sunk, fallen + owed)
    dust = moved * _DUST_BPS // BPS + _DUST_MICRO_USD
    _describe_positions(state, observed, moves, was, now, dust)
    return PreflightVerdict(_classify(state, moves, was, now, dust), moved, max(0, before.total - after.total))


def _describe_positions(
    state: CageState, observed: Observed, moves: _Moves, was: Measured, now: Measured, dust: int
) -> None:
    source = [0] * len(state.assets)
    for at in range(len(state.positions)):
        moves.position_rises |= now.gross[at] > was.gross[at] + dust or now.newest[at] > was.newest[at]
        for index, asset in enumerate(state.assets):
            place = at * len(state.assets) + index
            change = now.held[place] - was.held[place]
            is_dust = change == 0 or value_of(observed, asset, abs(change)) <= dust
            moves.position_rises |= change > 0 and not is_dust
            moves.position_falls |= change < 0 and not is_dust
            if change < 0 and was.newest[at] & MIXES:
                source[index] += value_of(observed, asset, -change) * _MOST_OF_PROPORTION
    for index, asset in enumerate(state.assets):
        gain = now.exposures[index] - was.exposures[index]
        if asset != state.base_asset and gain > 0:
            moves.other_gains |= value_of(observed, asset, gain) > dust + source[index]


def _classify(state: CageState, moves: _Moves, was: Measured, now: Measured, dust: int) -> BatchClass:
    is_paid = moves.base_falls or moves.other_falls
    most = 0 if is_paid else sum(was.gross) * state.limit(Limit.MAX_LOSS_BPS) // BPS
    grows = sum(now.gross) > sum(was.gross) + max(most, dust)
    opens = (
        moves.debt_rises
        or (moves.position_rises and (grows or not moves.position_falls))
        or (moves.base_falls and moves.other_rises)
        or (moves.base_sinks and moves.other_gains)
    )
    exchanges = (
        (moves.position_rises and moves.position_falls)
        or (moves.other_falls and moves.other_rises)
        or (moves.other_sinks and moves.other_gains)
    )
    return BatchClass(2 * opens + exchanges)


def _judge_loss(state: CageState, observed: Observed, verdict: PreflightVerdict, total_before: int) -> None:
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


def _judge_concentration(state: CageState, observed: Observed, before: _Valued, after: _Valued) -> None:
    most = state.limit(Limit.MAX_CONCENTRATION_BPS)
    exposures = zip(state.assets, before.measured.exposures, after.measured.exposures, strict=True)
    for asset, amount_was, amount_now in exposures:
        if asset == state.base_asset:
            continue
        was, now = (value_of(observed, asset, max(0, amount)) for amount in (amount_was, amount_now))
        if _is_too_large(was, before.total, now, after.total, most):
            raise Refused("ConcentrationTooLarge", asset, _share(now, after.total), most)


def _judge_positions(state: CageState, before: _Valued, after: _Valued) -> None:
    most, least = state.limit(Limit.MAX_POSITION_BPS), state.limit(Limit.MIN_COLLATERAL_RATIO_BPS)
    for index, target in enumerate(state.positions):
        was, now = before.measured.largest[index], after.measured.largest[index]
        if _is_too_large(was, before.total, now, after.total, most):
            raise Refused("PositionTooLarge", target, _share(now, after.total), most)
        gross, debt = after.measured.gross[index], after.measured.debts[index]
        _judge_cover(state, before.measured, after.measured, index)
        if gross * BPS >= least * debt:
            continue
        debt_was = before.measured.debts[index]
        if debt_was == 0 or gross * debt_was < before.measured.gross[index] * debt:
            raise Refused("CollateralRatioTooLow", target, gross * BPS // debt, least)


def judge_growth(
    state: CageState, observed: Observed, batch_class: BatchClass, was: Measured, now: Measured, *, total_before: int
) -> None:
    """What a valuer names has not grown, and what went into pools stays within the day's sum. Raises Refused."""
    if now.frozen is None:
        return
    amounts = {word >> 128: word & UINT128_MAX for word in was.frozen or ()}
    for word in now.frozen:
        amount, most = word & UINT128_MAX, amounts.get(word >> 128, 0)
        if amount > most:
            raise Refused("MayNotGrow", state.positions[word >> 248], amount, most)
    if batch_class is BatchClass.LEAVING:
        return
    grown = zip(was.gross, now.gross, now.newest, strict=True)
    pooled = sum(max(0, each - since) for since, each, newest in grown if newest & MIXES)
    if not pooled:
        return
    most = max(0, total_before) * state.limit(Limit.MAX_POOLED_PER_DAY_BPS) // BPS
    spent = state.spent(POOLED, now=observed.now) + pooled
    if spent > most:
        raise Refused("PooledInWindowTooLarge", spent, most)


def _judge_cover(state: CageState, was: Measured, now: Measured, index: int) -> None:
    debt, cover, least = now.debts[index], now.covers[index], state.limit(Limit.MIN_COVER_BPS)
    debt_was, cover_was = was.debts[index], was.covers[index]
    is_untouched = debt <= debt_was and cover >= cover_was and now.gross[index] >= was.gross[index]
    if debt == 0 or is_untouched or cover * BPS >= least * debt:
        return
    if debt >= debt_was or cover * debt_was <= cover_was * debt:
        raise Refused("CoverTooLow", state.positions[index], cover * BPS // debt, least)


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
