"""Create a golem with its limits and its cage, so that it is never without either. Appends GolemCreated.

What the environment says is the default for new golems: profiles, memory, wallet.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.profiles import list_new_golem_profiles
from permits_app.actions.give_configured_wallet import give_configured_wallet, read_configured_wallet
from permits_app.models import PolicyCage, SpendingLimits
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


def create_golem(
    *,
    owner: Any,
    name: str,
    archetype: Archetype,
    profiles: Iterable[ToolProfile] | None,
    home_chain_id: int,
    base_asset: str,
    actor: str,
    now: datetime,
    gives_wallet: bool = True,
    other_chain_ids: Iterable[int] = (),
) -> Golem:
    """A golem without token or allowlist, with the limits new golems start with and the wallet GOLEM_WALLET_* gives.

    `profiles` None means what TOOL_PROFILE or GOLEM_PROFILE says; `gives_wallet` False leaves the wallet to the caller.
    Raises UnknownProfile, and what reading the configured wallet raises, before anything is made or after all is.
    """
    if gives_wallet:
        read_configured_wallet()
    golem = _make(owner, name, archetype, profiles, home_chain_id, list(other_chain_ids), base_asset, actor, now)
    if gives_wallet:
        # Making a key takes a second of hashing, which no transaction should wait for.
        give_configured_wallet(golem=golem, actor=actor, now=now)
    return golem


@retry_aborted
def _make(
    owner: Any,
    name: str,
    archetype: Archetype,
    profiles: Iterable[ToolProfile] | None,
    home_chain_id: int,
    other_chain_ids: list[int],
    base_asset: str,
    actor: str,
    now: datetime,
) -> Golem:
    with transaction.atomic():
        golem = Golem.objects.create(
            owner=owner,
            name=name,
            archetype=archetype,
            home_chain_id=home_chain_id,
            other_chain_ids=other_chain_ids,
            base_asset=base_asset,
            permit_ttl_seconds=settings.GOLEM_PERMIT_TTL_SECONDS,
            is_memory_enabled=settings.GOLEM_MEMORY_ENABLED,
        )
        golem.profiles.set(list_new_golem_profiles() if profiles is None else profiles)
        SpendingLimits.objects.create(golem=golem)
        PolicyCage.objects.create(golem=golem)
        audit_log.append(
            golem_id=golem.pk,
            event="GolemCreated",
            actor=actor,
            now=now,
            data={"name": name, "archetype": archetype.name, "profiles": sorted(p.name for p in golem.profiles.all())},
        )
    return golem
