"""What the contract would answer to a batch, in the contract's own order and words.

Pure: it takes the mirrored state and what was observed (prices, balances before and after, which targets have code),
and gives None or the refusal with the values the contract would name. A differential test sends the same random
batches to both. Seed: issue of the cage, "Pre-flight in hook 1 predicts the contract's answer exactly".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from permits_app.policy_cage.contract import (
    MOST_ALLOWANCE_SECONDS,
    MOST_CALLS,
    PERMIT2,
    UINT128_MAX,
    BatchClass,
    Limit,
    RuleKind,
    address_key,
    call_key,
)
from permits_app.policy_cage.forbidden import FORBIDDEN_SELECTORS
from permits_app.policy_cage.state import LOSSES, REBALANCES, CageState
from tools_app.chain.abi import AbiDecodeError, checksum, decode_values
from tools_app.core.units import BPS
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

MICRO_USD: Final = 10**6
UINT256_MAX: Final = 2**256 - 1
_APPROVE: Final = bytes.fromhex("095ea7b3")
_PERMIT2_APPROVE: Final = bytes.fromhex("87517c45")
_MULTICALL: Final = bytes.fromhex("ac9650d8")
_MULTICALLS: Final = (_MULTICALL, bytes.fromhex("5ae401dc"), bytes.fromhex("1f0464d1"))
_DEFENSIVE: Final = 2


@dataclass(frozen=True, slots=True)
class Refusal:
    """The contract's error by name, with its arguments in order. An empty name is a revert without a reason."""

    name: str
    args: tuple[Any, ...] = ()


class _Refused(Exception):
    def __init__(self, name: str, *args: Any) -> None:
        super().__init__(name)
        self.refusal = Refusal(name, args)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the account held at one moment, in the order of the state's assets and positions; positions in micro-USD."""

    balances: tuple[int, ...]
    gross: tuple[int, ...]
    debts: tuple[int, ...]
    largest: tuple[int, ...]
    newest: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What the chain says at `now` (unix seconds).

    `prices` are (answer, unit) or the refusal of the feed, by asset; `after` is None when a call failed, and then
    `failure` says which and why. `hooks` are the Safe's guards and handler, the zero address where one is not set.
    """

    now: int
    prices: Mapping[str, tuple[int, int] | Refusal]
    before: Measured | Refusal
    after: Measured | Refusal | None
    failure: Refusal | None = None
    codeless: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    has_account_code: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a batch that runs counts as; values in micro-USD."""

    batch_class: BatchClass
    moved: int
    loss: int


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
        _check_calls(state, calls, observed)
        for asset in state.assets:
            _price(observed, asset)
        before = _value(state, observed, _need(observed.before))
        if observed.failure is not None:
            return observed.failure
        if observed.after is None:
            raise ValueError("neither an end nor a failure was observed")
        after = _value(state, observed, _need(observed.after))
        verdict = _judge(state, observed, before, after)
        if verdict.moved > state.session.budget_left:
            raise _Refused("SessionBudgetExceeded", verdict.moved, state.session.budget_left)
    except _Refused as refused:
        return refused.refusal
    return verdict


def check_calls(state: CageState, calls: Sequence[Call], observed: Observed) -> Refusal | None:
    """The part of the answer that needs no simulation: whether these calls may be made at all."""
    try:
        _check_calls(state, calls, observed)
    except _Refused as refused:
        return refused.refusal
    return None


# ---- who and what --------------------------------------------------------------------------------------------------


def _check_entry(state: CageState, observed: Observed, sender: str) -> None:
    session = state.session
    if state.is_halted:
        raise _Refused("CageHalted")
    if sender != session.key:
        raise _Refused("NotSessionKey", sender)
    if observed.now >= session.expires_at:
        raise _Refused("SessionExpired", observed.now, session.expires_at)
    if session.operations_left == 0:
        raise _Refused("NoOperationsLeft")
    if not observed.has_account_code:
        raise _Refused("AccountIsNoContract", state.account)


def _check_calls(state: CageState, calls: Sequence[Call], observed: Observed) -> None:
    if not 0 < len(calls) <= MOST_CALLS:
        raise _Refused("CallCount", len(calls), MOST_CALLS)
    for call in calls:
        _check_call(state, call, observed)


def _check_call(state: CageState, call: Call, observed: Observed) -> None:
    to, data = call.to, call.data
    if to in (state.account, state.cage) or to in observed.hooks:
        raise _Refused("TargetForbidden", to)
    if to in observed.codeless:
        raise _Refused("TargetHasNoCode", to)
    if to in observed.modules:
        raise _Refused("TargetForbidden", to)
    if call.value and state.asset(NATIVE) is None:
        raise _Refused("CoinNotApproved", call.value)
    if len(data) < 4:
        if data:
            raise _Refused("CallDataMalformed", bytes(4))
        return _check_listed(state, to, bytes(4))
    selector = data[:4]
    if to == PERMIT2:
        return _check_permit2(state, selector, data, observed)
    if selector == _APPROVE and state.asset(to) is not None:
        if len(data) != 68 or call.value:
            raise _Refused("CallDataMalformed", selector)
        spender, amount = _words(data)
        return _check_allowance(state, observed, to, spender, amount, selector)
    return _check_plain(state, to, selector, data)


def _check_plain(state: CageState, to: str, selector: bytes, data: bytes) -> None:
    if selector in FORBIDDEN_SELECTORS:
        raise _Refused("SelectorForbidden", selector)
    _check_listed(state, to, selector)
    for inner in _unwrap(selector, data):
        if len(inner) < 4:
            raise _Refused("CallDataMalformed", selector)
        one = inner[:4]
        if one in _MULTICALLS or one in FORBIDDEN_SELECTORS:
            raise _Refused("SelectorForbidden", one)
        _check_listed(state, to, one)


def _unwrap(selector: bytes, data: bytes) -> Sequence[bytes]:
    if selector not in _MULTICALLS:
        return ()
    types = ("bytes[]",) if selector == _MULTICALL else ("bytes32", "bytes[]")
    try:
        inner: Sequence[bytes] = decode_values(types, data[4:])[-1]
    except AbiDecodeError:
        raise _Refused("") from None
    return inner


def _check_permit2(state: CageState, selector: bytes, data: bytes, observed: Observed) -> None:
    if selector != _PERMIT2_APPROVE:
        raise _Refused("SelectorForbidden", selector)
    if len(data) != 132:
        raise _Refused("CallDataMalformed", selector)
    token, spender, amount, expiration = _words(data)
    if token >> 160:
        raise _Refused("CallDataMalformed", selector)
    address = _address(token)
    if state.asset(address) is None:
        raise _Refused("AssetNotApproved", address)
    latest = observed.now + MOST_ALLOWANCE_SECONDS
    if expiration > latest:
        raise _Refused("AllowanceTooLong", expiration, latest)
    _check_allowance(state, observed, address, spender, amount, selector)


def _check_allowance(
    state: CageState, observed: Observed, token: str, spender: int, amount: int, selector: bytes
) -> None:
    if spender >> 160:
        raise _Refused("CallDataMalformed", selector)
    if amount == 0:
        return
    most = state.rule(RuleKind.SPENDER, spender.to_bytes(32, "big"))
    if most == 0:
        raise _Refused("SpenderNotAllowed", _address(spender))
    worth = UINT256_MAX if amount > UINT128_MAX else _worth(observed, token, amount)
    if worth > most:
        raise _Refused("AllowanceTooLarge", worth, most)


def _check_listed(state: CageState, to: str, selector: bytes) -> None:
    if not state.rule(RuleKind.CALL, call_key(to, selector)) and not state.limit(Limit.ALLOWS_ARBITRARY_CALLS):
        raise _Refused("CallNotAllowed", to, selector)


# ---- what came of it -----------------------------------------------------------------------------------------------


def _judge(state: CageState, observed: Observed, before: _Valued, after: _Valued) -> Verdict:
    _judge_outflows(state, observed, before, after)
    verdict = _describe(state, before, after)
    _judge_loss(state, observed, verdict, before.total)
    _judge_class(state, observed, verdict.batch_class, after.total)
    _judge_concentration(state, before, after)
    _judge_positions(state, before, after)
    return verdict


def _judge_outflows(state: CageState, observed: Observed, before: _Valued, after: _Valued) -> None:
    for asset, was, now in zip(state.assets, before.measured.balances, after.measured.balances, strict=True):
        if now > was and not state.is_approved(asset):
            raise _Refused("AssetNotApproved", asset)
        if now >= was:
            continue
        amount, key = was - now, address_key(asset)
        most = state.rule(RuleKind.OUTFLOW_PER_BATCH, key)
        if amount > most:
            raise _Refused("OutflowTooLarge", asset, amount, most)
        most = state.rule(RuleKind.OUTFLOW_PER_WINDOW, key)
        spent = state.spent(asset, now=observed.now) + amount
        if spent > most:
            raise _Refused("OutflowInWindowTooLarge", asset, spent, most)


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
        raise _Refused("LossTooLarge", verdict.loss, most)
    most = max(0, total_before) * state.limit(Limit.MAX_WINDOW_LOSS_BPS) // BPS
    spent = state.spent(LOSSES, now=observed.now) + verdict.loss
    if spent > most:
        raise _Refused("LossInWindowTooLarge", spent, most)


def _judge_class(state: CageState, observed: Observed, batch_class: BatchClass, total_after: int) -> None:
    phase = state.limit(Limit.PHASE)
    is_fine = (
        batch_class is BatchClass.LEAVING
        or phase < _DEFENSIVE
        or (phase == _DEFENSIVE and batch_class is BatchClass.REBALANCE)
    )
    if not is_fine:
        raise _Refused("PhaseForbids", phase, int(batch_class))
    if batch_class is not BatchClass.LEAVING:
        _judge_drawdown(state, total_after)
    if batch_class not in (BatchClass.REBALANCE, BatchClass.OPENING_AND_REBALANCE):
        return
    interval = state.limit(Limit.MIN_REBALANCE_INTERVAL_SECONDS)
    elapsed = observed.now - state.last_rebalance_at
    if elapsed < interval:
        raise _Refused("RebalanceTooSoon", elapsed, interval)
    count, most = state.spent(REBALANCES, now=observed.now) + 1, state.limit(Limit.MAX_REBALANCES_PER_DAY)
    if count > most:
        raise _Refused("TooManyRebalances", count, most)


def _judge_drawdown(state: CageState, total_after: int) -> None:
    mark = state.limit(Limit.HIGH_WATER_MARK_MICRO_USD)
    if mark == 0:
        raise _Refused("NoHighWaterMark")
    floor = mark * (BPS - state.limit(Limit.MAX_DRAWDOWN_BPS)) // BPS
    if total_after < floor:
        raise _Refused("DrawdownExceeded", total_after, floor)
    if state.is_drawdown_breached:
        raise _Refused("DrawdownNotAcknowledged")


def _judge_concentration(state: CageState, before: _Valued, after: _Valued) -> None:
    most = state.limit(Limit.MAX_CONCENTRATION_BPS)
    for asset, was, now in zip(state.assets, before.values, after.values, strict=True):
        if asset != state.base_asset and _is_too_large(was, before.total, now, after.total, most):
            raise _Refused("ConcentrationTooLarge", asset, _share(now, after.total), most)


def _judge_positions(state: CageState, before: _Valued, after: _Valued) -> None:
    most, least = state.limit(Limit.MAX_POSITION_BPS), state.limit(Limit.MIN_COLLATERAL_RATIO_BPS)
    for index, target in enumerate(state.positions):
        was, now = before.measured.largest[index], after.measured.largest[index]
        if _is_too_large(was, before.total, now, after.total, most):
            raise _Refused("PositionTooLarge", target, _share(now, after.total), most)
        gross, debt = after.measured.gross[index], after.measured.debts[index]
        if gross * BPS >= least * debt:
            continue
        debt_was = before.measured.debts[index]
        if debt_was == 0 or gross * debt_was < before.measured.gross[index] * debt:
            raise _Refused("CollateralRatioTooLow", target, gross * BPS // debt, least)


def _is_too_large(was: int, total_was: int, now: int, total: int, most_bps: int) -> bool:
    if now * BPS <= most_bps * max(0, total):
        return False
    return total_was <= 0 or now * total_was > was * max(0, total)


def _share(value: int, total: int) -> int:
    return -(-value * BPS // total) if total > 0 else UINT256_MAX


# ---- values --------------------------------------------------------------------------------------------------------


def _value(state: CageState, observed: Observed, measured: Measured) -> _Valued:
    values = tuple(
        _worth(observed, asset, amount) for asset, amount in zip(state.assets, measured.balances, strict=True)
    )
    return _Valued(measured, values, sum(values) + sum(measured.gross) - sum(measured.debts))


def _worth(observed: Observed, asset: str, amount: int) -> int:
    answer, unit = _price(observed, asset)
    return amount * answer * MICRO_USD // unit


def _price(observed: Observed, asset: str) -> tuple[int, int]:
    price = observed.prices[asset]
    if isinstance(price, Refusal):
        raise _Refused(price.name, *price.args)
    return price


def _need(measured: Measured | Refusal) -> Measured:
    if isinstance(measured, Refusal):
        raise _Refused(measured.name, *measured.args)
    return measured


def _words(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 32], "big") for at in range(4, len(data), 32)]


def _address(word: int) -> str:
    return checksum(f"0x{word:040x}")
