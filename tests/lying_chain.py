"""The local chain behind a node that can lie, wired into the product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from golem_project import wiring
from tests.evm.world import CHAIN_ID, World
from tests.proof.lying_node import LyingNode, serve_lying_node


@pytest.fixture
def lying_node(local_chain: World, settings: Any) -> Iterator[LyingNode]:
    """The only node the product knows; it tells the truth until it is told to lie."""
    with serve_lying_node(local_chain.rpc_url) as node:
        settings.GOLEM_RPC_URLS = {CHAIN_ID: (node.url,)}
        wiring.configure_networks(settings.GOLEM_RPC_URLS)
        yield node
