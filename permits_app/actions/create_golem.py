"""Create a golem with its limits and its cage, so that it is never without either. Appends GolemCreated.

What the environment says is the default for new golems: profiles, memory, wallet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
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
    owner: Any,  # Any: whoever is signed in, of the project's user model
    name: str,
    archetype: Archetype,
    profiles: Iterable[ToolProfile] | None,
    home_chain_id: int,
    base_asset: str,
    actor: str,
    now: datetime,
    gives_wallet: bool = True,
    other_chain_ids: Iterable[int] = (),
    limits: Mapping[str, int] = MappingProxyType({}),
    cage: Mapping[str, int] = MappingProxyType({}),
) -> Golem:
    """A golem without token or allowlist, with the limits new golems start with and the wallet GOLEM_WALLET_* gives.

    `limits` and `cage` are, by column, what of either begins otherwise.

    `profiles` None means what TOOL_PROFILE or GOLEM_PROFILE says; `gives_wallet` False leaves the wallet to the caller.
    Raises UnknownProfile, and what reading the configured wallet raises, before anything is made or after all is.
    """
    if gives_wallet:
        read_configured_wallet()
    chains = (home_chain_id, list(other_chain_ids))
    golem = _make(owner, name, archetype, profiles, chains, base_asset, limits, cage, actor, now)
    if gives_wallet:
        # Making a key takes a second of hashing, which no transaction should wait for.
        give_configured_wallet(golem=golem, actor=actor, now=now)
    return golem


@retry_aborted
def _make(
    owner: Any,  # Any: whoever is signed in, of the project's user model
    name: str,
    archetype: Archetype,
    profiles: Iterable[ToolProfile] | None,
    chains: tuple[int, list[int]],
    base_asset: str,
    limits: Mapping[str, int],
    cage: Mapping[str, int],
    actor: str,
    now: datetime,
) -> Golem:
    with transaction.atomic():
        golem = Golem.objects.create(
            owner=owner,
            name=name,
            archetype=archetype,
            home_chain_id=chains[0],
            other_chain_ids=chains[1],
            base_asset=base_asset,
            permit_ttl_seconds=settings.GOLEM_PERMIT_TTL_SECONDS,
            is_memory_enabled=settings.GOLEM_MEMORY_ENABLED,
        )
        golem.profiles.set(list_new_golem_profiles() if profiles is None else profiles)
        SpendingLimits.objects.create(golem=golem, **limits)
        PolicyCage.objects.create(golem=golem, **cage)
        audit_log.append(
            golem_id=golem.pk,
            event="GolemCreated",
            actor=actor,
            now=now,
            data={"name": name, "archetype": archetype.name, "profiles": sorted(p.name for p in golem.profiles.all())},
        )
    return golem
