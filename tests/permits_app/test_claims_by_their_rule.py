"""Claims that are due at a date, coupons that never count, parts of a pool: by their rules, whatever is paid now."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.cage_set_up.deployment import build_valuer, find_valuers
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import HaltRecord, HaltSetting, OutcomeRecord
from permits_app.permits.holdings_json import tell_rules
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import AssetRule, asset_rules, call_key, valuer_rule
from permits_app.policy_cage.suggested_rules import list_uncaged, suggest_rules
from permits_app.reviewers import safety_guardian
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bond.on_the_shelf import NAME, YEAR, Bond
from tests.permits_app.safety.calls import live_call
from tests.proof.caged.safe import FEED_DECIMALS
from tools_app import runner
from tools_app.chain.abi import checksum
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import HeldPosition, Holdings, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import NATIVE

DAI, USD = 10**18, 10**6
NO_SWAP = {"token_in": None, "token_out": None, "venue": NAME}
CALLS = ("buy(uint256,uint256)", "sell(uint256,uint256)", "redeem(uint256)", "part(uint256)")


@pytest.fixture
def holder(db: None, bond: Bond) -> LiveGolem:
    """A golem with every tool of the bond, whose owner took the allowlist as it is suggested."""
    golem = make_live_golem(bond.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=golem.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    return golem


def ask(golem: LiveGolem, action: str, **amounts: int) -> dict[str, Any]:
    texts = {"amount": None, **{name: str(raw) for name, raw in amounts.items()}}
    return golem.preview(action_type=action, **texts, **NO_SWAP)


def act(golem: LiveGolem, action: str, **amounts: int) -> dict[str, Any]:
    """Preview, review by who reads the bytes alone, and commit: the preview. What was promised is verified."""
    reviewed = safety_guardian.review(live_call(golem, action, {name: str(raw) for name, raw in amounts.items()}))
    assert not reviewed.reasons, reviewed
    permit = ask(golem, action, **amounts)
    done = golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
    return permit


def reader() -> ChainReader:
    return runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))


def measure(golem: LiveGolem) -> Holdings:
    account = str(golem.golem.address)
    return measure_holdings(chain=reader(), account=account, hints=list_hints(chain_id=CHAIN_ID, account=account))


def held_as(golem: LiveGolem, kind: str) -> HeldPosition:
    [found] = [each for each in measure(golem).positions if each.ref.kind == kind]
    return found


def worth(golem: LiveGolem, kind: str) -> int:
    found = held_as(golem, kind).micro_usd
    assert found is not None
    return found


def claims_of(golem: LiveGolem, bond: Bond, what: str = "claims") -> int:
    return bond.read(f"{what}Of(address)", golem.golem.address)


def give_shares(golem: LiveGolem, bond: Bond, shares: int) -> None:
    bond.world.transact(bond.maker, bond.address, "give(address,uint256)", golem.golem.address, shares)


def test_a_claim_counts_as_its_average_price_until_it_is_due(holder: LiveGolem, bond: Bond) -> None:
    before = measure(holder).nav_micro_usd
    act(holder, "bond_buy", amount=1_000 * DAI)
    claims = claims_of(holder, bond)
    assert claims > 1_040 * DAI
    # Paid 0.951 a claim on the way up; counted at the 0.95 of the last quarter of an hour. Gas is gone besides.
    assert 0 < before - measure(holder).nav_micro_usd < 10 * USD
    [leg] = held_as(holder, "claims").position.legs
    assert leg.raw == claims * min(bond.read("average(uint256)", 900), 10**18) // 10**18
    [words] = tell_rules(held_as(holder, "claims"))
    assert words.endswith("the lower of its average price of 15 minutes and what is due"), words


def test_a_push_of_the_price_in_this_block_moves_nothing_that_counts(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=1_000 * DAI)
    give_shares(holder, bond, 10_000 * DAI)
    claims, pool = worth(holder, "claims"), worth(holder, "pool")
    price = bond.read("price()")
    bond.push(400_000 * DAI)
    assert bond.read("price()") > 15 * price // 10
    # A second or two at another price is in the average of nine hundred.
    assert abs(worth(holder, "claims") - claims) * 100 < claims
    assert abs(worth(holder, "pool") - pool) * 100 < pool
    # Held for long enough it counts, and never for more than what is due.
    bond.pass_time(1_000)
    [leg] = held_as(holder, "claims").position.legs
    assert leg.raw == claims_of(holder, bond)
    assert bond.read("average(uint256)", 900) > 10**18


def test_a_push_down_makes_nobody_poorer_at_once_either(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=1_000 * DAI)
    give_shares(holder, bond, 10_000 * DAI)
    claims, pool, price = worth(holder, "claims"), worth(holder, "pool"), bond.read("price()")
    world, part = bond.world, 300_000 * DAI
    world.transact(bond.maker, bond.address, "part(uint256)", part)
    sold = bond.read("claimsOf(address)", bond.maker.address)
    world.transact(bond.maker, bond.address, "sell(uint256,uint256)", sold, 0)
    assert bond.read("price()") < price * 6 // 10
    assert abs(worth(holder, "claims") - claims) * 100 < claims
    assert abs(worth(holder, "pool") - pool) * 100 < pool


def test_a_part_of_the_pool_counts_as_its_parts_at_the_average_and_comes_out_as_both(
    holder: LiveGolem, bond: Bond
) -> None:
    give_shares(holder, bond, 10_000 * DAI)
    # 10,000 of 950,000 shares: about 10,000 in cash, and as much in claims at 0.95.
    assert 19_900 * USD < worth(holder, "pool") < 20_100 * USD
    before = measure(holder).nav_micro_usd
    cash = holder.balance("DAI")
    act(holder, "bond_part", shares=2_000 * DAI)
    assert holder.balance("DAI") - cash > 1_990 * DAI and claims_of(holder, bond) > 2_000 * DAI
    assert abs(before - measure(holder).nav_micro_usd) < 10 * USD


def test_without_an_average_yet_nothing_is_bought_and_nothing_is_left_out(holder: LiveGolem, bond: Bond) -> None:
    world, cash = bond.world, bond.world.tokens["DAI"].address
    young = world.deploy(
        world.actors.deployer, "MadeUpBond", "(address,uint256)", cash, int(clock.now().timestamp()) + 3 * YEAR
    )
    maker = world.new_account(10**18, {"DAI": 2_000 * DAI})
    world.transact(maker, cash, "approve(address,uint256)", young, 2_000 * DAI)
    world.transact(maker, young, "open(uint256,uint256)", 900 * DAI, 1_000 * DAI)
    bond.modules["addresses"].DEPLOYED[CHAIN_ID]["bond"] = young
    with pytest.raises(GolemError) as refused:
        ask(holder, "bond_buy", amount=10 * DAI)
    assert "NotReady" in str(refused.value.data), refused.value.data
    # What is held without one is not told as nothing.
    world.transact(maker, young, "give(address,uint256)", holder.golem.address, 10 * DAI)
    with pytest.raises(GolemError) as unread:
        measure(holder)
    assert "no average price of fifteen minutes yet" in unread.value.detail


def test_claims_that_are_due_count_as_what_is_due_and_are_redeemed(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=1_000 * DAI)
    act(holder, "bond_buy_coupons", amount=10 * DAI)
    claims = claims_of(holder, bond)
    bond.pass_time(YEAR)
    [leg] = held_as(holder, "claims").position.legs
    assert leg.raw == claims and leg.due is not None and leg.due.average is None
    told = tell_rules(held_as(holder, "claims"))
    assert any(" are due since " in each for each in told), told
    assert any("about 0 DAI at the market" in each for each in told), told
    cash = holder.balance("DAI")
    act(holder, "bond_redeem", claims=claims)
    assert holder.balance("DAI") - cash == claims


def test_before_its_time_a_claim_is_redeemed_with_a_coupon(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=100 * DAI)
    act(holder, "bond_buy_coupons", amount=10 * DAI)
    coupons = claims_of(holder, bond, "coupons")
    assert coupons > 100 * DAI
    cash = holder.balance("DAI")
    act(holder, "bond_redeem", claims=100 * DAI)
    assert holder.balance("DAI") - cash == 100 * DAI
    assert claims_of(holder, bond, "coupons") == coupons - 100 * DAI


def test_coupons_never_count_and_are_shown_at_the_market(holder: LiveGolem, bond: Bond) -> None:
    before = measure(holder).nav_micro_usd
    act(holder, "bond_buy_coupons", amount=100 * DAI)
    lost = before - measure(holder).nav_micro_usd
    assert 99 * USD < lost < 110 * USD
    held = held_as(holder, "claims")
    assert held.micro_usd == 0 and not held.position.legs
    [words] = tell_rules(held)
    assert "count as nothing: yield to come, which may be none; about 99.99" in words or "about 100 DAI" in words, words
    holder.owner.is_superuser = True
    holder.owner.save()
    client = Client()
    client.force_login(holder.owner)
    page = client.get(f"/admin/archetypes_app/golem/{holder.golem.pk}/money/").content.decode()
    assert "count as nothing: yield to come, which may be none" in page
    # And sold again for what they bring.
    cash = holder.balance("DAI")
    act(holder, "bond_sell_coupons", coupons=claims_of(holder, bond, "coupons"))
    assert holder.balance("DAI") - cash > 99 * DAI


@pytest.mark.parametrize(("action", "parts"), [("bond_buy_coupons", 20_000), ("bond_sell_coupons", 5_000)])
def test_what_never_counts_is_still_measured_against_what_the_plan_says(
    holder: LiveGolem, bond: Bond, action: str, parts: int
) -> None:
    act(holder, "bond_buy_coupons", amount=100 * DAI)
    coupons = claims_of(holder, bond, "coupons")
    bond.modules["tools"].SLIPS["says"] = parts
    with pytest.raises(GolemError) as refused:
        ask(holder, action, **({"amount": 10 * DAI} if action == "bond_buy_coupons" else {"coupons": coupons}))
    assert refused.value.data["rule"] == "simulator.position_bound", refused.value.data


def test_what_people_are_shown_is_sold_for_half_of_it_and_not_for_less(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy_coupons", amount=100 * DAI)
    shows, coupons = bond.modules["positions"].SHOWS, claims_of(holder, bond, "coupons")
    shows.append(20_000)
    assert ask(holder, "bond_sell_coupons", coupons=coupons)["permit_id"]
    # A cent is what rounding may take, of 50 dollars that were asked for.
    shows[0] = 20_010
    with pytest.raises(GolemError) as refused:
        ask(holder, "bond_sell_coupons", coupons=coupons)
    data = refused.value.data
    assert (data["rule"], bool(data["would_pass"])) == ("simulator.sold_for_nothing", True)


def test_what_never_counts_is_bought_for_twice_what_people_are_shown_and_not_for_more(
    holder: LiveGolem, bond: Bond
) -> None:
    shows = bond.modules["positions"].SHOWS
    shows.append(5_000)
    assert ask(holder, "bond_buy_coupons", amount=100 * DAI)["permit_id"]
    # Two cents less than half of what is paid.
    shows[0] = 4_998
    with pytest.raises(GolemError) as refused:
        ask(holder, "bond_buy_coupons", amount=100 * DAI)
    data = refused.value.data
    assert (data["rule"], bool(data["would_pass"])) == ("simulator.bought_dearly", True), data


def test_claims_are_sold_beside_another_sale_that_is_under_way(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=1_000 * DAI)
    half = claims_of(holder, bond) // 2
    first, second = (ask(holder, "bond_sell", claims=half) for _ in range(2))
    with pytest.raises(GolemError) as refused:
        ask(holder, "bond_sell", claims=half)
    assert refused.value.data["rule"] == "simulator.level", refused.value.data
    assert {holder.commit(each["permit_id"])["status"] for each in (first, second)} == {"COMMITTED"}


def test_a_halt_takes_the_pool_apart_sells_claims_and_then_coupons(holder: LiveGolem, bond: Bond) -> None:
    act(holder, "bond_buy", amount=500 * DAI)
    act(holder, "bond_buy_coupons", amount=50 * DAI)
    give_shares(holder, bond, 1_000 * DAI)
    HaltSetting.objects.create(golem=holder.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=holder.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    left = [claims_of(holder, bond, what) for what in ("claims", "coupons", "shares")]
    assert left == [0, 0, 0]
    assert HaltRecord.objects.get(golem=golem).completed_at is not None


def test_a_cage_counts_claims_and_pools_by_the_same_rule_on_every_block(holder: LiveGolem, bond: Bond) -> None:
    golem, chain = holder.golem, reader()
    assert not [each for each in list_uncaged(golem, CHAIN_ID) if "bond" in each]
    there, missing = find_valuers(golem, chain, [], left_out=())
    data = build_valuer(chain, missing[bond.address])
    world = bond.world
    valuer = checksum(world.send(world.actors.deployer, None, "0x" + data.hex())["contractAddress"])
    there, _ = find_valuers(golem, reader(), [valuer], left_out=())
    rules = suggest_rules(golem=golem, chain=reader(), high_water_mark_micro_usd=USD, guardian=None, valuers=there)
    keys = {call_key(bond.address, parse_signature(f"function {name}").selector) for name in CALLS}
    assert keys | {valuer_rule(bond.address, valuer).key} <= {rule.key for rule in rules}
    coin = AssetRule(world.tokens["WETH"].feed, 3_600, 18, FEED_DECIMALS)
    cash = AssetRule(world.tokens["DAI"].feed, 86_400, 18, FEED_DECIMALS)
    cage = WorldCage(
        world,
        [
            *asset_rules(NATIVE, coin, per_batch=1, per_window=1),
            *asset_rules(world.tokens["DAI"].address, cash, per_batch=1, per_window=1),
            valuer_rule(bond.address, valuer),
        ],
        golem,
    )

    def compare() -> int:
        holdings = measure(holder)
        number = reader().block.number
        [measured] = cage.read(cage.cage, FUNCTIONS["measure"], block=number)
        [listed] = cage.read(cage.cage, FUNCTIONS["positions"], block=number)
        at = [checksum(each) for each in listed].index(bond.address)
        mine = sum(each.micro_usd or 0 for each in holdings.positions if each.ref.protocol == NAME)
        assert abs(measured[2][at] - mine) <= 4, (measured[2][at], mine)
        return mine

    act(holder, "bond_buy", amount=1_000 * DAI)
    act(holder, "bond_buy_coupons", amount=50 * DAI)
    give_shares(holder, bond, 10_000 * DAI)
    first = compare()
    bond.push(400_000 * DAI)
    assert abs(compare() - first) * 100 < first
    bond.pass_time(1_000)
    assert compare() > first
    act(holder, "bond_part", shares=1_000 * DAI)
    compare()
