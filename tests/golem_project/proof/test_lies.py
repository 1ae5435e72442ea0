"""A slice of the table of lies: every kind of lie once, told while the part asks that it could hurt most."""

from __future__ import annotations

import pytest

from archetypes_app.actions.sync_builtins import sync_builtins
from tests.evm.world import World
from tests.proof.lies import Cell, Table, between

SLICE = (
    Cell("preview", "wrong chain"),
    Cell("preview", "batch reordered", "eth_call"),
    Cell("preview", "batch cut", "eth_getBlockByNumber"),
    Cell("commit", "nonce too high"),
    Cell("commit", "nonce too low"),
    Cell("commit", "reset", "eth_sendRawTransaction"),
    Cell("commit", "429", "eth_getTransactionCount"),
    Cell("follower", "receipt lying"),
    Cell("follower", "receipt of another transaction"),
    Cell("follower", "receipt dropped"),
    Cell("follower", "empty", "eth_getTransactionReceipt"),
    Cell("follower", "head that goes back"),
    Cell("sent", "receipt lying"),
    Cell("sent", "reset", "eth_getTransactionReceipt"),
    Cell("reconciler", "stale head"),
    Cell("reconciler", "500", "eth_getBlockByNumber"),
    Cell("reconciler", "wrong id", "eth_getTransactionCount"),
    Cell("heartbeat", "logs missing"),
    Cell("mirror", "logs missing"),
    Cell("mirror", "batch reordered", "eth_getLogs"),
    Cell("mirror", "500", "eth_getBlockByNumber"),
)


@pytest.mark.django_db
@pytest.mark.parametrize("cell", SLICE, ids=str)
def test_nothing_is_lost_doubled_or_frozen_once_the_lie_ends(local_chain: World, cell: Cell) -> None:
    sync_builtins()
    with between(local_chain.rpc_url) as (node, real):
        assert Table(node, real).find_wrong(cell) is None
        assert node.lies_told
