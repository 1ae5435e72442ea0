"""The run that counts: a plan's calls with exactly the gas limits and fees that will be signed.

Gas left, base fee, gas price and the sender's own balance tell a contract whether it is simulated, unless they are
those of the real transaction. What the calls need is learned from a run with a block's gas for nothing; what is judged
is the run after it, with the terms of the signature. Where the two differ, the limits rise, and where that does not
help the call is refused. Limits that fitted calls of the same shape are tried first, so that a usual call is run once.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from django.conf import settings

from permits_app.custody.signing_route import Carrier, SigningRoute
from permits_app.errors import PolicyChanged, SimulationRecognised
from permits_app.safety.gas_budget import GasBudget, Promised, budget_gas, list_l1_gas, peak_gas
from tools_app.chain.node_errors import GasLimitRefused, InsufficientFunds
from tools_app.simulation.engine import SigningTerms, SimulationRequest, SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

Verdict = TypeVar("Verdict")
Key = TypeVar("Key")

MOST_GAS_SIGNED: Final = 1 << 24
"""No transaction may have more since Osaka (EIP-7825)."""
_RAISED: Final = (1, 2, 4)
# Limits that are at most this much above what a call would be given anew are kept.
_ROOM_NUMERATOR, _ROOM_DENOMINATOR = 5, 4
_TRANSACTION_GAS, _ZERO_BYTE_GAS, _BYTE_GAS = 21_000, 4, 16
_MOST_REMEMBERED: Final = 1_024


@dataclass(frozen=True, slots=True)
class Rehearsed(Generic[Verdict]):
    """The run that was judged last, what may be burnt, and what the judge had against it (None: nothing)."""

    simulation: SimulationResult
    gas: GasBudget
    refusal: Verdict | None


def rehearse(
    request: SimulationRequest,
    *,
    route: SigningRoute,
    chain: ChainReader,
    calls: Sequence[Call],
    run: Callable[[SimulationRequest], SimulationResult],
    judge: Callable[[SimulationResult, GasBudget], Verdict | None],
    promised: Promised | None = None,
) -> Rehearsed[Verdict]:
    """Run `request` as `calls` will be signed, and judge that.

    `run` is given the request with its terms; without terms it says what the calls need. `promised` are the terms of a
    permit, which stay as they are. While the owners of a Safe are asked there is nothing to sign yet, so nothing is
    run with terms. Raises SimulationRecognised, and what `run`, `judge` and the reader raise.
    """
    stage = _Stage(request, route, chain, tuple(calls), run, judge)
    if route.waits_for_owners or not request.calls:
        return stage.judge_open(run(request))
    if promised is not None:
        return _rehearse_promised(stage, promised)
    return _rehearse_known(stage) or _rehearse_anew(stage)


@dataclass(frozen=True, slots=True)
class _Stage(Generic[Verdict]):
    request: SimulationRequest
    route: SigningRoute
    chain: ChainReader
    calls: tuple[Call, ...]
    run: Callable[[SimulationRequest], SimulationResult]
    judge: Callable[[SimulationResult, GasBudget], Verdict | None]

    def budget(self, simulation: SimulationResult) -> GasBudget:
        outcomes = self.route.outcomes_of_sent(simulation.calls)
        return budget_gas(chain=self.chain, calls=self.calls, outcomes=outcomes)

    def judge_open(self, simulation: SimulationResult) -> Rehearsed[Verdict]:
        budget = self.budget(simulation) if simulation.calls else GasBudget((), 0)
        return Rehearsed(simulation, budget, self.judge(simulation, budget))

    def run_signed(self, budget: GasBudget, *, max_fee: int, priority_fee: int) -> SimulationResult:
        """With the limits of `budget`, as they are seen by the calls themselves."""
        # What carries a user operation pays for it, and is no account that signs.
        pays = self.route.carrier is not Carrier.OPERATION
        base_fee = min(self.chain.fees().base_fee, max_fee)
        seen = zip(self.request.calls, budget.limits, budget.l1_gas, strict=True)
        terms = SigningTerms(
            gas_limits=tuple(self._limit_seen(call, limit, l1_gas) for call, limit, l1_gas in seen),
            base_fee=base_fee if pays else 0,
            max_fee_per_gas=max_fee if pays else 0,
            max_priority_fee_per_gas=priority_fee if pays else 0,
            randomness=foretell_nothing(self.request.chain_id, self.chain.block.hash),
        )
        return self.run(replace(self.request, terms=terms))

    def _limit_seen(self, call: Call, limit: int, l1_gas: int) -> int:
        """Layer one takes its gas before the first opcode; a user operation's call is given its own gas alone."""
        if self.route.carrier is not Carrier.OPERATION:
            return limit - l1_gas
        zeros = call.data.count(0)
        own = _TRANSACTION_GAS + _ZERO_BYTE_GAS * zeros + _BYTE_GAS * (len(call.data) - zeros)
        return limit - settings.GOLEM_OPERATION_GAS_AROUND + own


def _rehearse_promised(stage: _Stage[Verdict], promised: Promised) -> Rehearsed[Verdict]:
    """A permit's own terms. Where they do not carry the calls any more, the open run tells why."""
    fees = stage.chain.fees()
    l1_gas = list_l1_gas(chain=stage.chain, calls=stage.calls, limits=promised.gas_limits, fees=fees)
    budget = GasBudget(promised.gas_limits, promised.max_fee_per_gas, l1_gas=l1_gas)
    impossible: InsufficientFunds | GasLimitRefused | None = None
    try:
        signed = stage.run_signed(
            budget, max_fee=promised.max_fee_per_gas, priority_fee=promised.max_priority_fee_per_gas
        )
        if signed.succeeded:
            return Rehearsed(signed, budget, stage.judge(signed, budget))
    except (InsufficientFunds, GasLimitRefused) as error:
        impossible = error
    free = stage.run(stage.request)
    refusal = stage.judge(free, budget)
    if refusal is not None or not free.succeeded:
        return Rehearsed(free, budget, refusal)
    if impossible is not None:
        raise impossible
    needs = [peak_gas(outcome) for outcome in stage.route.outcomes_of_sent(free.calls)]
    for call, limit, need, l1 in zip(stage.calls, promised.gas_limits, needs, l1_gas, strict=True):
        if need + l1 > limit:
            raise PolicyChanged(f"{call.label} now needs {need + l1} gas, more than the {limit} it may use")
    raise SimulationRecognised("the calls revert with the gas and the fees they are signed with, and not without")


def _rehearse_known(stage: _Stage[Verdict]) -> Rehearsed[Verdict] | None:
    """With limits that fitted before; None where they do not fit, whatever the reason."""
    limits = LIMITS.recall(stage.request, stage.route)
    if limits is None or len(limits) != len(stage.calls):
        return None
    fees = stage.chain.fees()
    l1_gas = list_l1_gas(chain=stage.chain, calls=stage.calls, limits=limits, fees=fees)
    try:
        signed = stage.run_signed(
            GasBudget(limits, fees.max_fee, l1_gas=l1_gas), max_fee=fees.max_fee, priority_fee=fees.priority_fee
        )
    except (InsufficientFunds, GasLimitRefused):
        return None
    if not signed.succeeded:
        return None
    anew = stage.budget(signed)
    if not all(_has_room(limit, wanted) for limit, wanted in zip(limits, anew.limits, strict=True)):
        return None
    budget = replace(anew, limits=limits)
    return Rehearsed(signed, budget, stage.judge(signed, budget))


def _rehearse_anew(stage: _Stage[Verdict], *, may_begin_again: bool = True) -> Rehearsed[Verdict]:
    needed = stage.judge_open(stage.run(stage.request))
    if needed.refusal is not None or not needed.simulation.succeeded:
        return needed
    fees = stage.chain.fees()
    differing: tuple[str, ...] = ()
    for times in _RAISED:
        limits = tuple(min(times * limit, max(limit, MOST_GAS_SIGNED)) for limit in needed.gas.limits)
        budget = replace(needed.gas, limits=limits)
        if times > 1 and (refusal := stage.judge(needed.simulation, budget)) is not None:
            return Rehearsed(needed.simulation, budget, refusal)
        signed = stage.run_signed(budget, max_fee=fees.max_fee, priority_fee=fees.priority_fee)
        differing = list_differing(needed.simulation, signed)
        if differing and may_begin_again and _began_apart(needed.simulation, signed):
            # A node that mines meanwhile answered one of them from the state of the next block.
            return _rehearse_anew(stage, may_begin_again=False)
        if not differing:
            LIMITS.remember(stage.request, stage.route, limits)
            return Rehearsed(signed, budget, stage.judge(signed, budget))
    raise SimulationRecognised(
        "the calls do something else with the gas and the fees they would be signed with: " + "; ".join(differing[:3]),
        differences=list(differing[:8]),
    )


def list_differing(free: SimulationResult, signed: SimulationResult) -> tuple[str, ...]:
    """What differs between two runs of the same calls in what they did: outcomes, amounts, rights. Empty: nothing."""
    found = [
        f"call {index} {'succeeds' if one.succeeded else 'reverts'} with a block's gas and"
        f" {'succeeds' if two.succeeded else 'reverts'} as it is signed"
        for index, (one, two) in enumerate(zip(free.calls, signed.calls, strict=True), start=1)
        if one.succeeded is not two.succeeded
    ]
    for what, one_side, two_side in (
        ("the balance", free.balances_after, signed.balances_after),
        ("the allowance", free.allowances_after, signed.allowances_after),
    ):
        for key in sorted({*one_side, *two_side}):
            if one_side.get(key) != two_side.get(key):
                found.append(f"{what} {'/'.join(key)} is {one_side.get(key)} and {two_side.get(key)}")
    for what, one, two in (
        ("other tokens move", free.unexpected_transfers, signed.unexpected_transfers),
        ("other rights are given", free.unexpected_approvals, signed.unexpected_approvals),
    ):
        if one != two:
            found.append(what)
    if (free.positions_after, free.gauges_after) != (signed.positions_after, signed.gauges_after):
        found.append("positions end otherwise")
    return tuple(found)


def _began_apart(free: SimulationResult, signed: SimulationResult) -> bool:
    """Whether something that both runs measured before the calls was not the same."""
    return _differ(free.balances_before, signed.balances_before) or _differ(
        free.allowances_before, signed.allowances_before
    )


def _differ(one: Mapping[Key, int], two: Mapping[Key, int]) -> bool:
    return any(one[key] != two[key] for key in one.keys() & two.keys())


class RememberedLimits:
    """Limits that fitted, by the shape of the calls: whom they call, which function, how much data. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._limits: OrderedDict[tuple[object, ...], tuple[int, ...]] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def recall(self, request: SimulationRequest, route: SigningRoute) -> tuple[int, ...] | None:
        """The limits to try first, or None."""
        key = _shape_of(request, route)
        with self._lock:
            limits = self._limits.get(key)
            if limits is not None:
                self._limits.move_to_end(key)
            return limits

    def remember(self, request: SimulationRequest, route: SigningRoute, limits: tuple[int, ...]) -> None:
        """Those used longest ago are forgotten beyond the bound."""
        key = _shape_of(request, route)
        with self._lock:
            self._limits[key] = limits
            self._limits.move_to_end(key)
            while len(self._limits) > self._most:
                self._limits.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._limits.clear()


LIMITS: Final = RememberedLimits(_MOST_REMEMBERED)


def _shape_of(request: SimulationRequest, route: SigningRoute) -> tuple[object, ...]:
    calls = tuple((call.to, call.data[:4], len(call.data), call.value > 0) for call in request.calls)
    return (request.chain_id, route.carrier, calls)


def _has_room(limit: int, wanted: int) -> bool:
    return wanted <= limit and limit * _ROOM_DENOMINATOR <= wanted * _ROOM_NUMERATOR


def foretell_nothing(chain_id: int, block_hash: str) -> bytes:
    """A block's randomness that no contract can compute, 32 bytes, the same in every process of this server."""
    told = f"randomness after {chain_id} {block_hash}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), told, hashlib.sha256).digest()
