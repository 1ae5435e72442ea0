"""The risk tier of a call under judgement. Known before the simulation, whose engines it decides."""

from __future__ import annotations

from permits_app.risk import classify_risk
from permits_app.safety.hook import HookCall
from tools_app.toolkit.enums import RiskTier


def returns_to_golem(call: HookCall) -> bool:
    """Whether everything the call sends out comes back to the golem itself."""
    account = call.view.address
    recipients = call.plan.recipients if call.plan else ()
    return all(recipient == account for recipient in recipients)


def classify_call(call: HookCall) -> RiskTier:
    """The tier of `call`, from its tool, its class, its recipients and the most it can spend."""
    return classify_risk(
        category=call.tool.category,
        capability=call.tool.capability,
        risk_layer=call.tool.risk_layer,
        action_class=call.action_class,
        venue=call.tool.venue,
        value_micro_usd=call.value.spend_micro_usd,
        returns_to_golem=returns_to_golem(call),
    )
