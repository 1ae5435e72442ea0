"""The code a permit is bound to: what runs behind every contract its plan touches, at the preview and at the commit.

Touched are the contracts called, tokens, spenders, accounts that carry the plan, whoever logs while the calls run,
what the measured positions rely on (oracles, rate models), and, where the engine in process ran, every contract of the
call tree; and behind each whatever a proxy, its beacon or a clone runs. What calls of the same shape met is asked
ahead, so that following it costs no round trip of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from permits_app.errors import CodeChanged
from permits_app.hook_rejection import Reject
from permits_app.safety.hook import HookCall
from permits_app.safety.load_call_records import list_touched
from tools_app.chain.abi import checksum
from tools_app.chain.running_code import MOST_CONTRACTS, CodeChange, Questions, RunningCode, read_running_code
from tools_app.toolkit.context import ChainReader

Shape = tuple[object, ...]
_MOST_SHAPES: Final = 512
_RELIED_ON: Final = "oracle or rate model"


class _Memory:
    """What was met behind calls of a shape, so that it is asked for ahead; the least used goes first."""

    def __init__(self) -> None:
        self._met: OrderedDict[Shape, Questions] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, shape: Shape) -> Questions:
        """Nothing for a shape that was not met."""
        with self._lock:
            if shape in self._met:
                self._met.move_to_end(shape)
            return self._met.get(shape, Questions())

    def keep(self, shape: Shape, questions: Questions) -> None:
        with self._lock:
            self._met[shape] = questions
            while len(self._met) > _MOST_SHAPES:
                self._met.popitem(last=False)


_MEMORY: Final = _Memory()


def foretell_code(call: HookCall) -> Questions:
    """What will be read of code: all that the permit is bound to, or what calls of this shape met before."""
    if call.bound is not None:
        return call.bound.ask_ahead()
    return _MEMORY.find(_shape_of(call))


def bind_code(call: HookCall, chain: ChainReader) -> RunningCode | Reject:
    """What runs behind everything the plan touches, for the permit to keep. Raises the node errors."""
    ran = call.simulation.ran if call.simulation is not None else ()
    touched = [
        *_list_known(call),
        *_list_speakers(call),
        *_list_relied(call),
        *(address for pair in ran for address in pair),
    ]
    try:
        found = read_running_code(chain, touched, ran=ran)
    except ValueError as error:
        return Reject(
            rule="hallucination_detector.code_unbound",
            reason=f"the action touches {error}, and a permit is bound to the code of all of them",
            observed=str(error),
            limit=f"{MOST_CONTRACTS} contracts",
            would_pass="a plan of fewer contracts",
        )
    _MEMORY.keep(_shape_of(call), found.ask_ahead())
    return found


def judge_bound_code(call: HookCall, chain: ChainReader) -> Reject | None:
    """A contract of the plan runs other code than when it was simulated and permitted. Raises the node errors."""
    if call.bound is None:
        return _changed(
            "the permit says nothing of the code it was simulated on", "nothing", "the code of each contract"
        )
    ran = call.simulation.ran if call.simulation is not None else ()
    try:
        changes = call.bound.find_changes(read_running_code(chain, call.bound.roots))
    except ValueError as error:
        return _changed(f"the permit's contracts lead to {error} now", str(error), f"{MOST_CONTRACTS} contracts")
    changes += tuple(each for each in call.bound.find_strangers(ran) if not _is_linked(each, call.bound, chain))
    changes += tuple(
        CodeChange(address, _RELIED_ON, "another contract", address)
        for address in _list_relied(call)
        if address not in call.bound.codes
    )
    if not changes:
        return None
    first = changes[0]
    is_new = first.what == _RELIED_ON
    return _changed(
        f"a position relies on {first.address} now, and none did when this was simulated: it opened meanwhile, or its"
        " oracle or rate model is another"
        if is_new
        else f"the {first.what} of {first.address} is not what it was when this was simulated",
        first.now,
        first.before,
        contract=first.address,
        what=first.what,
        contracts=list(dict.fromkeys(change.address for change in changes)),
    )


def _is_linked(found: CodeChange, bound: RunningCode, chain: ChainReader) -> bool:
    """A library that the code which ran before names itself: another path through the same code."""
    named = bytes.fromhex(found.now[2:])
    runs = [found.address, *(code for account, code in bound.ran if account == found.address)]
    return any(named in chain.code(each) for each in runs)


def _list_known(call: HookCall) -> list[str]:
    """What is known before anything ran."""
    route = call.sent_by
    touched = list_touched(call.plan) if call.plan is not None else []
    return [*touched, *(each.to for each in call.sent_calls), *((route.account,) if route.acts_for else ())]


def _list_speakers(call: HookCall) -> list[str]:
    outcomes = call.simulation.calls if call.simulation is not None else ()
    return [checksum(log.address) for outcome in outcomes for log in outcome.logs]


def _list_relied(call: HookCall) -> list[str]:
    """What decides health and interest of the positions that were measured, before and after."""
    found = call.simulation
    positions = (*(found.positions_before or ()), *(found.positions_after or ())) if found is not None else ()
    return sorted({checksum(address) for position in positions for address in position.relies_on})


def _shape_of(call: HookCall) -> Shape:
    plan = call.plan
    if plan is None:
        return ()
    return (
        plan.chain_id,
        *((each.to, each.data[:4]) for each in plan.calls),
        *(token.address for token in plan.tokens),
    )


def _changed(reason: str, observed: str, limit: str, **data: object) -> Reject:
    return Reject(
        rule="hallucination_detector.code_upgraded",
        reason=reason,
        observed=observed,
        limit=limit,
        would_pass="a new preview, which simulates what runs there now",
        error=CodeChanged,
        data=data,
    )
