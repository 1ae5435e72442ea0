"""A process of its own that simulates what it is told on standard input, and writes the result's bytes."""

from __future__ import annotations

import json
import sys

from tools_app.chain import chains, networks
from tools_app.core.clock import Deadline
from tools_app.core.hashing import canonical_bytes
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import select_engine
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import BlockRef


def main() -> None:
    """One request, one result."""
    told = json.load(sys.stdin)
    chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [told["url"]])])
    request = SimulationRequest(
        chain_id=31337,
        sender=told["sender"],
        calls=tuple(Call(to, bytes.fromhex(data), value, "call") for to, data, value in told["calls"]),
        watch=tuple((account, token) for account, token in told["watch"]),
        block=BlockRef(**told["block"]),
        wants_state_diff=True,
    )
    result = select_engine(31337, told["engine"]).run(request, deadline=Deadline.after_ms(60_000))
    sys.stdout.buffer.write(canonical_bytes(result.as_dict()))


if __name__ == "__main__":
    main()
