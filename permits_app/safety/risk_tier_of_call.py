"""The risk tier of a call under judgement. Known before the simulation, whose engines it decides."""

from __future__ import annotations

from permits_app.errors import PolicyChanged
from permits_app.models import ActionPermit
from permits_app.permits.risk_tier_rules import classify_risk, is_riskier
from permits_app.safety.hook import HookCall
from tools_app.toolkit.enums import LEAVING, Category, RiskTier


def returns_to_golem(call: HookCall) -> bool:
    """Whether everything the call sends out comes back to the golem itself."""
    account = call.view.address
    recipients = call.plan.recipients if call.plan else ()
    return all(recipient == account for recipient in recipients)


def classify_call(call: HookCall) -> RiskTier:
    """The tier of `call`: from its tool, class and recipients, the most it can spend and the trust in its venue.

    A write whose effect asks for owners is at least HIGH, the lowest tier that they decide; so is one through a pool
    whose hook could change amounts, fees or exits, unless it takes a position out of that pool.
    """
    tier = classify_risk(
        category=call.tool.category,
        capability=call.tool.capability,
        risk_layer=call.tool.risk_layer,
        action_class=call.action_class,
        value_micro_usd=call.value.spend_micro_usd,
        returns_to_golem=returns_to_golem(call),
        is_venue_trusted=call.is_venue_trusted,
    )
    asks = (call.effect is not None and call.effect.needs_owners) or _meets_risky_hook(call)
    return RiskTier.HIGH if asks and is_riskier(RiskTier.HIGH, than=tier) else tier


def _meets_risky_hook(call: HookCall) -> bool:
    if call.plan is None or (call.action_class in LEAVING and call.tool.category is Category.LP):
        return False
    return any(hook.is_risky for hook in call.plan.hooks)


def check_tier_holds(*, call: HookCall, permit: ActionPermit) -> None:
    """A permit covers the tier it was given for; a venue that lost trust, or a price, may have raised it since.

    Raises PolicyChanged.
    """
    tier = classify_call(call)
    if is_riskier(tier, than=RiskTier(permit.risk_tier)):
        raise PolicyChanged(
            f"this call is {tier} now, and its permit was given for {permit.risk_tier}", permit_id=str(permit.pk)
        )
