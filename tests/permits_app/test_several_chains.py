"""A golem on two chains: where it may act, what it is worth, and what happens while one of them cannot be read."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from archetypes_app.chain_choices import check_chains
from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import halt_golem
from permits_app.actions.value_golem import value_golem
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import HighWaterMark, NavSnapshot, PolicyCage, SpendingLimits, Wallet
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.wallet import WalletKind
from permits_app.performance.monthly_statement import begin_month, build_statement
from permits_app.performance.profit_days import read_worth
from permits_app.permits.leaving_chains import find_tie
from permits_app.permits.other_chain_holdings import NOWHERE, look_elsewhere
from tests.evm.world import CHAIN_ID, World
from tests.factories import make_golem, make_owner
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.permits_app.tools.test_wallet import read
from tests.second_chain import SECOND_ID, make_spread_golem, wire
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.units import usd_to_micro
from tools_app.toolkit.golem_chains import list_chains

DAI = 10**18
USD = 1_000_000
FRIEND = "0x" + "51" * 20
NOBODY = "http://127.0.0.1:9"
TRANSFER = {"action_type": "transfer", "venue": "wallet", "token_in": None, "token_out": None}


def pay_on(live: LiveGolem, chain_id: int, *, amount: int = 10 * DAI) -> dict[str, Any]:
    """A preview of paying DAI to somebody its owner registered there."""
    friend = AllowlistChoice(chain_id, AllowlistKind.RECIPIENT, FRIEND, "friend")
    allow_addresses(golem=live.golem, choices=[friend], actor="system:test", now=clock.now())
    return live.preview(**TRANSFER, token="DAI", amount=str(amount), recipient=FRIEND, chain_id=chain_id)


def refused(call: Any) -> GolemError:
    with pytest.raises(GolemError) as caught:
        call()
    return caught.value


def value(live: LiveGolem, after: timedelta = timedelta()) -> int | None:
    holdings = value_golem(golem=live.golem, now=clock.now() + after)
    return None if holdings is None else holdings.nav_micro_usd


def only_first(settings: Any, second: str) -> None:
    """The second chain is reached at `second`."""
    wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"], SECOND_ID: second})


def test_a_golem_acts_on_no_chain_that_its_owner_did_not_allow(
    spread_golem: LiveGolem, both_chains: tuple[World, World]
) -> None:
    both_chains[1].fund(spread_golem.golem.address, 10**18, {"DAI": 100 * DAI})
    Golem.objects.filter(pk=spread_golem.golem.pk).update(other_chain_ids=[])
    spread_golem.golem.refresh_from_db()
    error = refused(lambda: pay_on(spread_golem, SECOND_ID))
    assert (error.code, error.http_status, error.recovery.value) == ("CHAIN_NOT_ALLOWED", 422, "ASK_OWNER")
    assert error.data["allowed_chain_ids"] == [CHAIN_ID] and "golem's page" in (error.cleared_by or "")


def test_an_owner_allows_a_chain_on_the_golem_page_and_the_golem_pays_there(
    spread_golem: LiveGolem, both_chains: tuple[World, World], client: Client
) -> None:
    golem = spread_golem.golem
    Golem.objects.filter(pk=golem.pk).update(other_chain_ids=[])
    client.force_login(_make_admin())
    save_chains(client, golem, [SECOND_ID, CHAIN_ID])
    golem.refresh_from_db()
    assert list_chains(golem) == (CHAIN_ID, SECOND_ID)
    both_chains[1].fund(golem.address, 10**18, {"DAI": 100 * DAI})
    permit = pay_on(spread_golem, SECOND_ID)
    assert spread_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert _balance(both_chains[1], "DAI", golem.address) == 90 * DAI
    assert _balance(both_chains[0], "DAI", golem.address) == 5_000 * DAI


def test_its_worth_is_what_it_holds_on_both(spread_golem: LiveGolem, both_chains: tuple[World, World]) -> None:
    golem = spread_golem.golem
    alone = value(spread_golem)
    assert alone is not None
    both_chains[1].fund(golem.address, 0, {"DAI": 1_000 * DAI})
    both = value(spread_golem, timedelta(minutes=11))
    assert both is not None and abs(both - alone - 1_000 * USD) < 10 * USD
    mark = HighWaterMark.objects.get(golem=golem)
    assert (mark.value_micro_usd, NavSnapshot.objects.filter(golem=golem).count()) == (both, 3)
    worth = read_worth(golem_id=golem.pk, now=clock.now() + timedelta(minutes=12))
    assert worth is not None and abs(worth.value - both) < 10
    told = read(spread_golem, "wallet_get_status")
    assert abs(usd_to_micro(told["all_chains_value_usd"]) - both) < USD
    assert [each["chain_id"] for each in told["chains"]] == [CHAIN_ID, SECOND_ID]
    month = build_statement(golem, begins=begin_month(clock.now()))
    assert month.closing == both and [each.chain_id for each in month.chains] == [CHAIN_ID, SECOND_ID]


def test_a_tick_tells_the_sum_and_lives_by_it(spread_golem: LiveGolem, both_chains: tuple[World, World]) -> None:
    both_chains[1].fund(spread_golem.golem.address, 0, {"DAI": 1_000 * DAI})
    turn_on(spread_golem.golem)
    record = tick(spread_golem.golem)
    sum_of_rows = sum(NavSnapshot.objects.filter(golem=spread_golem.golem).values_list("value_micro_usd", flat=True))
    assert int(record.probes["total_micro_usd"]) == sum_of_rows
    assert NavSnapshot.objects.get(golem=spread_golem.golem, chain_id=SECOND_ID).value_micro_usd > 900 * USD


def test_what_leaves_the_second_chain_is_a_fall_and_stops_what_grows_on_the_first(
    spread_golem: LiveGolem, both_chains: tuple[World, World]
) -> None:
    golem, second = spread_golem.golem, both_chains[1]
    second.fund(golem.address, 0, {"USDC": 30_000 * 10**6})
    assert value(spread_golem) is not None
    PolicyCage.objects.filter(golem=golem).update(max_drawdown_bps=2_000)
    _take_away(second, "USDC", golem.address)
    assert value(spread_golem, timedelta(minutes=1)) is not None
    assert HighWaterMark.objects.get(golem=golem).violated_bps > 2_000
    assert refused(spread_golem.preview).data["rule"] == "policy_cage.drawdown"


def test_a_share_is_a_share_of_what_is_held_on_both(spread_golem: LiveGolem, both_chains: tuple[World, World]) -> None:
    # $500 of WETH beside the wallet's is more than a quarter of the first chain, and less of both.
    PolicyCage.objects.filter(golem=spread_golem.golem).update(max_concentration_bps=2_000)
    assert refused(spread_golem.preview).data["rule"] == "policy_cage.max_concentration"
    both_chains[1].fund(spread_golem.golem.address, 0, {"USDC": 500_000 * 10**6})
    assert spread_golem.preview()["status"] == "CREATED"
    # The same asset on the other chain counts with it.
    both_chains[1].fund(spread_golem.golem.address, 0, {"WETH": 200 * 10**18})
    assert refused(spread_golem.preview).data["rule"] == "policy_cage.max_concentration"


def test_the_day_limit_is_spent_on_both_chains(spread_golem: LiveGolem, both_chains: tuple[World, World]) -> None:
    both_chains[1].fund(spread_golem.golem.address, 10**18, {"DAI": 2_000 * DAI})
    SpendingLimits.objects.filter(golem=spread_golem.golem).update(per_day_micro_usd=700 * USD)
    assert pay_on(spread_golem, SECOND_ID, amount=500 * DAI)["status"] == "CREATED"
    assert refused(spread_golem.preview).data["rule"] == "spending_limiter.per_day"


def test_a_chain_that_still_holds_something_is_not_taken_off(
    spread_golem: LiveGolem, both_chains: tuple[World, World], client: Client
) -> None:
    golem = spread_golem.golem
    both_chains[1].fund(golem.address, 0, {"DAI": 1_000 * DAI})
    value(spread_golem)
    client.force_login(_make_admin())
    assert "still holds $1,000" in save_chains(client, golem, [])
    golem.refresh_from_db()
    assert list_chains(golem) == (CHAIN_ID, SECOND_ID)
    _take_away(both_chains[1], "DAI", golem.address)
    both_chains[1].rpc.call("anvil_setBalance", golem.address, "0x0")
    value(spread_golem, timedelta(minutes=11))
    save_chains(client, golem, [])
    golem.refresh_from_db()
    assert list_chains(golem) == (CHAIN_ID,)


def test_a_golem_has_eight_chains_and_not_nine() -> None:
    assert check_chains(CHAIN_ID, range(1, 8)) == list(range(1, 8))
    with pytest.raises(ValidationError):
        check_chains(CHAIN_ID, range(1, 9))


@pytest.mark.django_db
def test_a_dollar_left_behind_binds_no_golem_to_a_chain_and_more_does() -> None:
    golem = make_golem(owner=make_owner())
    golem.other_chain_ids = [SECOND_ID]
    NavSnapshot.objects.create(
        golem=golem, at=clock.now(), chain_id=SECOND_ID, block_number=1, value_micro_usd=1_000_000
    )
    assert find_tie(golem, chains=[CHAIN_ID]) == ""
    NavSnapshot.objects.update(value_micro_usd=1_000_001)
    assert "still holds $1.00" in find_tie(golem, chains=[CHAIN_ID])


def test_what_acts_through_a_contract_has_one_chain(spread_golem: LiveGolem, client: Client) -> None:
    golem = spread_golem.golem
    Golem.objects.filter(pk=golem.pk).update(other_chain_ids=[])
    Wallet.objects.filter(golem=golem).update(kind=WalletKind.GNOSIS_SAFE)
    client.force_login(_make_admin())
    assert "through a contract, which is on one chain" in save_chains(client, golem, [SECOND_ID])
    golem.refresh_from_db()
    assert list_chains(golem) == (CHAIN_ID,)


@pytest.mark.parametrize("answers", ["nobody", "another chain"])
def test_while_a_chain_cannot_be_read_nothing_grows_and_what_leaves_may(
    spread_golem: LiveGolem, settings: Any, answers: str, both_chains: tuple[World, World]
) -> None:
    golem = spread_golem.golem
    both_chains[1].fund(golem.address, 0, {"DAI": 1_000 * DAI})
    before = value(spread_golem)
    only_first(settings, NOBODY if answers == "nobody" else os.environ["GOLEM_RPC_URL_31337"])
    error = refused(spread_golem.preview)
    assert (error.code, error.http_status) == ("CHAIN_NOT_COUNTED", 503)
    assert error.data["rule"] == "policy_cage.chain_not_counted" and error.data["chain_id"] == SECOND_ID
    assert error.cleared_by
    # A decrease is no risk: it never asks what the rest is worth.
    leaving = spread_golem.preview(token_in="WETH", token_out="USDC", amount=str(10**17))
    assert leaving["status"] == "CREATED"
    # Nothing is held to the mark, which stays, and figures say what is not counted and since when.
    assert value(spread_golem, timedelta(minutes=1)) is None
    mark = HighWaterMark.objects.get(golem=golem)
    assert mark.value_micro_usd == before and mark.violated_at is None
    told = read(spread_golem, "wallet_get_status")
    assert told["all_chains_value_usd"] is None
    assert "counted last at" in told["chains"][1]["value_missing"]


def test_the_pages_say_which_chain_is_not_counted(
    spread_golem: LiveGolem, settings: Any, both_chains: tuple[World, World], client: Client
) -> None:
    value(spread_golem)
    client.force_login(_make_admin())
    page = reverse("admin:archetypes_app_golem_money", args=[spread_golem.golem.pk])
    assert "Second local chain (31338)" in client.get(page).content.decode()
    only_first(settings, NOBODY)
    shown = client.get(page).content.decode()
    assert "not counted" in shown and "CHAIN_NOT_COUNTED: Second local chain (31338), counted last at" in shown


def test_a_tick_goes_on_while_a_chain_is_away_and_measures_nothing(
    spread_golem: LiveGolem, settings: Any, both_chains: tuple[World, World]
) -> None:
    both_chains[1].fund(spread_golem.golem.address, 0, {"DAI": 1_000 * DAI})
    turn_on(spread_golem.golem)
    tick(spread_golem.golem)
    before = HighWaterMark.objects.get(golem=spread_golem.golem).value_micro_usd
    only_first(settings, NOBODY)
    record = tick(spread_golem.golem)
    assert record.probes["total_micro_usd"] is None
    assert any(each.startswith("CHAIN_NOT_COUNTED: Second local chain") for each in record.anomalies)
    assert HighWaterMark.objects.get(golem=spread_golem.golem).value_micro_usd == before


def test_a_halt_lists_what_is_held_on_both(spread_golem: LiveGolem, both_chains: tuple[World, World]) -> None:
    both_chains[1].fund(spread_golem.golem.address, 0, {"DAI": 7 * DAI})
    told = halt_golem(golem=spread_golem.golem, reason="drill", actor="owner:1", now=clock.now(), is_drill=True)
    (listed,) = [each for each in told["steps"] if each["step"] == "positions listed for unwinding"]
    assert any(each.get("chain_id") == SECOND_ID and each["token"] == "DAI" for each in listed["positions"])


def test_one_chain_costs_no_question_and_no_query(spread_golem: LiveGolem, django_assert_num_queries: Any) -> None:
    Golem.objects.filter(pk=spread_golem.golem.pk).update(other_chain_ids=[])
    spread_golem.golem.refresh_from_db()
    view = view_golem(spread_golem.golem)
    with django_assert_num_queries(0):
        assert look_elsewhere(golem=view, own_chain_id=CHAIN_ID, own=None, now=clock.now()) is NOWHERE


def test_two_owners_golems_do_not_count_each_others_chains(
    spread_golem: LiveGolem, both_chains: tuple[World, World]
) -> None:
    other = make_spread_golem(both_chains[0], name="Other", owner_name="owner-b")
    both_chains[1].fund(other.golem.address, 0, {"DAI": 1_000 * DAI})
    assert value(other) is not None and value(spread_golem) is not None
    rows = NavSnapshot.objects.filter(chain_id=SECOND_ID)
    assert rows.get(golem=spread_golem.golem).value_micro_usd < USD < rows.get(golem=other.golem).value_micro_usd


def save_chains(client: Client, golem: Golem, chains: list[int]) -> str:
    """The golem's form saved with these other chains ticked; the page that comes of it."""
    page = reverse("admin:archetypes_app_golem_settings", args=[golem.pk])
    form = client.get(page).context["adminform"].form
    body = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    body |= {"other_chain_ids": [str(each) for each in chains], "toolset_seen": "on"}
    inlines = {"tool_overrides-TOTAL_FORMS": "0", "tool_overrides-INITIAL_FORMS": "0"}
    return client.post(page, body | inlines, follow=True).content.decode()


def _make_admin() -> Any:
    from django.contrib.auth.models import User

    return User.objects.create_superuser("admin-of-chains", password="x")


def _balance(world: World, symbol: str, account: str) -> int:
    answer = world.rpc.read(world.tokens[symbol].address, "balanceOf(address)", account, returns="(uint256)")
    return int(answer[0] if isinstance(answer, list | tuple) else answer)


def _take_away(world: World, symbol: str, account: str) -> None:
    """Everything of one token, as somebody who stole the key would."""
    from tools_app.chain.abi import encode_call

    amount = _balance(world, symbol, account)
    world.rpc.call("anvil_setBalance", account, hex(10**18))
    world.rpc.call("anvil_impersonateAccount", account)
    data = "0x" + encode_call("function transfer(address,uint256)", "0x" + "77" * 20, amount).hex()
    request = {"from": account, "to": world.tokens[symbol].address, "data": data, "gas": hex(200_000)}
    assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", account)
