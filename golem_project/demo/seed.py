"""Seeds the demo owner, golem, wallet, limits, allowlist, token and relayer; safe to repeat. Chain 31337 only."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group, User

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.actions.revoke_api_key import revoke_api_key
from archetypes_app.models import ApiKey, Archetype, Golem, Heartbeat, ToolOverride, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.golem import Maker
from archetypes_app.models.override import OverrideMode
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.heartbeat.owner_controls import save_heartbeat
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.custody.create_wallet import create_wallet
from permits_app.gas_relayer import create_relayer, find_relayer_address
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import PolicyCage, SpendingLimits
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

CHAIN_ID = 31337
OWNER_NAME = "demo"
GOLEM_NAME = "Demo golem"
KEY_LABEL = "demo agent"
_PASSWORD_FILE = "demo_password"  # noqa: S105  (a file's name)
_FIRST_FUNDS = {"USDC": 20_000 * 10**6, "WETH": 2 * 10**18, "DAI": 5_000 * 10**18}
_FIRST_WEI = 10 * 10**18
_RELAYER_WEI = 10**18
# A position a person sees at once, well inside the limits; the heartbeat rehearses it until the golem is set live.
_LIQUIDITY_RULE = {"token_a": "WETH", "token_b": "USDC", "fee_tier": 500, "target_micro_usd": 800_000_000}
_HEARTBEAT_SECONDS = 30


class DemoChainMissing(GolemError, status=503, recovery=Recovery.ASK_OWNER, title="The demo needs the local chain"):
    """The demo runs on the local chain only, and none is configured."""


@dataclass(frozen=True, slots=True)
class DemoSeed:
    """What the demo is played with. Password and token exist for the person at this machine alone."""

    golem: Golem
    owner_name: str
    password: str = field(repr=False)
    token: str = field(repr=False)


def seed_demo(*, now: datetime, with_token: bool) -> DemoSeed:
    """Create what is missing; with `with_token` a fresh token replaces the last demo token. Raises DemoChainMissing."""
    urls = settings.GOLEM_RPC_URLS.get(CHAIN_ID)
    if not urls:
        raise DemoChainMissing("no local chain is running; `make run` starts one")
    owner, password = _seed_owner()
    golem = _seed_golem(owner)
    if not golem.address:
        create_wallet(golem=golem, actor="system:seed", now=now)
        fund(urls[0], golem.address, _FIRST_WEI, _FIRST_FUNDS)
    allow_addresses(golem=golem, choices=suggest_allowlist(CHAIN_ID), actor="system:seed", now=now)
    _seed_heartbeat(golem, now)
    _seed_relayer(urls[0])
    token = _replace_token(golem, owner, now) if with_token else ""
    return DemoSeed(golem=golem, owner_name=OWNER_NAME, password=password, token=token)


def _seed_owner() -> tuple[User, str]:
    path = Path(settings.VAR_DIR) / _PASSWORD_FILE
    owner, is_new = User.objects.get_or_create(username=OWNER_NAME, defaults={"is_staff": True})
    if is_new or not path.exists():
        password = secrets.token_urlsafe(9)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(password)
        owner.set_password(password)
        owner.save()
    group = Group.objects.filter(name="Owners").first()
    if group is not None:
        owner.groups.add(group)
    return owner, path.read_text(encoding="utf-8").strip()


def _seed_golem(owner: User) -> Golem:
    golem, is_new = Golem.objects.get_or_create(
        owner=owner,
        name=GOLEM_NAME,
        defaults={
            "archetype": Archetype.objects.get(name="golem-instance"),
            "home_chain_id": CHAIN_ID,
            "made_by": Maker.DEMO,
        },
    )
    if is_new:
        golem.profiles.set(ToolProfile.objects.filter(name__in=["trader", "lp", "learning"]))
        for tool in (*REGISTRY.by_category(Category.WALLET), *REGISTRY.by_category(Category.TESTNET)):
            ToolOverride.objects.get_or_create(
                golem=golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
            )
        # The demo portfolio is small, so one position is a large share of it.
        PolicyCage.objects.get_or_create(
            golem=golem, defaults={"max_position_bps": 10_000, "max_concentration_bps": 10_000}
        )
        SpendingLimits.objects.get_or_create(golem=golem, defaults={"writes_per_hour": 600})
    return golem


def _seed_heartbeat(golem: Golem, now: datetime) -> None:
    """On, by rules, as a dry run; an owner who turned it off finds it off."""
    if not Heartbeat.objects.filter(golem=golem).exists():
        heartbeat = Heartbeat(
            golem=golem, is_on=True, base_interval_seconds=_HEARTBEAT_SECONDS, liquidity_rule=_LIQUIDITY_RULE
        )
        save_heartbeat(heartbeat=heartbeat, was_on=False, now=now)


def _seed_relayer(url: str) -> None:
    """The key that pays for what owners signed, with coins of this chain: an approval on chain works at once."""
    address = find_relayer_address() or create_relayer()
    node = JsonRpc(url)
    try:
        # A chain that was begun anew knows nothing of the coins that were given before.
        if int(node.call("eth_getBalance", address, "latest"), 16) < _RELAYER_WEI // 10:
            fund(node, address, _RELAYER_WEI, {})
    finally:
        node.close()


def _replace_token(golem: Golem, owner: User, now: datetime) -> str:
    for key in ApiKey.objects.filter(golem=golem, label=KEY_LABEL, revoked_at__isnull=True):
        revoke_api_key(key=key, revoked_by=owner, now=now)
    fresh = create_api_key(golem=golem, scopes=Scope.values, label=KEY_LABEL, created_by=owner, now=now)
    return fresh.token
