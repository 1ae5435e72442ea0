"""Agents that keep positions: they lend, borrow, stake, keep shares, give liquidity, and take each back.

Each job is a body of preview_action with an amount of its own: no two actions are equal. What a golem cannot do right
now (nothing lent yet, nothing owed any more) its tool refuses, which is an answer like any other.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import connection

from archetypes_app.models import ApiKey, Golem, ToolProfile
from permits_app.doors.decide_change import decide_change
from permits_app.models import ChangeRequest
from permits_app.models.approval import ChangeState, Verdict
from tests.catalogue.shelf import Filed, find_write, load_cases
from tests.proof.loaded.people import Client, make_golem, next_code
from tools_app.core import clock
from tools_app.core.errors import GolemError

ETH: Final = 10**18
USD: Final = 10**6
WORLDS: Final = ("aave_v3", "erc4626", "lido", "morpho", "rocketpool", "spark")
"""The protocols that the jobs need on the local chain, beside Uniswap."""
PURSE: Final = {"USDC": 20_000 * USD, "WETH": 5 * ETH, "DAI": 5_000 * ETH}
COINS: Final = 20 * ETH

Draw = Callable[[random.Random], dict[str, Any]]


def _between(name: str, least: int, most: int) -> Draw:
    """Another amount each time, so that it equals no other."""
    return lambda chance: {name: str(chance.randrange(least, most))}


def _as_it_is(_: random.Random) -> dict[str, Any]:
    return {}


_JOBS: Final[Mapping[str, Draw]] = {
    "aave_supply": _between("amount", ETH // 1_000, ETH // 10),
    "aave_withdraw": _between("amount", ETH // 1_000, ETH // 10),
    "aave_withdraw_all": _as_it_is,
    "aave_borrow": _between("amount", USD, 50 * USD),
    "aave_repay": _between("amount", USD, 50 * USD),
    "aave_repay_all": _as_it_is,
    "spark_supply": _between("amount", ETH // 1_000, ETH // 10),
    "spark_withdraw": _between("amount", ETH // 1_000, ETH // 10),
    "spark_borrow": _between("amount", ETH, 50 * ETH),
    "spark_repay": _between("amount", ETH, 50 * ETH),
    "morpho_supply_market": _between("amount", USD, 500 * USD),
    "morpho_withdraw_market": _between("amount", USD, 500 * USD),
    "vault_deposit": _between("amount", USD, 500 * USD),
    "vault_withdraw": _between("shares", USD, 500 * USD),
    "lido_stake": _between("amount", ETH // 1_000, ETH // 10),
    "lido_unwrap": _between("amount", ETH // 1_000, ETH // 20),
    "rocketpool_stake": _between("amount", ETH // 10, ETH // 5),
    "rocketpool_unstake": _between("amount", ETH // 1_000, ETH // 20),
    "uniswap_lp_add_liquidity": _between("amount0", ETH // 100, ETH // 10),
    "uniswap_execute_swap": _between("amount", USD, 100 * USD),
}
_JOBS_OF_LIQUIDITY: Final[Mapping[str, Draw]] = {
    "uniswap_lp_increase_liquidity": _between("amount0", ETH // 100, ETH // 20),
    "uniswap_lp_remove_liquidity": _as_it_is,
    "uniswap_lp_remove_all": _as_it_is,
}
NOT_NOW: Final = frozenset(
    {
        "LENDING_NOTHING_THERE",
        "HEALTH_TOO_LOW",
        "INSUFFICIENT_BALANCE",
        "VAULT_SHARES_MISSING",
        "MORPHO_MORE_THAN_THERE_IS",
        "POSITION_NOT_FOUND",
        "POSITION_EMPTY",
        # A position opened meanwhile relies on an oracle that the permit was not bound to.
        "CODE_CHANGED",
        "SAME_ACTION_PENDING",
        # What permits beside it may take is not there for this one as well.
        "TAKEN_BESIDE",
        "POLICY_REJECTED",
        "SAFETY_SIMULATION_FAILED",
        "PERMIT_NOT_COMMITTABLE",
    }
)
"""What an agent is told that takes back what is not there, or what another agent of its golem was quicker with."""


@cache
def _cases() -> Mapping[str, Filed]:
    return load_cases()


def make_rich_golem(owner: User) -> Golem:
    """One with every tool and something of everything."""
    golem = make_golem(owner, "Jobs", wei=COINS, funds=PURSE)
    golem.profiles.set(ToolProfile.objects.filter(name="full"))
    return golem


def draw_body(chance: random.Random, positions: Sequence[str]) -> dict[str, Any]:
    """A job's body. `positions` are ids of liquidity that the golem may have."""
    jobs = {**_JOBS, **(_JOBS_OF_LIQUIDITY if positions else {})}
    name = chance.choice(sorted(jobs))
    case = _cases()[name].case
    params = {**case.params, **jobs[name](chance)}
    if "position_id" in params:
        params["position_id"] = chance.choice(positions)
    tool = find_write(case)
    return {"action_type": tool.key, "venue": tool.venue, **params}


@dataclass
class Keeper(Client):
    """An agent's loop over all jobs, drawn by its seed."""

    seed: int = 0
    positions: list[str] = field(default_factory=list)
    """Ids of liquidity, shared by the agents of one golem."""
    accepted: frozenset[str] = NOT_NOW

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def next_body(self) -> dict[str, Any]:
        """Any job."""
        return draw_body(self._chance, self.positions)

    def note(self, permit: Mapping[str, Any]) -> None:
        """Liquidity that was given can be taken back."""
        super().note(permit)
        if permit["tool"] == "uniswap_lp_add_liquidity" and permit["status"] == "COMMITTED":
            self.positions.append(str(permit["result"]["data"]["position_id"]))


@dataclass
class Approver:
    """An owner who agrees to every permit that waits for owners."""

    golem: Golem
    owner: User
    done: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def run(self, is_over: threading.Event) -> None:
        """Look for them five times a second."""
        try:
            while not is_over.wait(0.2):
                for request in ChangeRequest.objects.filter(
                    golem=self.golem, permit__isnull=False, state=ChangeState.OPEN
                ):
                    self._approve(request)
        finally:
            connection.close()

    def _approve(self, request: ChangeRequest) -> None:
        try:
            decide_change(
                request_id=request.pk,
                owner=self.owner,
                verdict=Verdict.APPROVE,
                reason="load",
                code=next_code(self.owner),
                seen_digest=request.digest,
                now=clock.now(),
            )
            self.done["approved"] += 1
        except GolemError as error:
            self.failures.append(f"approve: {error.code} {error.detail}")


def show_every_tool(golems: Sequence[Golem]) -> None:
    """Their keys are shown every tool, as an agent's is that has no ceiling."""
    ApiKey.objects.filter(golem__in=golems).update(most_tools=None)
