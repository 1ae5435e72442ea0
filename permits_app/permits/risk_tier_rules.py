"""RiskTier of one call from what it is and what it is worth. Pure."""

from __future__ import annotations

from tools_app.toolkit.enums import LEAVING, ActionClass, CapabilityTier, Category, RiskLayer, RiskTier

LARGE_SWAP_MICRO_USD = 50_000_000_000
LARGE_DEPOSIT_MICRO_USD = 100_000_000_000

_DEPOSITS = frozenset({Category.LENDING, Category.STAKING, Category.RESTAKING, Category.YIELD, Category.VAULT})
_ORDER = (RiskTier.ROUTINE, RiskTier.STANDARD, RiskTier.ELEVATED, RiskTier.HIGH, RiskTier.CRITICAL)


def classify_risk(
    *,
    category: Category,
    capability: CapabilityTier,
    risk_layer: RiskLayer,
    action_class: ActionClass,
    value_micro_usd: int,
    returns_to_golem: bool = True,
    is_venue_trusted: bool = True,
) -> RiskTier:
    """The tier of one call. `value_micro_usd` is the most it can spend; a write that spends nothing and takes no
    position (`READ_ONLY`: memory, alerts) is ROUTINE. A privileged call is CRITICAL whatever it is worth. At a venue
    whose outcomes were other than simulated a call is one tier higher; leaving it never is.
    """
    if capability is CapabilityTier.PRIVILEGED:
        return RiskTier.CRITICAL
    if capability is CapabilityTier.READ or action_class is ActionClass.READ_ONLY:
        return RiskTier.ROUTINE
    tier = _tier_of(category, risk_layer, value_micro_usd)
    if not returns_to_golem and action_class not in LEAVING:
        tier = max(tier, RiskTier.ELEVATED, key=_ORDER.index)
    if not is_venue_trusted:
        # There is always one above: what is CRITICAL was answered first.
        tier = _ORDER[_ORDER.index(tier) + 1]
    if action_class in LEAVING and returns_to_golem:
        tier = min(tier, RiskTier.STANDARD, key=_ORDER.index)
    return tier


def explain_tier(tier: RiskTier, *, capability: CapabilityTier | None, risk_layer: RiskLayer | None) -> str:
    """The rule by which a call of `tier` waits for owners, in words; `capability` and `risk_layer` are its tool's."""
    if tier is RiskTier.CRITICAL and capability is CapabilityTier.PRIVILEGED:
        return "a privileged tool is CRITICAL whatever the amount, and owners decide on CRITICAL"
    if tier is RiskTier.HIGH and risk_layer is RiskLayer.UNBOUNDED:
        return (
            "a tool of risk layer 3 (debt, leverage, other chains, strangers' code in pools) is HIGH whatever the"
            " amount, and owners decide on HIGH"
        )
    return f"owners decide on {tier.value}; a recipient, an unknown hook or a venue that lost trust raises the tier"


def is_riskier(tier: RiskTier, *, than: RiskTier) -> bool:
    """Whether `tier` is above another."""
    return _ORDER.index(tier) > _ORDER.index(than)


def needs_guardian(tier: RiskTier, value_micro_usd: int, hot_lane_micro_usd: int) -> bool:
    """Whether the safety-guardian must approve: from ELEVATED on, and above the hot lane whatever the tier."""
    return _ORDER.index(tier) >= _ORDER.index(RiskTier.ELEVATED) or value_micro_usd > hot_lane_micro_usd


def _tier_of(category: Category, risk_layer: RiskLayer, value_micro_usd: int) -> RiskTier:
    # Leverage, what crosses chains, and what runs a stranger's code inside a pool: their tools are of layer 3.
    if risk_layer is RiskLayer.UNBOUNDED:
        return RiskTier.HIGH
    if category in (Category.LP, Category.HOOK):
        return RiskTier.ELEVATED
    if category is Category.DERIVATIVES:
        return RiskTier.ELEVATED
    limit = LARGE_DEPOSIT_MICRO_USD if category in _DEPOSITS else LARGE_SWAP_MICRO_USD
    return RiskTier.ELEVATED if value_micro_usd > limit else RiskTier.STANDARD
