"""The likeliest mistakes at Convex and at Ethena, each over HTTP: code, words, what to do next, and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.catalogue.declared_refusals import list_declared
from tests.catalogue.door import CASES, Door
from tests.catalogue.shelf import find_write
from tests.tools_app.protocols.curve.test_convex import as_deployer
from tools_app.protocols.ethena.addresses import deployments as ethena

CHAIN_ID = 31_337
TEN = 10


@dataclass(frozen=True)
class Mistake:
    """A case that is asked after `before` was carried out and `deed` happened, and the code it is refused with."""

    case: str
    code: str
    params: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    deed: Callable[[Door], None] | None = None


def restrict(door: Door) -> None:
    susde, world = (ethena(CHAIN_ID) or {})["susde"], door.stage.world
    (role,) = world.rpc.read(susde, "FULL()", returns="(bytes32)")
    admin, kept_out = derive_account("ethena deployer"), door.stage.account
    world.transact(admin, susde, "restrict(bytes32,address,bool)", role, kept_out, True)


def shut_down(door: Door) -> None:
    as_deployer(door.stage.world, "shutdownPool(uint256)", 0)


MOMENTS = {
    "convex": (
        Mistake("convex_unstake_lp", "CURVE_LP_MISSING", before=("curve_add_liquidity",)),
        Mistake("convex_claim_rewards", "CONVEX_NOTHING_TO_CLAIM", before=("curve_add_liquidity",)),
        Mistake("convex_stake_lp", "CURVE_LP_MISSING", before=("convex_stake_lp",)),
        Mistake("convex_stake_lp", "CONVEX_POOL_SHUTDOWN", before=("curve_add_liquidity",), deed=shut_down),
    ),
    "ethena": (
        Mistake("ethena_unstake_usde", "VAULT_SHARES_MISSING"),
        Mistake("ethena_claim_unstaked", "NOTHING_COOLS_DOWN", before=("ethena_stake_usde",)),
        Mistake("ethena_unstake_usde", "COOLDOWN_WOULD_RESTART", before=("ethena_unstake_usde",)),
        Mistake("ethena_claim_unstaked", "COOLDOWN_NOT_OVER", before=("ethena_unstake_usde",)),
        Mistake("ethena_stake_usde", "STAKER_RESTRICTED", deed=restrict),
    ),
}
"""Mistakes that are one only at a moment, in an order in which the next finds what the one before left."""
WORLD_OF = {"convex": "curve", "ethena": "ethena"}


def say(name: str) -> tuple[Mistake, ...]:
    """Those that stand beside the cases or that a tool declares; whatever has to be there before is."""
    return tuple(
        Mistake(case, code, changes, filed.case.after)
        for case, filed in CASES.items()
        if case.startswith(name)
        for changes, code in (*filed.case.refuses, *list_declared(find_write(filed.case)))
    )


def is_refused(door: Door, mistake: Mistake) -> None:
    door.do(*mistake.before)
    if mistake.deed is not None:
        mistake.deed(door)
    before = door.stage.wallet()
    problem = door.preview(mistake.case, **mistake.params)
    assert problem.get("code") == mistake.code, (mistake, problem)
    assert 400 <= problem["http"] < 500 and problem["detail"] and problem["recovery"] and problem["title"], problem
    assert "permit_id" not in problem and door.stage.wallet() == before


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.protocols(WORLD_OF[name])) for name in MOMENTS])
def test_what_is_likely_to_be_asked_wrongly_is_refused_over_http(door: Door, name: str) -> None:
    # What the issuer does comes last: it is refused before anything else is looked at.
    for mistake in sorted((*MOMENTS[name], *say(name)), key=lambda each: each.deed is not None):
        is_refused(door, mistake)


def test_ten_mistakes_of_each_are_tried() -> None:
    for name, moments in MOMENTS.items():
        tried = {(each.case, each.code, str(each.params)) for each in (*moments, *say(name))}
        assert len(tried) >= TEN, name
        assert len({each.code for each in (*moments, *say(name))}) >= TEN // 2
