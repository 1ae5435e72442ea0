"""Payers: one whose owner listed nobody, and one that can pay at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import make_live_golem
from tests.tools_app.protocols.x402.payee import Payee
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock
from tools_app.protocols.x402.addresses import NAME
from tools_app.toolkit.registry import REGISTRY


@pytest.fixture
def stranger(transactional_db: None, local_chain: World) -> Iterator[Payer]:
    """A payer whose owner listed no payee."""
    assert local_chain.protocols["x402"]
    live = make_live_golem(local_chain)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.get_or_create(
            golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
        )
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        yield Payer(live, Agent(golem=live.golem, key=live.key, client=Client()), Payee(local_chain))
    finally:
        app.conf.task_always_eager = was_eager


@pytest.fixture
def payer(stranger: Payer) -> Payer:
    """One whose owner listed the payee, and whose Permit2 may take ten dollars."""
    stranger.list_payee()
    stranger.approve()
    return stranger
