"""An agent that may read, and the services it may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from golem_project.outside.access import switch_on
from tests.golem_project.outside.vendors import NAMES, Vendors, asked_instead
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tools_app.core import clock


@pytest.fixture
def vendors(settings: Any) -> Iterator[Vendors]:
    made = Vendors()
    with asked_instead(settings, made.answer):
        yield made


@pytest.fixture
def reader(make_agent: MakeAgent) -> Agent:
    """Its owner has switched nothing on."""
    return make_agent(categories=["intelligence"], home_chain_id=1)


@pytest.fixture
def asker(reader: Agent) -> Agent:
    """Its owner has switched on what takes no key."""
    for name in NAMES:
        switch_on(person=reader.golem.owner, name=name, key="", questions_an_hour=None, now=clock.now())
    return reader
