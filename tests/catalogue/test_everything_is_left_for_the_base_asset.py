"""Whatever a golem holds, of every kind and at every protocol of the shelf: an owner who chose it has the base asset
after a halt, and no debt. What is not is named with the reason: it waits in a queue of its protocol, is the chain's
coin, or is its owner's.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest
from django.test import Client
from django.urls import reverse

from permits_app.actions.choose_halt import choose_halt
from permits_app.actions.halt import EXCHANGED_STEP, carry_out_halt, halt_golem
from permits_app.halts.halt_choices import HaltChoice
from permits_app.models import ActionPermit, HaltRecord, SignedPromise
from permits_app.models.signed_promise import PromiseState
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import Stage, open_stage
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.protocol import SHELF, Trait

MOST_DUST_MICRO_USD: Final = 100_000
"""What stays as dust of one position is worth less than ten cents."""
LEFT = [each.name for each in SHELF.on(31_337) if each.positions is not None and each.exits is not None]
CASES = load_cases()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of what a golem may have: after which case it has it, and whether a queue keeps it from its wallet."""

    after: str
    given: str = ""
    waits: bool = False
    world: str | None = None

    @property
    def protocol(self) -> str:
        return CASES[self.after].protocol

    @property
    def worlds(self) -> tuple[str, ...]:
        """What has to be deployed for it; V2 and V3 are there always."""
        named = self.protocol if self.world is None else self.world
        return (named,) if named else ()


NAMED: Final = {
    "what is lent": Kind("aave_supply"),
    "a debt under collateral": Kind("aave_borrow"),
    "a loop": Kind("lending_execute_leverage_loop"),
    "what is lent to Compound": Kind("compound_v3_supply"),
    "cover at Compound": Kind("compound_v3_cover"),
    "a debt to Compound": Kind("compound_v3_borrow"),
    "what is lent to Moonwell": Kind("moonwell_supply"),
    "cover at Moonwell": Kind("moonwell_cover"),
    "a debt to Moonwell": Kind("moonwell_borrow"),
    "what is lent to Spark": Kind("spark_supply"),
    "a debt to Spark": Kind("spark_borrow"),
    "what is lent in a market": Kind("morpho_supply_market"),
    "collateral in a market": Kind("morpho_supply_collateral"),
    "a debt in a market": Kind("morpho_borrow_market"),
    "a loop in a market": Kind("morpho_loop"),
    "collateral at Maker": Kind("maker_deposit_collateral"),
    "a debt in DAI": Kind("maker_generate_dai"),
    "shares of a V2 pair": Kind(
        "uniswap_lp_remove_shares", "somebody gives it shares of the pair of WETH and USDC", world=""
    ),
    "a range at V3": Kind("uniswap_lp_add_liquidity", world=""),
    "a range that is staked": Kind("uniswap_lp_stake_position", world="uniswap_mining"),
    "ranges that one call changed": Kind("uniswap_lp_batch_operations", world=""),
    "a range at V4": Kind("uniswap_lp_add_v4", world="uniswap_v4"),
    "a range at V4 with the coin": Kind("uniswap_lp_add_v4_coin", world="uniswap_v4"),
    "a range that the service wrote": Kind("uniswap_api_create_lp_position", world="uniswap_v4"),
    "an order over time": Kind("uniswap_lp_submit_twamm_order"),
    "wstETH": Kind("lido_stake", waits=True),
    "stETH": Kind("lido_stake_rebasing", waits=True),
    "a place in Lido's queue": Kind("lido_unstake", waits=True),
    "rETH": Kind("rocketpool_stake"),
    "shares of a vault": Kind("vault_deposit"),
    "savings": Kind("savings_deposit"),
    "a request into a vault": Kind("vault_ask_in"),
    "shares of a vault by request": Kind("vault_claim_in", waits=True),
    "a request out of a vault": Kind("vault_ask_out", waits=True),
    "shares of Yearn": Kind("yearn_deposit"),
    "shares of a bar": Kind("sushi_bar_enter"),
    "sUSDe": Kind("ethena_stake_usde", waits=True),
    "a cooldown": Kind("ethena_unstake_usde", waits=True),
    "a principal of Pendle": Kind("pendle_buy_pt"),
    "a yield of Pendle": Kind("pendle_buy_yt"),
    "liquidity at Pendle": Kind("pendle_add_lp"),
    "shares of Curve's pool": Kind("curve_add_liquidity"),
    "shares in a gauge": Kind("curve_stake_gauge"),
    "shares at Convex": Kind("convex_stake_lp"),
    "what is restaked": Kind("eigenlayer_deposit_lst", waits=True),
    "what is delegated": Kind("eigenlayer_delegate", waits=True),
    "a place in the queue of restaking": Kind("eigenlayer_queue_withdrawal", waits=True),
    "weETH": Kind("lrt_deposit_etherfi", waits=True),
    "rsETH": Kind("lrt_deposit_kelp", waits=True),
    "ezETH": Kind("lrt_deposit_renzo", waits=True),
    "a place in ether.fi's queue": Kind("lrt_withdraw_etherfi", waits=True),
    "a place in Kelp's queue": Kind("lrt_withdraw_kelp", waits=True),
    "a place in Renzo's queue": Kind("lrt_withdraw_renzo", waits=True),
}
"""What is not found in the cases as below: a case after which more than one thing is held, or in a world of its own."""
ONLY_COMES: Final = {"across": "no call takes out what is on its way: it comes by itself, or never"}
"""Protocols that nothing is left at, with the reason."""
HOLDS_NOTHING: Final = {
    "maker_open_vault": "an empty vault",
    "bridge_execute": "what is on its way is nobody's to leave",
}
"""Cases that open something of which nothing is held, with the reason."""


def find_kinds(named: dict[str, Kind], left: Sequence[str]) -> dict[str, Kind]:
    """These; of each further protocol one for each case that opens something; it waits where there are requests."""
    known = {kind.protocol for kind in named.values()}
    found = {
        f"what {name} opens": Kind(name, waits=_has_requests(filed.protocol))
        for name, filed in CASES.items()
        if filed.protocol in left and filed.protocol not in known and opens_something(name)
    }
    return {**named, **found}


def opens_something(case: str) -> bool:
    """Whether something is held after a case that was not before."""
    return CASES[case].case.is_a is ActionClass.NEW_POSITION and case not in HOLDS_NOTHING


def _has_requests(name: str) -> bool:
    protocol = SHELF.get(name)
    return protocol is not None and Trait.ASYNC in protocol.traits


KINDS: Final = find_kinds(NAMED, [name for name in LEFT if name not in ONLY_COMES])
"""Each is left in a test of its own."""


def hold(stage: Stage, kind: Kind) -> None:
    """Bring a golem where it has something of this kind."""
    after, given = (CASES[kind.after].case.after, (kind.given,)) if kind.given else ((kind.after,), ())
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=tuple(after), given=given))
    # As the settlement of each action notes what it opened.
    refs = [each.ref for each in stage.positions()]
    remember_positions(account=stage.account, refs=refs, now=clock.now(), is_own=True)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.protocols(*kind.worlds), pytest.mark.one_of_many])
        for name, kind in KINDS.items()
    ],
)
def test_what_is_held_ends_in_the_base_asset_or_is_named_with_the_reason(live_golem: LiveGolem, name: str) -> None:
    kind = KINDS[name]
    stage = open_stage(live_golem, CASES)
    hold(stage, kind)
    before = stage.positions()
    assert any(each.ref.protocol == kind.protocol for each in before)
    steps = leave_for_base(live_golem)
    told = {line["position"]: line for line in steps["positions unwound"]["positions"]}
    left = [each for each in stage.positions() if any(leg.raw for leg in each.legs)]
    assert not any(leg.raw < 0 for each in left for leg in each.legs), "a debt is left"
    dust = {str(each.ref) for each in left if "stays" in told.get(str(each.ref), {})}
    worths = {
        str(each.position.ref): sum(abs(part.micro_usd or 0) for part in each.parts)
        for each in stage.holdings().positions
    }
    assert all(worths[ref] < MOST_DUST_MICRO_USD for ref in dust), {ref: worths[ref] for ref in dust}
    check_needs_you(live_golem, [told[ref] for ref in dust])
    left = [each for each in left if str(each.ref) not in dust]
    for each in left:
        line = told.get(str(each.ref))
        assert line is not None and (line.get("reason") or line.get("until") or line.get("failed")), (each.ref, line)
    assert bool(left) == kind.waits, [(str(each.ref), each.legs, told.get(str(each.ref))) for each in left]
    assert "failed" not in steps[EXCHANGED_STEP], steps[EXCHANGED_STEP]
    sold = {line["token_address"]: line for line in steps[EXCHANGED_STEP]["exchanges"]}
    base = live_golem.world.tokens["USDC"].address
    for worth in stage.holdings().tokens:
        if worth.raw and not worth.token.is_native and worth.token.address != base and (worth.micro_usd or 0) > 10**6:
            line = sold[worth.token.address]
            assert line["outcome"] != "COMMITTED", "sold, and still there"
            assert line.get("reason"), worth.token.symbol
    check_debts_first(live_golem, owed=any(leg.raw < 0 for each in before for leg in each.legs))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        pytest.param(after, words, marks=pytest.mark.protocols(CASES[after].protocol))
        for after, words in (
            ("uniswap_approve_uniswapx", "it signed an order that gives 300 DAI for a tenth of a WETH"),
            ("pendle_approve_limit_orders", "it signed an order that gives 300 DAI for claims"),
            ("x402_approve", "it signed a payment of two dollars"),
        )
    ],
)
def test_what_was_signed_is_taken_back_before_what_it_promised_is_exchanged(
    live_golem: LiveGolem, after: str, words: str
) -> None:
    stage = open_stage(live_golem, CASES)
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=(after,), given=(words,)))
    assert SignedPromise.objects.filter(state=PromiseState.OPEN).count() == 1
    steps = leave_for_base(live_golem)
    outcomes = [each["outcome"] for each in steps["signed promises cancelled"]["promises"]]
    assert outcomes == ["CANCELLED"], steps["signed promises cancelled"]
    names = list(steps)
    assert names.index("signed promises cancelled") < names.index(EXCHANGED_STEP)
    sold = {line["token_address"]: line for line in steps[EXCHANGED_STEP]["exchanges"]}
    dai = live_golem.world.tokens["DAI"].address
    assert live_golem.world.rpc.balance_of(dai, stage.account) == 0 or sold[dai].get("reason"), sold


def check_needs_you(live: LiveGolem, dust: Sequence[dict[str, Any]]) -> None:
    """Each dust stands under "Needs you" of the first page, with how much of what and why."""
    browser = Client()
    browser.force_login(live.owner)
    words = html.unescape(browser.get(reverse("admin:index")).content.decode())
    for line in dust:
        assert f"{line['stays']} in {line['label']}" in words and f"it stays: {line['why_it_stays']}" in words


def leave_for_base(live: LiveGolem) -> dict[str, Any]:
    """Its owner chose to leave everything and halts it; what was done, by step."""
    now = clock.now()
    choose_halt(golem=live.golem, choice=HaltChoice.LEAVE_FOR_BASE, most_loss_bps=1_000, actor="owner:1", now=now)
    halt_golem(golem=live.golem, reason="its owner leaves", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=live.golem.pk, epoch=1, now=clock.now())
    return {step["step"]: step for step in HaltRecord.objects.get().steps}


def check_debts_first(live: LiveGolem, *, owed: bool) -> None:
    """What was owed is paid before anything is exchanged for the base asset."""
    permits = ActionPermit.objects.filter(golem=live.golem, halt_epoch=1, status="COMMITTED").order_by("created_at")
    acts = list(permits.values_list("action_type", flat=True))
    if owed:
        assert acts and acts[0] == "unwind_position", acts
    exchanged = [place for place, act in enumerate(acts) if act == "exchange_for_base"]
    unwound = [place for place, act in enumerate(acts) if act == "unwind_position"]
    assert not exchanged or not unwound or min(exchanged) > max(unwound), acts


def test_every_protocol_that_can_be_left_is_left_and_so_is_every_case_that_opens_something() -> None:
    assert set(LEFT) - set(ONLY_COMES) == {kind.protocol for kind in KINDS.values()}, (
        "a case that opens something there"
    )
    opened = {kind.after for kind in KINDS.values()}
    opens = {
        name for name, filed in CASES.items() if filed.protocol in LEFT and filed.case.is_a is ActionClass.NEW_POSITION
    }
    assert opens - opened == set(HOLDS_NOTHING) & opens, "name what they open in NAMED, or why nothing is held"


def test_of_a_protocol_that_nobody_named_what_its_cases_open_is_left() -> None:
    """Whoever adds a folder has no row here: SushiBar and Ethena are found as they are named."""
    rest = {name: kind for name, kind in NAMED.items() if kind.protocol not in ("sushi_bar", "ethena")}
    found = find_kinds(rest, ["sushi_bar", "ethena"])
    assert {name: kind for name, kind in found.items() if name not in rest} == {
        "what sushi_bar_enter opens": Kind("sushi_bar_enter"),
        "what ethena_stake_usde opens": Kind("ethena_stake_usde", waits=True),
    }
