"""VALIDATE: the permit against the tick itself, which no hook knows: time left, the coin kept for gas, dear gas.

What opens or grows a position is also put to the archetype's own risk-assessor, the heartbeat's way into delegation.
A permit that owners have to approve is left to them, once all this holds.
"""

from __future__ import annotations

from typing import Final

from golem_project.heartbeat.action_record_changes import put_off, rehearse
from golem_project.heartbeat.ask_risk_assessor import ask_risk_assessor
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.regime import is_gas_dear
from golem_project.heartbeat.unfinished_actions import follow_permit
from permits_app.custody.smart_accounts import pays_no_gas
from permits_app.models.permit import PermitStatus
from tools_app.core.units import format_units
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.views import NATIVE

LEAST_COIN_LEFT_WEI: Final = 10**16
LEAST_TIME_LEFT_MS: Final = 2_000
_LEAVING: Final = frozenset({ActionClass.CLOSE_POSITION.value, ActionClass.DECREASE_POSITION.value})


def validate(state: CycleState) -> None:
    """Let the permit go on, leave it to its owners, or put its action off."""
    action, permit = state.current, state.permit
    if action is None or permit is None:
        return
    doubt = _find_doubt(state)
    if doubt is not None:
        put_off(state, action, code=doubt[0], reason=doubt[1])
    elif permit["status"] == PermitStatus.CREATED:
        return
    elif state.golem.is_live:
        # Its owners decide; whatever they say, a later tick sees it.
        follow_permit(state, action)
    else:
        rehearse(state, action)
    state.current = state.permit = None


def _find_doubt(state: CycleState) -> tuple[str, str] | None:
    permit = state.permit or {}
    is_now = permit["status"] == PermitStatus.CREATED
    if is_now and state.deadline.remaining_ms() < LEAST_TIME_LEFT_MS:
        return "TICK_OVER", "what is left of the tick is too little for a commit"
    if permit["action_class"] in _LEAVING:
        return None
    if is_now and is_gas_dear(state.analysis.base_fees):
        return "GAS_DEAR", "gas costs more than five times its usual; what is not urgent waits"
    return _judge_gas_reserve(state) or ask_risk_assessor(state)


def _judge_gas_reserve(state: CycleState) -> tuple[str, str] | None:
    coin = state.observation.holding(NATIVE)
    if coin is None or state.permit is None or not state.permit["calls"]:
        return None
    gas_limit = sum(int(call["gas_limit"]) for call in state.permit["calls"])
    fee = 2 * gas_limit * (state.observation.block.base_fee if state.observation.block else 0)
    if coin.raw - fee >= LEAST_COIN_LEFT_WEI or pays_no_gas(state.golem):
        return None
    least = format_units(LEAST_COIN_LEFT_WEI, coin.token.decimals, coin.token.symbol)
    return "GAS_RESERVE", f"less than {least} would be left, which is kept for getting out"
