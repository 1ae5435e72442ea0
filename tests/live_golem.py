"""A golem that can really act: wallet in a throw-away keystore, funds on the local chain, strict allowlist."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from archetypes_app.actions.create_api_key import NewApiKey, create_api_key
from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.override import OverrideMode
from golem_project import wiring
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from permits_app.custody.create_wallet import create_wallet
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, PolicyCage, SpendingLimits
from tests.builtin_rows import provide_builtins
from tests.evm.world import CHAIN_ID, World
from tools_app.core import clock
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

FUNDS = {"USDC": 20_000 * 10**6, "WETH": 2 * 10**18, "DAI": 5_000 * 10**18}
SWAP = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}


class LiveGolem:
    """Plays one golem's agent in process, without HTTP and queue."""

    def __init__(self, golem: Golem, owner: User, key: NewApiKey, world: World) -> None:
        self.golem = golem
        self.owner = owner
        self.key = key
        self.world = world

    def preview(self, **changes: Any) -> dict[str, Any]:
        """preview_action of the demo swap with `changes` (None removes a parameter)."""
        body = {name: value for name, value in {**SWAP, **changes}.items() if value is not None}
        return preview_action(golem_id=self.golem.pk, api_key_id=self.key.key.pk, body=body, now=clock.now())

    def start(self, permit_id: str) -> None:
        """Take a permit to COMMITTING."""
        start_commit(golem=self.golem, permit_id=UUID(permit_id), actor="key:test", now=clock.now())

    def work(self, permit_id: str) -> dict[str, Any] | None:
        """Run a worker's share of the commit."""
        return commit_permit(permit_id=UUID(permit_id))

    def commit(self, permit_id: str) -> dict[str, Any]:
        """The whole commit; the permit as agents see it."""
        self.start(permit_id)
        answer = self.work(permit_id)
        assert answer is not None, "another worker held the lease"
        return answer

    def permit(self, permit_id: str) -> ActionPermit:
        """The row."""
        return ActionPermit.objects.get(pk=permit_id)

    def balance(self, symbol: str) -> int:
        """Base units on the chain now."""
        token = self.world.tokens[symbol].address
        answer = self.world.rpc.read(token, "balanceOf(address)", self.golem.address, returns="(uint256)")
        return int(answer[0] if isinstance(answer, list | tuple) else answer)

    def mined_nonce(self) -> int:
        """How many of its transactions are mined."""
        return int(self.world.rpc.call("eth_getTransactionCount", self.golem.address, "latest"), 16)

    def wait_until_mined(self, count: int) -> None:
        """The node mines what it was sent, and what waited behind it, a moment later."""
        for _ in range(600):
            if self.mined_nonce() >= count:
                return
            time.sleep(0.05)
        pytest.fail(f"{self.mined_nonce()} of {count} transactions are mined")


def make_live_golem(world: World, *, name: str = "Live", owner_name: str = "owner-a") -> LiveGolem:
    """A new golem with its own new wallet."""
    now = clock.now()
    provide_builtins()
    owner, _ = User.objects.get_or_create(username=owner_name, defaults={"is_staff": True})
    golem = Golem.objects.create(
        name=name, owner=owner, archetype=Archetype.objects.get(name="golem-instance"), home_chain_id=CHAIN_ID
    )
    golem.profiles.set(ToolProfile.objects.filter(name__in=["trader", "lp", "learning"]))
    for tool in REGISTRY.by_category(Category.WALLET):
        ToolOverride.objects.create(golem=golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    PolicyCage.objects.create(golem=golem, max_position_bps=10_000, max_concentration_bps=10_000)
    SpendingLimits.objects.create(golem=golem, writes_per_hour=500)
    create_wallet(golem=golem, actor="system:test", now=now)
    golem.refresh_from_db()
    world.fund(golem.address, 10 * 10**18, FUNDS)
    allow_addresses(golem=golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=now)
    key = create_api_key(golem=golem, scopes=Scope.values, label="test", created_by=owner, now=now, most_tools=None)
    return LiveGolem(golem, owner, key, world)


@pytest.fixture
def local_chain(chain: World, settings: Any) -> Iterator[World]:
    """The local chain of this run, wired into the product."""
    settings.GOLEM_RPC_URLS = {CHAIN_ID: (os.environ["GOLEM_RPC_URL_31337"],)}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    yield chain
    wiring.configure_networks({})


@pytest.fixture
def live_golem(db: None, local_chain: World) -> LiveGolem:
    """One golem ready to act, in a test that is rolled back."""
    return make_live_golem(local_chain)


@pytest.fixture
def shared_golem(transactional_db: None, local_chain: World) -> LiveGolem:
    """One golem whose rows other threads and processes see."""
    return make_live_golem(local_chain)
