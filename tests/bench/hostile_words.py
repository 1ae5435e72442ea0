"""How a stranger's words come to a golem's model by each of nine doors, through the code that carries them.

Names are those of tokens deployed on the local chain, governance is a governor's log, feedback is given at the
registry, own tools are modules that an owner brought, the web is a service's answer, an archive is a memory that was
taken over. The model meets them in the answer of a call it makes. What other agents and a person in a chat say is what
it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from memory_app.actions.store_episode import remember_episode
from permits_app.actions.approve_definition import approve_definition
from permits_app.actions.bring_definition import bring_definition
from tests.evm.governors import open_governor, propose
from tests.golem_project.outside.trading_api import TradingApi, trading_for
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.erc8004.registries import ETH, as_data, register_raw, speak
from tests.tools_app.sandbox.wat import answering
from tools_app.core import clock
from tools_app.toolkit.registry import REGISTRY

_TOOLS: Final = (
    "safety_validate_token",
    "intel_track_governance",
    "identity_get_agent_profile",
    "uniswap_api_get_quote",
)
_QUOTED: Final = {"token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
_OWN: Final = 'name = "{name}"\nsummary = "What a place says"\ndescription = "Tells what it says."\ncategory = "data"\n'
_QUERY: Final = "query_state"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model makes and whose answer holds the words."""

    tool: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class Doors:
    """The doors of one golem that has what it needs to look through them."""

    live: LiveGolem
    api: TradingApi
    used: int = 0

    def look_for(self, door: str, text: str) -> Call | None:
        """Put `text` where strangers of `door` write; the call that reads it, None where it is what is asked."""
        self.used += 1
        carry = _DOORS[door]
        return None if carry is None else carry(self, text)

    def name_token(self, text: str) -> Call:
        """A token whose contract calls itself so, as pools' tokens do too."""
        world = self.live.world
        deployer = world.actors.deployer
        token = world.deploy(deployer, "SimulatedToken", "(string,string,uint8)", text, f"T{self.used}", 18)
        return _read("safety_validate_token", token=token)

    def log_proposal(self, text: str) -> Call:
        """A proposal in a governor's log."""
        governor = open_governor(self.live.world, 1_000 + self.used)
        propose(self.live.world, governor, 1, text)
        return _read("intel_track_governance", governor=governor, lookback="1h")

    def give_feedback(self, text: str) -> Call:
        """A client's word about an agent, and the agent's own description."""
        world = self.live.world
        agent_id = register_raw(world, world.new_account(ETH), as_data({"name": text, "description": text}))
        speak(world, agent_id, 100, tag1=text)
        return _read("identity_get_agent_profile", agent_id=agent_id, include_feedback=True)

    def bring_tool(self, text: str) -> Call:
        """A module of the owner's that answers so."""
        # A golem has twenty at most; one of a name takes the place of the one before.
        name = f"place_{self.used % 10}"
        definition = bring_definition(
            owner=self.live.owner,
            definition_text=_OWN.format(name=name),
            module=answering(json.dumps({"data": text}, ensure_ascii=False)),
            now=clock.now(),
        )
        approve_definition(
            definition=definition,
            seen_hash=definition.definition_hash,
            golem_ids=[self.live.golem.pk],
            owner=self.live.owner,
            now=clock.now(),
        )
        return Call(_QUERY, {"query": name})

    def answer_from_web(self, text: str) -> Call:
        """A service whose answer says so where it names the route."""

        def say_so(made: dict[str, Any]) -> dict[str, Any]:
            made["quote"]["routeString"] = text
            return made

        self.api.twists["/quote"] = say_so
        return _read("uniswap_api_get_quote", **_QUOTED)

    def take_over(self, text: str) -> Call:
        """A memory of another golem's archive."""
        remember_episode(
            golem_id=self.live.golem.pk,
            tool_name="uniswap_execute_swap",
            action_type="",
            venue="uniswap",
            chain_id=self.live.golem.home_chain_id,
            tokens=[],
            prediction={},
            outcome={},
            summary=text,
            importance="base",
            provenance={"written_by": "import"},
            permit_id=None,
            now=clock.now(),
        )
        return Call("query_grimoire", {"query": text})


_DOORS: Final[dict[str, Callable[[Doors, str], Call] | None]] = {
    "token name": Doors.name_token,
    "pool name": Doors.name_token,
    "governance": Doors.log_proposal,
    "feedback": Doors.give_feedback,
    "own tool": Doors.bring_tool,
    "web": Doors.answer_from_web,
    "archive": Doors.take_over,
    "a2a": None,
    "chat": None,
}


@contextmanager
def open_doors(live: LiveGolem) -> Iterator[Doors]:
    """Give the golem the reads that look through them, and a service to ask."""
    for name in _TOOLS:
        ToolOverride.objects.get_or_create(golem=live.golem, tool_name=name, defaults={"mode": OverrideMode.INCLUDE})
    with trading_for(live.golem, live.world) as api:
        yield Doors(live, api)


def _read(name: str, **params: Any) -> Call:
    return Call(_QUERY, {"query": REGISTRY.get(name).key, **params})
