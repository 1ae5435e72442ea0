"""Several nodes of one chain as one: the first healthy one answers, the next takes over when it does not.

Reads are tried again elsewhere, because asking twice does no harm. Anything else is tried elsewhere only when
nothing can have left this process. A node that fails repeatedly rests for a while, one that says when it wants to be
asked again (Retry-After) until then; one whose head is behind what another node showed is passed over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tools_app.chain.networks import Network
from tools_app.chain.node_errors import (
    BlockUnavailable,
    RpcLagging,
    RpcMethodMissing,
    RpcNonsense,
    RpcRateLimited,
    RpcRefused,
    RpcTimeout,
    RpcUnavailable,
)
from tools_app.chain.rpc import READ_METHODS, RpcEndpoint, RpcLimits, RpcReply, RpcRequest, parse_quantity
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError

_NODE_FAILED: Final = (RpcUnavailable, RpcTimeout, RpcNonsense, RpcRateLimited)
_ANOTHER_NODE_MAY_HAVE_IT: Final = (BlockUnavailable, RpcMethodMissing, RpcRateLimited, RpcRefused, RpcTimeout)


@dataclass(frozen=True, slots=True)
class PoolRules:
    """When a node rests: after `failures` in a row, for `rest_ms`; and how many blocks behind is too far."""

    failures: int = 2
    rest_ms: int = 5_000
    lag_blocks: int = 3


@dataclass(slots=True)
class NodeHealth:
    """What the pool knows of one node. `resting_until_ms` is on the monotonic clock."""

    name: str
    failures: int = 0
    resting_until_ms: float = 0.0
    head: int | None = None
    last_error: str | None = None


@dataclass(slots=True)
class _Node:
    endpoint: RpcEndpoint
    health: NodeHealth = field(default_factory=lambda: NodeHealth(""))


class RpcPool:
    """The nodes of one chain, best first. Thread-safe."""

    def __init__(self, chain_id: int, endpoints: Sequence[RpcEndpoint], *, rules: PoolRules | None = None) -> None:
        if not endpoints:
            raise ValueError(f"chain {chain_id} has no node")
        self.chain_id = chain_id
        self._nodes = [_Node(endpoint, NodeHealth(endpoint.name)) for endpoint in endpoints]
        self._rules = rules or PoolRules()
        self._lock = threading.Lock()
        self._best_head = 0
        self._second: RpcPool | None = None
        self.is_second = False
        """Whether this is a second opinion: where a node beside the best one answers, it is asked first."""

    @classmethod
    def of_network(
        cls,
        network: Network,
        *,
        allowed_methods: frozenset[str] = READ_METHODS,
        limits: RpcLimits | None = None,
        rules: PoolRules | None = None,
    ) -> RpcPool:
        """A pool over the urls of `network`; `allowed_methods` is what it may ever send."""
        endpoints = [
            RpcEndpoint(
                url,
                chain_id=network.chain_id,
                name=f"{network.name} (node {index})",
                allowed_methods=allowed_methods,
                limits=limits,
            )
            for index, url in enumerate(network.rpc_urls, start=1)
        ]
        return cls(network.chain_id, endpoints, rules=rules)

    def second_opinion(self) -> RpcPool:
        """The same nodes, asked in another order: the one that `send` asks first comes after every other that is well.
        Of one node alone this very pool.
        """
        if len(self._nodes) == 1 or self.is_second:
            return self
        with self._lock:
            if self._second is None:
                second = RpcPool(self.chain_id, [node.endpoint for node in self._nodes], rules=self._rules)
                second._nodes, second.is_second = self._nodes, True
                self._second = second
            return self._second

    def __repr__(self) -> str:
        return f"<RpcPool chain {self.chain_id}, {len(self._nodes)} nodes>"

    def call(self, method: str, *params: Any, deadline: Deadline | None = None) -> Any:  # Any: a node's JSON
        """One result. Raises the typed node error, RpcUnavailable, RpcTimeout, RpcNonsense, RpcMethodRefused."""
        return self.send([RpcRequest(method, params)], deadline=deadline)[0].unwrap()

    def send(self, requests: Sequence[RpcRequest], *, deadline: Deadline | None = None) -> list[RpcReply]:
        """Replies in order, all from one node. Raises like `call`, but a node's error is in its reply."""
        self._nodes[0].endpoint.check_allowed(requests)
        is_read = all(request.method in READ_METHODS for request in requests)
        failure: GolemError | None = None
        partial: list[RpcReply] | None = None
        nodes = self._in_order()
        for position, node in enumerate(nodes):
            try:
                replies = self._ask(node, requests, deadline, nodes_left=len(nodes) - position, is_read=is_read)
            except _NODE_FAILED as error:
                failure = failure or error
                if not is_read and error.data.get("maybe_sent", False):
                    raise
                continue
            if not is_read or not any(isinstance(reply.error, _ANOTHER_NODE_MAY_HAVE_IT) for reply in replies):
                return replies
            partial = partial or replies
        if partial is not None:
            return partial
        if failure is None:
            raise RpcUnavailable(f"No node of chain {self.chain_id} answered", chain_id=self.chain_id)
        failure.data |= {"chain_id": self.chain_id, "nodes_tried": len(nodes)}
        raise failure

    def read_twice(
        self, requests: Sequence[RpcRequest], *, deadline: Deadline | None = None
    ) -> tuple[list[RpcReply], list[RpcReply]]:
        """Two readings: of two nodes where two answer, else one node's word twice. Reads only; raises like `call`."""
        if len(self._nodes) == 1:
            # Beside each other in one round trip: what changes between two answers shows in them as well.
            replies = self.send([*requests, *requests], deadline=deadline)
            return replies[: len(requests)], replies[len(requests) :]
        readings = self.readings(requests, deadline=deadline)
        first = next(readings)
        return first, next(readings, None) or self.send(requests, deadline=deadline)

    def readings(
        self, requests: Sequence[RpcRequest], *, deadline: Deadline | None = None, is_best_last: bool = False
    ) -> Iterator[list[RpcReply]]:
        """What each node says, best first or last, each asked when it is wanted; those left out that do not answer.

        Raises when none does.
        """
        self._nodes[0].endpoint.check_allowed(requests)
        failure: GolemError | None = None
        is_heard = False
        nodes = self._in_order()
        if is_best_last:
            nodes = [*nodes[1:], nodes[0]]
        for position, node in enumerate(nodes):
            try:
                replies = self._ask(node, requests, deadline, nodes_left=len(nodes) - position, is_read=True)
            except _NODE_FAILED as error:
                failure = failure or error
                continue
            is_heard = True
            yield replies
        if not is_heard:
            raise failure or RpcUnavailable(f"No node of chain {self.chain_id} answered", chain_id=self.chain_id)

    def latest_block(self, *, deadline: Deadline | None = None) -> dict[str, Any]:  # Any: a node's JSON
        """The head block as the node gives it, from a node that is not behind. Raises like `call`, RpcLagging."""
        request = [RpcRequest("eth_getBlockByNumber", ("latest", False))]
        behind: list[tuple[int, dict[str, object]]] = []
        failure: GolemError | None = None
        nodes = self._in_order()
        for position, node in enumerate(nodes):
            try:
                left = len(nodes) - position
                block = self._ask(node, request, deadline, nodes_left=left, is_read=True)[0].unwrap()
                if not isinstance(block, dict):
                    raise RpcNonsense(f"{node.health.name} has no latest block")
                head = parse_quantity(block.get("number"))
            except GolemError as error:
                failure = failure or error
                continue
            node.health.head = head
            if head + self._rules.lag_blocks >= self._best_head:
                self._best_head = max(head, self._best_head)
                return block
            behind.append((head, block))
        if not behind:
            raise failure or RpcUnavailable(f"No node of chain {self.chain_id} answered", chain_id=self.chain_id)
        if len(behind) < len(nodes):
            highest = max(head for head, _ in behind)
            raise RpcLagging(
                f"Every reachable node of chain {self.chain_id} is {self._best_head - highest} blocks behind",
                chain_id=self.chain_id,
                seen_block=self._best_head,
                node_block=highest,
            )
        # All nodes agree on less than was seen: the chain itself went back (a reset chain, a deep reorganisation).
        self._best_head, block = max(behind, key=lambda pair: pair[0])
        return block

    def health(self) -> tuple[NodeHealth, ...]:
        """What is known of each node, in configured order; for status pages."""
        return tuple(node.health for node in self._nodes)

    def _ask(
        self, node: _Node, requests: Sequence[RpcRequest], deadline: Deadline | None, *, nodes_left: int, is_read: bool
    ) -> list[RpcReply]:
        share = deadline
        if deadline is not None and nodes_left > 1:
            # A node that hangs must leave the next one time to answer.
            share = Deadline.after_ms(deadline.remaining_ms() / nodes_left)
        try:
            try:
                replies = node.endpoint.send(requests, deadline=share)
            except RpcUnavailable as error:
                # A kept connection that the node closed meanwhile looks like this once; a dead node looks so twice.
                if not is_read or not error.data.get("maybe_sent"):
                    raise
                replies = node.endpoint.send(requests, deadline=share)
        except _NODE_FAILED as error:
            self._note_failure(node, error)
            raise
        if node.health.failures:
            with self._lock:
                node.health.failures, node.health.resting_until_ms, node.health.last_error = 0, 0.0, None
        return replies

    def _note_failure(self, node: _Node, error: GolemError) -> None:
        with self._lock:
            node.health.failures += 1
            node.health.last_error = error.code
            wanted_ms = 1000 * int(error.data.get("retry_after_seconds", 0))
            if node.health.failures >= self._rules.failures or wanted_ms:
                node.health.resting_until_ms = clock.monotonic_ms() + max(self._rules.rest_ms, wanted_ms)

    def _in_order(self) -> list[_Node]:
        if len(self._nodes) == 1:
            return self._nodes
        now_ms = clock.monotonic_ms()
        well = [node for node in self._nodes if node.health.resting_until_ms <= now_ms]
        # Resting nodes stay at the end of the queue: when nothing else is left, an attempt beats a refusal.
        resting = [node for node in self._nodes if node.health.resting_until_ms > now_ms]
        return [*well[1:], *well[:1], *resting] if self.is_second else [*well, *resting]
