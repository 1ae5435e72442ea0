"""What an owner and an agent are told something at a yield is worth is told by two readings: what its protocol tells of
a share, a rate or a debt, and another that does not rest on it.

The other is what leaving really pays; for shares the price of an earlier block as well. Where they disagree the lower
counts, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.catalogue.looking import RawLook
from tests.catalogue.shelf import load_cases, symbols
from tests.catalogue.stage import Stage, open_stage
from tests.catalogue.test_yield_folders import FOLDERS, of_each_folder
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.liquid_restaking.issuers import pay_all
from tools_app.models import ShareMark
from tools_app.portfolio.holdings import JUMPED, HeldPosition
from tools_app.portfolio.share_price_donation_guard import note_all_shares
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.positions import Act, Wait
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE

CASES: Final = load_cases()
OPENS: Final[Mapping[str, tuple[str, ...]]] = {
    "pendle": ("pendle_buy_pt", "pendle_add_lp"),
    "yearn": ("yearn_deposit",),
    "ethena": ("ethena_stake_usde",),
    "maker": ("maker_generate_dai",),
    "spark": ("spark_supply", "spark_borrow"),
    "curve": ("curve_add_liquidity", "convex_stake_lp"),
    "eigenlayer": ("eigenlayer_deposit_lst",),
    "liquid_restaking": ("lrt_deposit_etherfi", "lrt_deposit_kelp", "lrt_deposit_renzo"),
    "erc4626": ("vault_deposit", "savings_deposit"),
    "compound_v3": ("compound_v3_borrow",),
    "moonwell": ("moonwell_supply", "moonwell_borrow"),
}
"""Cases that open something; a part of it is a debt at each lender."""
LESS_PPM: Final[Mapping[str, int]] = {"pendle": 2_000}
"""How much less leaving may pay than was told, in millionths, where that is more than rounding: a sale has its fee."""
MORE_PPM: Final[Mapping[str, int]] = {"pendle": 20_000, "curve": 2_000}
"""How much more: claims count at the lower of two prices, shares of a pool at the cheapest of its coins."""
ROUNDING_PPM: Final = 20
SHARES: Final = ("yearn", "ethena", "curve", "liquid_restaking", "erc4626")
"""Folders whose shares a stranger could make dearer; what the others tell has its second reading elsewhere."""
ELSEWHERE: Final[Mapping[str, str]] = {
    "pendle": "a claim counts at the lower of the average of 900 seconds and of its face (test_worth_of_claims.py)",
    "eigenlayer": "shares are burnt by slashes alone, which two contracts tell (eigenlayer/test_restaked.py)",
    "maker": "collateral counts at the lower of its price and the feeds' (maker/test_vaults.py)",
    "spark": "debts and covers are run by two engines (test_a_node_lies_about_health.py)",
    "compound_v3": "debts and covers are run by two engines (test_a_node_lies_about_health.py)",
    "moonwell": "debts and covers are run by two engines (test_a_node_lies_about_health.py)",
}


def hold(live: LiveGolem, folder: str) -> Stage:
    """A golem that opened every case of the folder."""
    stage = open_stage(live, CASES)
    stage.prepare(Case("", {}, ActionClass.REBALANCE, after=OPENS[folder]))
    return stage


def held_at(stage: Stage, folder: str) -> list[HeldPosition]:
    return [each for each in stage.holdings().positions if each.ref.protocol == folder]


def leave(stage: Stage, folder: str) -> int:
    """Micro-USD at the feeds of all that the ways out of the folder brought, without gas. Time passes as it has to."""
    names = {address: symbol for symbol, address in symbols().items()} | {NATIVE: "ETH"}
    look, brought = RawLook(stage, folder), 0
    for _ in range(12):
        steps = []
        for position in stage.positions():
            protocol = SHELF.get(position.ref.protocol)
            if position.ref.protocol == folder and protocol is not None and protocol.exits is not None:
                steps.append(protocol.exits.next_step(position, stage.wallet(), stage.world.timestamp()))
        act = next((each for each in steps if isinstance(each, Act)), None)
        if act is None and not any(isinstance(each, Wait) for each in steps):
            return brought
        if act is None:
            let_time_pass(stage, folder)
            continue
        plan = stage.call(Case(act.tool, act.params, ActionClass.CLOSE_POSITION)).plan
        assert plan is not None
        for token, raw in stage.carry_out(plan).deltas.items():
            if token not in names:
                # What stands for the position itself: it was told as the position.
                continue
            decimals = 18 if token == NATIVE else stage.world.tokens[names[token]].decimals
            brought += raw * look.price(names[token]) * 10**6 // 10 ** (decimals + 8)
    raise AssertionError(f"{folder} is not left in twelve steps")


def let_time_pass(stage: Stage, folder: str) -> None:
    if folder == "liquid_restaking":
        pay_all(stage.world)
        return
    stage.pass_days(8)
    stage.world.rpc.call("anvil_mine", hex(60))


def test_each_folder_has_its_second_reading() -> None:
    assert set(OPENS) == set(FOLDERS) == {*SHARES, *ELSEWHERE}


@of_each_folder
def test_what_is_told_of_it_is_what_leaving_pays(folder: str, live_golem: LiveGolem) -> None:
    stage = hold(live_golem, folder)
    positions = held_at(stage, folder)
    told = [each.micro_usd for each in positions]
    assert positions and None not in told
    worth = sum(each or 0 for each in told)
    with stage.apart():
        paid = leave(stage, folder)
    least = worth - worth * max(LESS_PPM.get(folder, 0), ROUNDING_PPM) // 10**6
    most = worth + worth * max(MORE_PPM.get(folder, 0), ROUNDING_PPM) // 10**6
    assert least <= paid <= most, (worth, paid, (paid - worth) * 10**6 // worth)


@pytest.mark.parametrize("folder", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in SHARES])
def test_a_share_that_an_earlier_block_told_at_half_counts_at_that_and_it_is_said(
    folder: str, live_golem: LiveGolem
) -> None:
    stage = hold(live_golem, folder)
    before = [each for each in held_at(stage, folder) if each.position.share_index is not None]
    assert before, "it tells an index of its shares"
    block = stage.reader().block
    note_all_shares(
        chain_id=31337, account=stage.account, positions=[each.position for each in before], at=block.timestamp
    )
    for mark in ShareMark.objects.all():
        ShareMark.objects.filter(pk=mark.pk).update(raw=str(int(mark.raw) // 2))
    seen = stage.holdings()
    after = {each.ref: each.micro_usd or 0 for each in seen.positions}
    for each in before:
        assert each.micro_usd is not None
        assert abs(after[each.ref] * 2 - each.micro_usd) * 10**5 <= each.micro_usd
    assert [each for each in seen.problems if each.startswith(JUMPED)]
