"""What tests of identities do again and again: register, speak, look at what is there."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.protocols.erc8004.protocol import PROTOCOL
from tools_app.toolkit.plan import PlanOutcome

ETH = 10**18
GIVE = "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)"


def registry(key: str) -> str:
    """One of the local registries."""
    found = PROTOCOL.address(CHAIN_ID, key)
    assert found is not None
    return found


def act(chain: World, account: Any, tool: str, **params: Any) -> PlanOutcome:
    """Plan with a tool and send its calls."""
    return run_plan(chain, account, call_tool(make_context(chain, address=account.address), tool, **params))


def ask(chain: World, tool: str, *, address: str | None = None, **params: Any) -> Any:
    """The JSON-ready answer of a read."""
    return answer_of(make_context(chain, address=address), tool, **params)


def register(chain: World, account: Any, **params: Any) -> str:
    """A new agent of the account; its id."""
    made = act(chain, account, "identity_register_agent", **{"name": "Night watch", "registration": "{}", **params})
    return str(report_of("identity_register_agent", made)["agent_id"])


def register_raw(chain: World, account: Any, uri: str) -> str:
    """An agent with whatever a stranger writes for its address."""
    chain.transact(account, registry("identity"), "register(string)", uri, gas=12_000_000)
    newest = ask(chain, "identity_discover_agents", limit=1)
    return str(newest["agents"][0]["agent_id"])


def as_data(document: Any) -> str:
    """A document on the chain itself."""
    return "data:application/json;base64," + base64.b64encode(json.dumps(document).encode()).decode()


def speak(chain: World, agent_id: str, value: int, *, tag1: str = "starred", tag2: str = "", client: Any = None) -> Any:
    """A client's word about an agent; the client."""
    client = client or chain.new_account(ETH)
    number = int(agent_id.partition(":")[2])
    chain.transact(client, registry("reputation"), GIVE, number, value, 0, tag1, tag2, "", "", bytes(32))
    return client
