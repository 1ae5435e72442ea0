"""What agents do to positions: lend, borrow, stake, keep shares, give liquidity, and take each back.

Each job is a body of preview_action with an amount of its own: no two actions are equal. What a golem cannot do right
now (nothing lent yet, nothing owed any more) its tool refuses, which is an answer like any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.catalogue.shelf import find_write, load_cases

ETH: Final = 10**18
USD: Final = 10**6
WORLDS: Final = ("aave_v3", "erc4626", "lido", "morpho", "rocketpool", "spark")
"""The protocols that the jobs need on the local chain, beside Uniswap."""

Draw = Callable[[random.Random], dict[str, Any]]


def _between(name: str, least: int, most: int) -> Draw:
    """Another amount each time, so that it equals no other."""
    return lambda chance: {name: str(chance.randrange(least, most))}


def _as_it_is(_: random.Random) -> dict[str, Any]:
    return {}


_JOBS: Final[tuple[tuple[str, Draw], ...]] = (
    ("aave_supply", _between("amount", ETH // 1_000, ETH // 10)),
    ("aave_withdraw", _between("amount", ETH // 1_000, ETH // 10)),
    ("aave_withdraw_all", _as_it_is),
    ("aave_borrow", _between("amount", USD, 50 * USD)),
    ("aave_repay", _between("amount", USD, 50 * USD)),
    ("aave_repay_all", _as_it_is),
    ("spark_supply", _between("amount", ETH // 1_000, ETH // 10)),
    ("spark_withdraw", _between("amount", ETH // 1_000, ETH // 10)),
    ("spark_borrow", _between("amount", ETH, 50 * ETH)),
    ("spark_repay", _between("amount", ETH, 50 * ETH)),
    ("morpho_supply_market", _between("amount", USD, 500 * USD)),
    ("morpho_withdraw_market", _between("amount", USD, 500 * USD)),
    ("vault_deposit", _between("amount", USD, 500 * USD)),
    ("vault_withdraw", _between("shares", USD, 500 * USD)),
    ("lido_stake", _between("amount", ETH // 1_000, ETH // 10)),
    ("lido_unwrap", _between("amount", ETH // 1_000, ETH // 20)),
    ("rocketpool_stake", _between("amount", ETH // 10, ETH // 5)),
    ("rocketpool_unstake", _between("amount", ETH // 1_000, ETH // 20)),
    ("uniswap_lp_add_liquidity", _between("amount0", ETH // 100, ETH // 10)),
    ("uniswap_execute_swap", _between("amount", USD, 100 * USD)),
)
POSITIONED: Final = (
    ("uniswap_lp_increase_liquidity", _between("amount0", ETH // 100, ETH // 20)),
    ("uniswap_lp_remove_liquidity", _as_it_is),
    ("uniswap_lp_remove_all", _as_it_is),
)
CASES: Final = load_cases()


def draw_body(chance: random.Random, positions: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """A job's name and its body; those of `positions`, ids of the golem's liquidity, where there is one."""
    jobs = [*_JOBS, *(POSITIONED if positions else ())]
    names = [name for name, _ in jobs if name in CASES]
    name = chance.choice(names)
    case = CASES[name].case
    changes = dict(jobs)[name](chance)
    if "position_id" in case.params:
        changes["position_id"] = chance.choice(positions)
    tool = find_write(case)
    return name, {"action_type": tool.key, "venue": tool.venue, **case.params, **changes}
