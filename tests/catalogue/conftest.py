"""The public door, for the tests that go through it, and a golem of both chains where a protocol lies between them."""

from __future__ import annotations

import pytest

from archetypes_app.models import Golem
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from tests.catalogue.door import door as door
from tests.live_golem import LiveGolem
from tests.second_chain import ON_BOTH, SECOND_ID
from tools_app.core import clock


@pytest.fixture
def live_golem(live_golem: LiveGolem, request: pytest.FixtureRequest) -> LiveGolem:
    """The suite's own, with the second chain beside its home where a test's protocols lie on both."""
    return spread(live_golem, request)


@pytest.fixture
def shared_golem(shared_golem: LiveGolem, request: pytest.FixtureRequest) -> LiveGolem:
    """The same of the one that others see too."""
    return spread(shared_golem, request)


def spread(live: LiveGolem, request: pytest.FixtureRequest) -> LiveGolem:
    """Have a golem act on both chains where a protocol of the test lies on both."""
    named = {key for mark in request.node.iter_markers("protocols") for key in mark.args}
    if named & ON_BOTH:
        request.getfixturevalue("both_chains")
        Golem.objects.filter(pk=live.golem.pk).update(other_chain_ids=[SECOND_ID])
        live.golem.refresh_from_db()
        choices = suggest_allowlist(SECOND_ID)
        allow_addresses(golem=live.golem, choices=choices, actor="system:test", now=clock.now())
    return live
