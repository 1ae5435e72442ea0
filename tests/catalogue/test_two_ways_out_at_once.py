"""At every protocol of the shelf: of two ways out that together take more than there is, or leave a debt on too little,
the second is not permitted while the first may still be carried out; what both leave room for is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from golem_project.embedded.world.protocols import find_protocol_worlds
from tests.catalogue.door import CASES, Door
from tools_app.toolkit.protocol import SHELF

ETH, USD = 10**18, 10**6

ONLY_COMES: Final = {"across": "no call takes out what is on its way: it comes by itself, or never"}
"""Protocols without a way out that anybody could take twice, with the reason."""

AT_ONCE: Final[dict[str, tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]]] = {
    # How it is left, and after what; with what first, with what that is too much then, with what that is not.
    "aave_v3": (
        "aave_supply",
        "aave_withdraw",
        {"amount": str(3 * ETH)},
        {"amount": str(31 * ETH // 10)},
        {"amount": str(ETH // 2)},
    ),
    "spark": (
        "spark_supply",
        "spark_withdraw",
        {"amount": str(12 * ETH // 10)},
        {"amount": str(13 * ETH // 10)},
        {"amount": str(ETH // 2)},
    ),
    "morpho": (
        "morpho_supply_market",
        "morpho_withdraw_market",
        {"amount": str(12_000 * USD)},
        {"amount": str(13_000 * USD)},
        {"amount": str(5_000 * USD)},
    ),
    "compound_v3": (
        "compound_v3_supply",
        "compound_v3_withdraw",
        {"amount": str(12_000 * USD)},
        {"amount": str(13_000 * USD)},
        {"amount": str(5_000 * USD)},
    ),
    "moonwell": (
        "moonwell_supply",
        "moonwell_withdraw",
        {"amount": str(12_000 * USD)},
        {"amount": str(13_000 * USD)},
        {"amount": str(5_000 * USD)},
    ),
    "erc4626": (
        "vault_deposit",
        "vault_withdraw",
        {"shares": str(6_000 * USD)},
        {"shares": str(7_000 * USD)},
        {"shares": str(3_000 * USD)},
    ),
    "sushi_bar": (
        "sushi_bar_enter",
        "sushi_bar_leave",
        {"shares": str(6_000 * ETH)},
        {"shares": str(7_000 * ETH)},
        {"shares": str(3_000 * ETH)},
    ),
    "ethena": (
        "ethena_stake_usde",
        "ethena_unstake_usde",
        {"amount": str(6_000 * ETH)},
        {"amount": str(7_000 * ETH)},
        {"amount": str(3_000 * ETH)},
    ),
    "eigenlayer": (
        "eigenlayer_deposit_lst",
        "eigenlayer_queue_withdrawal",
        {"shares": [str(600 * ETH)]},
        {"shares": [str(700 * ETH)]},
        {"shares": [str(300 * ETH)]},
    ),
    "yearn": (
        "yearn_deposit",
        "yearn_withdraw",
        {"shares": str(6_000 * USD)},
        {"shares": str(7_000 * USD)},
        {"shares": str(3_000 * USD)},
    ),
    "curve": (
        "curve_add_liquidity",
        "curve_remove_liquidity",
        {"lp_amount": str(16_000 * ETH)},
        {"lp_amount": str(17_000 * ETH)},
        {"lp_amount": str(5_000 * ETH)},
    ),
    "pendle": (
        "pendle_buy_pt",
        "pendle_sell_pt",
        {"amount": str(7_000 * ETH)},
        {"amount": str(8_000 * ETH)},
        {"amount": str(3_000 * ETH)},
    ),
    "liquid_restaking": (
        "lrt_deposit_kelp",
        "lrt_withdraw_kelp",
        {"amount": str(5 * ETH)},
        {"amount": str(6 * ETH)},
        {"amount": str(2 * ETH)},
    ),
    "lido": (
        "lido_stake_rebasing",
        "lido_unstake",
        {"amounts": [str(6 * ETH)]},
        {"amounts": [str(7 * ETH)]},
        {"amounts": [str(3 * ETH)]},
    ),
    "rocketpool": (
        "rocketpool_stake",
        "rocketpool_unstake",
        {"amount": str(5 * ETH)},
        {"amount": str(6 * ETH)},
        {"amount": str(2 * ETH)},
    ),
    "uniswap_v3": (
        "uniswap_lp_add_liquidity",
        "uniswap_lp_remove_liquidity",
        {"percent_to_remove": 60},
        {"percent_to_remove": 70},
        {"percent_to_remove": 30},
    ),
    "uniswap_v4": (
        "uniswap_lp_add_v4",
        "uniswap_lp_remove_liquidity",
        {"percent_to_remove": 60},
        {"percent_to_remove": 70},
        {"percent_to_remove": 30},
    ),
    "uniswap_v2": (
        "",
        "uniswap_lp_remove_shares",
        {"percent_to_remove": 60},
        {"percent_to_remove": 70},
        {"percent_to_remove": 30},
    ),
}
ON_COVER: Final[dict[str, tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]]] = {
    # The same of what stands under a debt: each alone leaves it at 1.50 or more.
    "aave_v3": (
        "aave_supply",
        "aave_borrow",
        {"amount": str(3_500 * USD)},
        {"amount": str(3_600 * USD)},
        {"amount": str(1_000 * USD)},
    ),
    "morpho": (
        "morpho_borrow_market",
        "morpho_withdraw_collateral",
        {"amount": str(3 * ETH)},
        {"amount": str(31 * ETH // 10)},
        {"amount": str(ETH // 10)},
    ),
    "compound_v3": (
        "compound_v3_cover",
        "compound_v3_borrow",
        {"amount": str(3_500 * USD)},
        {"amount": str(3_700 * USD)},
        {"amount": str(1_000 * USD)},
    ),
    "moonwell": (
        "moonwell_cover",
        "moonwell_borrow",
        {"amount": str(3_500 * USD)},
        {"amount": str(3_700 * USD)},
        {"amount": str(1_000 * USD)},
    ),
    "maker": (
        "maker_deposit_collateral",
        "maker_generate_dai",
        {"dai_amount": str(10_000 * ETH)},
        {"dai_amount": str(9_000 * ETH)},
        {"dai_amount": str(1_000 * ETH)},
    ),
}

LEFT_WHOLE: Final = {"uniswap_twamm": "uniswap_lp_cancel_twamm_order"}
"""What is left whole or not at all, by its way out: there is no part of it to take besides."""


def marked(names: Iterable[str]) -> list[Any]:
    """Each with what has to be on the chain for it."""
    worlds = find_protocol_worlds()
    return [pytest.param(name, marks=pytest.mark.protocols(*{name} & set(worlds)), id=name) for name in names]


@pytest.mark.parametrize("protocol", marked(AT_ONCE))
def test_two_ways_out_that_take_more_than_there_is_are_not_both_permitted(door: Door, protocol: str) -> None:
    before, way_out, first, too_much, little = AT_ONCE[protocol]
    refuse_second(door, before, way_out, first, too_much, little)


@pytest.mark.parametrize("protocol", marked(ON_COVER))
def test_two_that_leave_a_debt_on_too_little_together_are_not_both_permitted(door: Door, protocol: str) -> None:
    before, way_out, first, too_much, little = ON_COVER[protocol]
    refuse_second(door, before, way_out, first, too_much, little)


@pytest.mark.parametrize("protocol", marked(LEFT_WHOLE))
def test_what_is_left_whole_is_not_left_twice(door: Door, protocol: str) -> None:
    way_out = LEFT_WHOLE[protocol]
    door.stage.prepare(CASES[way_out].case)
    permit = door.preview(way_out)
    assert permit["http"] == 200, permit
    refused = door.preview(way_out, chain_id=31_337)
    assert refused["http"] == 409, refused
    door.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "other plans"})
    assert door.preview(way_out, chain_id=31_337)["http"] == 200


def refuse_second(
    door: Door, before: str, way_out: str, first: dict[str, Any], too_much: dict[str, Any], little: dict[str, Any]
) -> None:
    door.stage.prepare(CASES[way_out].case)
    if before:
        door.do(before)
    permit = door.preview(way_out, **first)
    assert permit["http"] == 200, permit
    refused = door.preview(way_out, **too_much)
    assert (refused["http"], refused["code"], refused["recovery"]) == (409, "TAKEN_BESIDE", "WAIT"), refused
    assert refused["waits_for"] == [permit["permit_id"]]
    passes = door.preview(way_out, **little)
    assert passes["http"] == 200, passes
    for each in (permit, passes):
        door.post("cancel_action", {"permit_id": each["permit_id"], "reason": "other plans"})
    alone = door.preview(way_out, **too_much)
    assert alone["http"] == 200, alone


def test_every_protocol_that_is_left_has_its_two_ways_out_at_once() -> None:
    named = {each.split("_v2")[0].split("_v3")[0] for each in (*AT_ONCE, *ON_COVER, *LEFT_WHOLE, *ONLY_COMES)}
    assert {each.name.split("_v3")[0] for each in SHELF if each.exits is not None} <= named
