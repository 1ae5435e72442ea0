"""The bridge on the shelf of both chains, with a golem of both and a relayer: `crossing`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.value_golem import value_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import PendingRequest
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.made_up_bank.dropped_in import dropped_in
from tests.second_chain import SECOND_ID, make_spread_golem
from tools_app.chain.abi import checksum
from tools_app.core import clock

NAME = "made_up_bridge"
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")
_SOURCE = Path(__file__).parent
USDC = 10**6
USD = 1_000_000
SENT = 5_000 * USDC
LEAST = SENT - SENT // 1_000


class Crossing:
    """A golem of both chains, the bridge on each, and a relayer with money on the second."""

    def __init__(self, live: LiveGolem, worlds: tuple[World, World], bridges: tuple[str, str], slips: Any) -> None:
        self.live, self.worlds, self.bridges, self.slips = live, worlds, bridges, slips
        self.relayer = worlds[1].new_account(10**18, {"USDC": 100_000 * USDC})

    def ask(self, **more: Any) -> dict[str, Any]:
        body = {"token_in": None, "token_out": None, "venue": NAME, "action_type": "bridge_send", "token": "USDC"}
        return self.live.preview(**{**body, "amount": str(SENT), "to_chain_id": SECOND_ID, **more})

    def send(self) -> PendingRequest:
        done = self.live.commit(self.ask()["permit_id"])
        assert done["status"] == "COMMITTED", done
        return PendingRequest.objects.get(golem=self.live.golem)

    def worth(self, after: timedelta = timedelta()) -> int | None:
        held = value_golem(golem=self.live.golem, now=clock.now() + after)
        return None if held is None else held.nav_micro_usd

    def relay(self, row: PendingRequest) -> None:
        """As its relayer does, in a thread of its own with connections of its own."""
        world = World(self.worlds[1].rpc_url, chain_id=SECOND_ID)
        sent_on, number, token, least, by = row.ref.rpartition("/")[2].split("-")
        errors: list[BaseException] = []

        def pay() -> None:
            try:
                fill = "fill(uint256,uint256,address,uint256,address,uint256)"
                world.transact(self.relayer, token, "approve(address,uint256)", self.bridges[1], int(least))
                target = (int(sent_on), int(number), token, int(least), checksum(self.live.golem.address), int(by))
                world.transact(self.relayer, self.bridges[1], fill, *target)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=pay)
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive() and not errors, errors
        world.rpc.close()

    def look(self, after: timedelta = timedelta()) -> None:
        PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
        check_pending_requests(now=clock.now() + after)


@pytest.fixture
def crossing(db: None, both_chains: tuple[World, World], tmp_path: Path) -> Iterator[Crossing]:
    with dropped_in(NAME, _SOURCE, _FILES, tmp_path) as modules:
        bridges = tuple(each.deploy(each.actors.deployer, "MadeUpBridge") for each in both_chains)
        for chain_id, address in zip((CHAIN_ID, SECOND_ID), bridges, strict=True):
            modules["addresses"].DEPLOYED[chain_id] = {"bridge": address}
        live = make_spread_golem(both_chains[0])
        ToolOverride.objects.create(golem=live.golem, tool_name="bridge_send", mode=OverrideMode.INCLUDE)
        for chain_id in (CHAIN_ID, SECOND_ID):
            allow_addresses(golem=live.golem, choices=suggest_allowlist(chain_id), actor="system:test", now=clock.now())
        yield Crossing(live, both_chains, (bridges[0], bridges[1]), modules["tools"].SLIPS)
