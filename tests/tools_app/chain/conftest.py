"""Readers of the world's node, and a chain table that is put back after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from tests.evm.world import World
from tools_app.chain import chains, networks
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline

OpenReader = Callable[[], PinnedReader]


@pytest.fixture
def chain_table() -> Iterator[None]:
    """Whatever a test configures is undone."""
    configured, settings = networks.configured_networks(), chains._settings
    yield
    chains.configure_chains(configured, settings)


@pytest.fixture
def open_reader(chain: World, chain_table: None) -> OpenReader:
    """Opens readers of the world, each pinned to the block that is newest when it is first used."""
    chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [chain.rpc_url])])
    return lambda: chains.open_reader(31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(10_000))


@pytest.fixture
def reader(open_reader: OpenReader) -> PinnedReader:
    return open_reader()
