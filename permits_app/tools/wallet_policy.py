"""`wallet_configure_policy`: an agent asks its owners for another policy; what they approve is done once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from django.db import transaction
from pydantic import Field

from archetypes_app.models import Golem
from permits_app.actions.carry_out_wish import carry_out_wish
from permits_app.actions.request_change import WISH
from permits_app.approvals.policy_templates import PolicyTemplate, limit_of_template
from permits_app.approvals.wallet_policy import PolicyWish, build_policy_wish
from permits_app.models import ChangeRequest, SpendingLimits
from permits_app.tools.wallet import wallet
from tools_app.core.units import format_micro_usd, usd_to_micro
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import RiskLayer, TickBudget
from tools_app.toolkit.params import ContractAddresses, MicroUsdText
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.result import UsdAmount

PolicyTemplateName = Annotated[
    PolicyTemplate,
    Field(
        description="read-only: nothing is written or spent. defi-trading: this server's default limits and a strict"
        " list of the home chain's tokens and trading contracts."
    ),
]
ChainIds = Annotated[
    list[int],
    Field(min_length=1, max_length=10, description="Chain ids; nothing stays allowed on another chain."),
    Meaning.ANY_ORDER,
]


@dataclass(frozen=True, slots=True)
class ConfiguredPolicy:
    """What the owners approved. `policy_hash` names the request's policy; `is_on_chain`: the golem's contract changes
    by the owners' own transaction, which follows.
    """

    request_id: str
    policy_hash: str
    template: str | None
    allowed_contracts: tuple[str, ...]
    spending_limit_usd: UsdAmount
    chain_restrictions: tuple[int, ...]
    is_on_chain: bool


def preview_policy(
    ctx: WriteContext,
    policy_template: PolicyTemplateName | None = None,
    allowed_contracts: ContractAddresses | None = None,
    spending_limit_usd: MicroUsdText | None = None,
    chain_restrictions: ChainIds | None = None,
) -> LocalEffect:
    """The wish in words, and the operation its owners are asked for."""
    limit = usd_to_micro(spending_limit_usd) if spending_limit_usd is not None else None
    wish = build_policy_wish(
        golem=Golem.objects.select_related("owner", "archetype").get(pk=ctx.golem.id),
        chain=ctx.chain(),
        now=ctx.now,
        wish=PolicyWish(policy_template, allowed_contracts or (), limit, chain_restrictions or ()),
    )
    parts = [f"the template {policy_template}"] if policy_template else []
    parts += [f"{len(allowed_contracts)} contracts allowed"] if allowed_contracts else []
    parts += [f"at most {format_micro_usd(limit)} per transaction"] if limit is not None else []
    parts += [f"nothing outside chain {' and '.join(map(str, chain_restrictions))}"] if chain_restrictions else []
    where = " on chain and here" if wish["name"] == "cage" else ""
    return LocalEffect(f"asks the owners for: {', '.join(parts)}{where}", {WISH: wish})


@wallet.local_write(
    budget=TickBudget.SLOW,
    in_database=True,
    risk=RiskLayer.BOUNDED,
    preview=preview_policy,
    privileged=True,
    snippet=(
        "configure_policy: ask your owners for a policy by name, for contracts, for what one transaction may spend or"
        " for fewer chains; they decide, with a second factor and where there is a contract with their own signature."
    ),
    guidelines=(
        "Ask once and give the owners time; an equal wish is folded into the one that waits.",
        "Go on under the policy you have; nothing changes before they approved, and a loosening waits after that.",
    ),
)
def wallet_configure_policy(
    ctx: WriteContext,
    capability: Capability,
    policy_template: PolicyTemplateName | None = None,
    allowed_contracts: ContractAddresses | None = None,
    spending_limit_usd: MicroUsdText | None = None,
    chain_restrictions: ChainIds | None = None,
) -> ConfiguredPolicy:
    """Ask the golem's owners for another wallet policy: a template, contracts, dollars per transaction, chains.

    Use when a limit keeps you from what your owners want of you. Always needs the owners' approval. Where the golem has
    a contract on chain its rules change too, signed by the owners themselves.
    Does not change anything by itself, and has no templates for vaults.
    """
    ctx.step("Reading the policy")
    with transaction.atomic():
        request = ChangeRequest.objects.select_related("golem").get(permit_id=capability.permit_id)
        is_on_chain = carry_out_wish(request=request, now=ctx.now)
        limits = SpendingLimits.objects.get(golem_id=ctx.golem.id)
    asked = limits.per_transaction_micro_usd
    if spending_limit_usd is not None:
        asked = usd_to_micro(spending_limit_usd)
    elif policy_template is not None:
        asked = limit_of_template(policy_template)
    return ConfiguredPolicy(
        request_id=str(request.pk),
        policy_hash=request.policy_hash,
        template=policy_template,
        allowed_contracts=tuple(allowed_contracts or ()),
        spending_limit_usd=UsdAmount(asked),
        chain_restrictions=tuple(chain_restrictions or ()),
        is_on_chain=is_on_chain,
    )
