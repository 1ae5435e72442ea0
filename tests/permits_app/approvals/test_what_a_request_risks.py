"""What owners are told of a loan that waits for them: its amount, when it is liquidated, what may be lost."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import ToolProfile
from archetypes_app.owner_group import ensure_owner_group
from memory_app.models import Episode
from permits_app.actions.compare_with_approved import look_again
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.actions.request_change import _MOST_STAKE, _measure_stake
from permits_app.approvals.loan_risk import say_growth, say_liquidation
from permits_app.approvals.simulated_loss import say_loss, say_loss_briefly
from permits_app.models import ActionPermit, ChangeRequest, OutcomeRecord
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, carry_out
from tools_app.core import clock
from tools_app.core.required_value import require
from tools_app.portfolio.liquidation import measure_liquidation, show_price
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass

AT_LENDER: dict[str, Any] = {"venue": "aave", "token_in": None, "token_out": None}
ROUND = "(uint80,int256,uint256,uint256,uint80)"
GET_ACCOUNT = "getUserAccountData(address)"


@pytest.mark.parametrize(
    ("health", "told"),
    [("1.18", "falls by 15.2%"), ("2", "falls by 50.0%"), ("1", "at once"), ("0.9", "at once"), (None, ""), ("x", "")],
)
def test_of_a_permit_without_prices_a_health_is_told_as_the_fall_that_liquidates(health: str | None, told: str) -> None:
    said = say_liquidation({"health_after": health})
    assert told in said and bool(said) == bool(told)


@pytest.mark.parametrize(
    ("told", "words", "brief"),
    [
        ({"micro_usd": "-9030000", "unpriced": []}, "$9.03 less afterwards, gas apart", "loses $9.03"),
        ({"micro_usd": "-10000", "unpriced": []}, "$0.01 less afterwards, gas apart", "loses $0.01"),
        ({"micro_usd": "-9999", "unpriced": []}, "nothing lost, to the cent, gas apart", ""),
        ({"micro_usd": "20000000", "unpriced": []}, "$20.00 more afterwards, gas apart", ""),
        (
            {"micro_usd": "-20000000", "unpriced": ["ODD"]},
            "$20.00 less afterwards, gas apart; ODD comes without a price and counts as nothing",
            "loses $20.00",
        ),
        ({"micro_usd": None, "unpriced": ["ODD"]}, "not known: ODD leaves and has no price now", ""),
        (None, "", ""),
    ],
)
def test_what_a_simulation_lost_is_told_in_dollars_or_as_not_known(
    told: dict[str, Any] | None, words: str, brief: str
) -> None:
    expected = {"value_change": told} if told else {}
    assert (say_loss(expected), say_loss_briefly(expected)) == (words, brief)


def price(symbol: str, now: str, together: str | None, alone: str | None) -> dict[str, Any]:
    return {"token": symbol, "symbol": symbol, "now_usd": now, "together_usd": together, "alone_usd": alone}


TWO_COVERS: dict[str, Any] = {
    "changes": [{"token": "USDC", "raw": "-1"}],
    "owed_after": [{"token": "USDC", "units": "-20000 USDC"}],
    "health_before": "2.00",
    "health_after": "1.44",
    "liquidation": {
        "fall_bps": 3_055,
        "owed_micro_usd": "20000000000",
        "cover_micro_usd": "36000000000",
        "prices": [
            price("WETH", "3000.00", "2083.34", "1900.00"),
            price("WBTC", "60000.00", "41666.67", None),
            price("USDC", "1.00", None, "1.44"),
        ],
    },
}


def test_several_covers_are_told_by_their_common_fall_and_each_alone() -> None:
    assert say_liquidation(TWO_COVERS) == (
        "when all that covers it falls by 30.5%: WETH at $2,083.34 and WBTC at $41,666.67; WETH alone at $1,900.00,"
        " 36.6% lower; a fall of WBTC alone never does it, or when USDC, which is owed, rises to $1.44 (now $1.00);"
        " anybody may then sell its cover at a discount"
    )
    assert say_growth([TWO_COVERS]) == "liquidated with WETH at $2,083.34, WBTC at $41,666.67 (-30.5%)"


def test_a_title_tells_no_price_of_a_debt_that_shrinks() -> None:
    repaid = {"changes": [{"token": "USDC", "raw": "1"}], "health_before": "1.10", "health_after": "1.44"}
    assert say_growth([{**TWO_COVERS, **repaid}]) == ""
    # Cover that leaves makes what is owed riskier, though nothing more is owed.
    assert say_growth([{**TWO_COVERS, "changes": [{"token": "WETH", "raw": "-1"}]}])


def test_a_stake_fits_its_column_whatever_covers_the_debt() -> None:
    huge = {**TWO_COVERS, "liquidation": {**TWO_COVERS["liquidation"], "cover_micro_usd": str(2**80)}}
    permit = ActionPermit(value_micro_usd=100_000, expected_outcome={"positions": [huge]})
    assert _measure_stake(permit) == _MOST_STAKE + 100_000 < 2**63


def read(page: str, *args: Any, person: Any) -> str:
    browser = Client()
    browser.force_login(person)
    answer = browser.get(reverse(f"admin:{page}", args=args))
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode())).replace("&#x27;", "'")


@pytest.mark.django_db
@pytest.mark.protocols("aave_v3")
def test_a_loan_tells_its_price_its_debt_and_its_stake_alike_wherever_it_is_read(live_golem: LiveGolem) -> None:
    live_golem.golem.profiles.add(ToolProfile.objects.get(name="lender"))
    live_golem.owner.groups.add(ensure_owner_group())
    world = live_golem.world
    supply = {**AT_LENDER, "action_type": "supply", "asset": "WETH", "amount": str(10**18)}
    live_golem.commit(live_golem.preview(**supply)["permit_id"])
    borrow = {**AT_LENDER, "action_type": "borrow", "asset": "USDC", "amount": str(900 * 10**6)}
    answer = live_golem.preview(**borrow)
    request = ChangeRequest.objects.get(permit_id=answer["permit_id"])

    [told] = answer["expected_outcome"]["positions"]
    cover, _ = told["liquidation"]["prices"]
    liquidated = Decimal(cover["together_usd"])
    assert cover["symbol"] == "WETH" and cover["alone_usd"] == cover["together_usd"]
    shown = f"WETH at ${liquidated:,.2f}"
    assert request.title.startswith(f"Borrow 900 USDC at aave, liquidated with {shown} (-")
    stake = f"${int(told['liquidation']['cover_micro_usd']) / 10**6:,.2f} that covers $900.00 owed; $"
    assert request.value_micro_usd > int(told["liquidation"]["cover_micro_usd"]) > 900 * 10**6

    pages = {
        "the approval": read("permits_app_changerequest_change", request.pk, person=live_golem.owner),
        "one page": read("permits_app_changerequest_short", request.pk, person=live_golem.owner),
        "the permit": read("permits_app_actionpermit_change", request.permit_id, person=live_golem.owner),
    }
    for name, text in pages.items():
        assert f"liquidated with {shown}" in text, name
        assert f"when WETH falls by {told['liquidation']['fall_bps'] // 100}." in text, name
        assert f"to ${liquidated:,.2f} (now ${Decimal(cover['now_usd']):,.2f})" in text, name
        assert "$900.00 owed" in text and "comes back" not in text, name
    assert all(stake in pages[name] for name in ("the approval", "one page"))
    assert stake in read("permits_app_changerequest_inbox", person=live_golem.owner)

    move_feed(world, liquidated + Decimal("0.50"))
    look = require(look_again(permit=require(request.permit), now=clock.now()))
    assert look.refusal or any("liquidated" in each.words for each in look.changed)


@pytest.mark.django_db
@pytest.mark.protocols("aave_v3")
@pytest.mark.usefixtures("eager")
def test_a_loan_that_went_as_predicted_is_kept_without_an_error_and_the_next_request_tells_what_moved(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, owner, _ = two_owners
    live.golem.profiles.add(ToolProfile.objects.get(name="lender"))
    supply = {**AT_LENDER, "action_type": "supply", "asset": "WETH", "amount": str(10**18)}
    live.commit(live.preview(**supply)["permit_id"])
    borrow = {**AT_LENDER, "action_type": "borrow", "asset": "USDC"}
    first, second = (
        ChangeRequest.objects.get(permit_id=live.preview(**borrow, amount=str(many * 10**6))["permit_id"])
        for many in (600, 300)
    )
    assert first.title != second.title
    approve(first, owner)
    assert carry_out(first).state == "EXECUTED"
    outcome = OutcomeRecord.objects.get(permit_id=first.permit_id)
    assert outcome.is_verified and outcome.divergence_bps < 10, outcome.findings
    episode = Episode.objects.get(pk=require(remember_outcome(permit_id=require(first.permit_id), now=clock.now())))
    assert "went as predicted" in episode.summary
    look = require(look_again(permit=require(second.permit), now=clock.now()))
    moved = " ".join(each.words for each in look.changed)
    assert not look.refusal and "owed afterwards" in moved and "liquidated" in moved


@pytest.mark.django_db
@pytest.mark.protocols("aave_v3")
def test_at_the_price_that_is_told_the_pool_itself_calls_the_loan_ill(live_golem: LiveGolem) -> None:
    stage, world = open_stage(live_golem, load_cases()), live_golem.world
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=("aave_borrow",)))
    (position,) = stage.positions()
    metas = {token.address: token for token in world.tokens.values()}

    def value_of(address: str, raw: int) -> int:
        answer = world.rpc.read(metas[address].feed, "latestRoundData()", returns=ROUND)[1]
        return int(answer) * raw * 10**6 // 10 ** (8 + metas[address].decimals)

    found = require(measure_liquidation(position, value_of, lambda address: 10 ** metas[address].decimals))
    [cover] = [each for each in found.prices if each.together is not None]
    told = Decimal(show_price(require(cover.together), up=True))
    # A health is told in whole basis points, rounded down, so that the price may be one of them too high.
    basis_point = told / 10_000
    pool = world.protocols["aave_v3"]["pool"]
    for dollars, is_ill in ((told - 2 * basis_point, True), (told + basis_point, False)):
        move_feed(world, dollars)
        *_, health = world.rpc.read(
            pool, GET_ACCOUNT, live_golem.golem.address, returns=f"({','.join(['uint256'] * 6)})"
        )
        assert (health < 10**18) is is_ill, (dollars, health)


def move_feed(world: Any, dollars: Decimal) -> None:
    feed = world.tokens["WETH"].feed
    world.transact(world.actors.deployer, feed, "setAnswer(int256)", int(dollars * 10**8))
