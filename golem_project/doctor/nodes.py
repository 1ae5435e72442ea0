"""Asks each node for what the product needs of it: its chain, a head that moves, and the methods that are called."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from golem_project.doctor.findings import Finding, bad, good
from tools_app import runner
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import configured_networks
from tools_app.chain.rpc import RpcRequest
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError

_BUDGET_MS: Final = 5_000
_NOBODY: Final = "0x0000000000000000000000000000000000000001"
_HASH: Final = "0x" + "00" * 32
METHODS: Final = {
    "eth_getTransactionCount": (_NOBODY, "pending"),
    "eth_getBalance": (_NOBODY, "latest"),
    "eth_getCode": (_NOBODY, "latest"),
    "eth_getStorageAt": (_NOBODY, "0x0", "latest"),
    "eth_getTransactionReceipt": (_HASH,),
    "eth_feeHistory": ("0x1", "latest", [50]),
    "eth_getLogs": ({"fromBlock": "latest", "toBlock": "latest", "address": _NOBODY},),
    "eth_getProof": (_NOBODY, ["0x0"], "latest"),
}
_WISHED_FOR: Final = frozenset({"eth_getProof"})
"""Without it the product asks in another way."""


def examine_nodes(*, now: datetime) -> Iterator[Finding]:
    """Each configured chain."""
    for network in configured_networks():
        name = f"chain {network.chain_id}"
        try:
            head = runner.open_reader(network.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS)).block.number
            lacking = _list_lacking(network.chain_id)
        except GolemError as error:
            yield bad(name, error.detail, f"set GOLEM_RPC_URL_{network.chain_id} to nodes that serve it")
            continue
        needed = [method for method in lacking if method not in _WISHED_FOR]
        if needed:
            yield bad(name, f"its node does not answer {', '.join(needed)}", "use a node, or a plan of it, that does")
        else:
            more = f"; without {', '.join(lacking)}" if lacking else ""
            yield good(name, f"at block {head}, {len(METHODS) - len(lacking)} methods answer{more}")


def _list_lacking(chain_id: int) -> list[str]:
    requests = [RpcRequest(method, parameters) for method, parameters in METHODS.items()]
    replies = get_pool(chain_id).send(requests, deadline=Deadline.after_ms(_BUDGET_MS))
    lacking = []
    for request, reply in zip(requests, replies, strict=True):
        try:
            reply.unwrap()
        except GolemError:
            lacking.append(request.method)
    return lacking
