"""Two nodes of one chain in one pool: what each of them says is heard, and the word of one alone decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from permits_app.errors import NonceUnsettled
from permits_app.execution import confirm_transaction, nonce_readings
from permits_app.execution.nonce_readings import Counts
from tests.tools_app.chain.nodes import Node, answering, closed_port_url, serve
from tools_app.chain import chains, networks
from tools_app.chain.node_errors import RpcUnavailable
from tools_app.chain.rpc import RpcRequest
from tools_app.core.clock import Deadline

CHAIN_ID = 31337
ACCOUNT = "0x" + "11" * 20
HEAD = [RpcRequest("eth_blockNumber")]


class OneNode:
    """What one node says of the chain: its head, the account's nonces, and the hash of a block by its number."""

    def __init__(self, *, head: int = 20, mined: int = 7, pending: int | None = None, mark: str = "aa") -> None:
        self.head, self.mined, self.mark = head, mined, mark
        self.pending = mined if pending is None else pending

    def answer(self, requests: list[dict[str, Any]]) -> Any:
        table = {
            "eth_blockNumber": hex(self.head),
            "eth_getTransactionCount": lambda _, tag: hex(self.mined if tag == "latest" else self.pending),
            "eth_getBlockByNumber": self._block,
        }
        return answering(table)(requests)

    def _block(self, number: str, _: bool) -> dict[str, str] | None:
        asked = int(number, 16)
        block = {"number": number, "hash": "0x" + self.mark * 31 + f"{asked:02x}", "timestamp": "0x1"}
        return block if asked <= self.head else None


Serve = Callable[..., list[Node]]


@pytest.fixture
def pool_of() -> Iterator[Serve]:
    """Serves nodes as those of the one chain, best first; None stands for one that is down."""
    configured, settings = networks.configured_networks(), chains._settings
    with ExitStack() as stack:

        def make(*nodes: OneNode | None) -> list[Node]:
            served = [stack.enter_context(serve(node.answer)) if node else None for node in nodes]
            urls = [each.url if each else closed_port_url() for each in served]
            chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[CHAIN_ID], urls)])
            return [each for each in served if each]

        yield make
    chains.configure_chains(configured, settings)


def soon() -> Deadline:
    return Deadline.after_ms(10_000)


def read_counts(known: int = 0) -> Counts:
    return nonce_readings.read_counts(
        chain_id=CHAIN_ID, address=ACCOUNT, is_of_operations=False, known=known, deadline=soon()
    )


def heads(readings: Any) -> list[str]:
    return [replies[0].unwrap() for replies in readings]


def test_two_readings_are_of_two_nodes_and_a_third_is_of_nobody(pool_of: Serve) -> None:
    first, second = pool_of(OneNode(head=20), OneNode(head=19))
    pool = chains.get_pool(CHAIN_ID)
    assert heads(pool.read_twice(HEAD, deadline=soon())) == ["0x14", "0x13"]
    assert first.asked.count("eth_blockNumber") == second.asked.count("eth_blockNumber") == 1
    assert heads(pool.readings(HEAD, deadline=soon(), is_best_last=True)) == ["0x13", "0x14"]


@pytest.mark.parametrize("down", [0, 1])
def test_where_one_node_is_down_the_other_is_read_twice(pool_of: Serve, down: int) -> None:
    nodes: list[OneNode | None] = [OneNode(mined=7), OneNode(mined=7)]
    nodes[down] = None
    [alive] = pool_of(*nodes)
    assert heads(chains.get_pool(CHAIN_ID).read_twice(HEAD, deadline=soon())) == ["0x14"] * 2
    assert alive.asked.count("eth_blockNumber") == 2
    assert read_counts() == Counts(7, 7)


def test_where_every_node_is_down_the_readings_raise(pool_of: Serve) -> None:
    pool_of(None, None)
    with pytest.raises(RpcUnavailable):
        chains.get_pool(CHAIN_ID).read_twice(HEAD, deadline=soon())
    with pytest.raises(RpcUnavailable):
        read_counts()


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("told", [12, 6])
def test_a_nonce_of_which_one_of_two_nodes_lies_is_not_settled(pool_of: Serve, liar: int, told: int) -> None:
    nodes = [OneNode(mined=7), OneNode(mined=7)]
    nodes[liar].mined = nodes[liar].pending = told
    pool_of(*nodes)
    with pytest.raises(NonceUnsettled) as refused:
        read_counts()
    assert refused.value.data["clears"] == "two readings that agree"
    nodes[liar].mined = nodes[liar].pending = 7
    assert read_counts() == Counts(7, 7)


def test_a_node_that_is_one_block_behind_is_waited_for_and_believed_once_it_has_the_block(pool_of: Serve) -> None:
    ahead, behind = OneNode(head=20, mined=8), OneNode(head=19, mined=7, pending=8)
    late = behind.answer
    asked = 0

    def catch_up(requests: list[dict[str, Any]]) -> Any:
        nonlocal asked
        asked += any(request["method"] == "eth_getTransactionCount" for request in requests)
        if asked == 2:
            behind.head, behind.mined = 20, 8
        return late(requests)

    behind.answer = catch_up  # type: ignore[method-assign]
    pool_of(ahead, behind)
    assert read_counts() == Counts(8, 8)
    assert asked == 2


def test_what_we_sent_ourselves_may_have_reached_one_node_alone(pool_of: Serve) -> None:
    pool_of(OneNode(mined=7, pending=9), OneNode(mined=7, pending=7))
    with pytest.raises(NonceUnsettled):
        read_counts()
    # The lower of the two: our own next nonce is known, so nothing is given out twice.
    assert read_counts(known=9) == Counts(7, 7)


def test_a_block_on_which_two_nodes_differ_is_left_out_and_the_lower_head_counts(pool_of: Serve) -> None:
    honest, liar = OneNode(head=20), OneNode(head=18, mark="bb")
    pool_of(honest, liar)
    assert confirm_transaction.find_block_hashes(CHAIN_ID, [10, 19, 25], deadline=soon()) == ({25: None}, 18)
    liar.mark = "aa"
    found, head = confirm_transaction.find_block_hashes(CHAIN_ID, [10, 19, 25], deadline=soon())
    assert (set(found), head) == ({10, 25}, 18)
