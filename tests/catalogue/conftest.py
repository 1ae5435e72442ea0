"""The public door, for the tests that go through it, and a golem of both chains where a protocol lies between them."""

from __future__ import annotations

import pytest

from archetypes_app.models import Golem
from tests.catalogue.door import door as door
from tests.live_golem import LiveGolem
from tests.second_chain import ON_BOTH, SECOND_ID


@pytest.fixture
def live_golem(live_golem: LiveGolem, request: pytest.FixtureRequest) -> LiveGolem:
    """The suite's own, with the second chain beside its home where a test's protocols lie on both."""
    named = {key for mark in request.node.iter_markers("protocols") for key in mark.args}
    if named & ON_BOTH:
        request.getfixturevalue("both_chains")
        Golem.objects.filter(pk=live_golem.golem.pk).update(other_chain_ids=[SECOND_ID])
        live_golem.golem.refresh_from_db()
    return live_golem
