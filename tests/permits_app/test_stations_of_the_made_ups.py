"""Stations that the made-up protocols' own tests leave out: worth, pages, the suggestion of a cage, a halt.

No file of the product knows any of them. `docs/history/the-shelf-row-by-row.md` says what goes through which station.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models import HaltRecord, HaltSetting, OutcomeRecord, PendingRequest, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import Rule, RuleKind, call_key, key_address, spender_rule
from permits_app.policy_cage.suggested_rules import call_rules, list_uncaged, suggest_rules
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bond.on_the_shelf import NAME as BOND
from tests.made_up_bond.on_the_shelf import Bond
from tests.made_up_keeper.on_the_shelf import NAME as KEEPER
from tests.made_up_keeper.on_the_shelf import Keepers
from tests.made_up_pools.on_the_shelf import NAME as POOLS
from tests.made_up_pools.on_the_shelf import Pools
from tests.made_up_purse.on_the_shelf import Purse
from tools_app import runner
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.registry import REGISTRY

DAI, USDC, USD = 10**18, 10**6, 10**6
NO_SWAP: dict[str, Any] = {"token_in": None, "token_out": None, "amount": None}


def take_up(world: Any, venue: str) -> LiveGolem:
    """A golem with the protocol's tools, whose owner took the allowlist as it is suggested."""
    live = make_live_golem(world)
    for tool in [tool for tool in REGISTRY if tool.venue == venue]:
        ToolOverride.objects.get_or_create(
            golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
        )
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    return live


def do(live: LiveGolem, **body: Any) -> str:
    """Preview and commit, verified: the permit's id."""
    permit = live.preview(**{**NO_SWAP, **body})
    assert live.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
    return str(permit["permit_id"])


def worth(live: LiveGolem) -> int:
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    account = str(live.golem.address)
    hints = list_hints(chain_id=CHAIN_ID, account=account)
    return measure_holdings(chain=chain, account=account, hints=hints).nav_micro_usd


def page(live: LiveGolem, path: str = "") -> str:
    """A page of the admin as the golem's owner sees it; the golem's own without a path."""
    live.owner.is_superuser = live.owner.is_staff = True
    live.owner.save()
    client = Client()
    client.force_login(live.owner)
    answer = client.get(path or f"/admin/archetypes_app/golem/{live.golem.pk}/money/")
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def suggest(live: LiveGolem) -> list[Rule]:
    """The rules that a new cage would begin with."""
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    return suggest_rules(golem=live.golem, chain=chain, high_water_mark_micro_usd=USD, guardian=None, valuers={})


def suggested(live: LiveGolem) -> set[bytes]:
    """Their keys."""
    return {rule.key for rule in suggest(live)}


def halt(live: LiveGolem) -> list[dict[str, Any]]:
    """The steps of a halt that was carried out, positions and all."""
    HaltSetting.objects.create(golem=live.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=live.golem.pk)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    return carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())


@pytest.fixture
def asker(transactional_db: None, keepers: Keepers) -> LiveGolem:
    return take_up(keepers.world, KEEPER)


def test_a_keepers_order_is_worth_what_it_holds_and_stands_on_the_golems_page(asker: LiveGolem) -> None:
    before = worth(asker)
    do(asker, action_type="keeper_order", venue=KEEPER, give=str(300 * DAI), want=str(DAI // 10))
    assert 0 <= before - worth(asker) < 10 * USD, "gas alone is gone"
    row = PendingRequest.objects.get()
    told = page(asker)
    for words in ("The made-up keepers (simulated contract), order", row.ref.rpartition("/")[2], "300 DAI"):
        assert words in told or words in page(asker, f"/admin/permits_app/pendingrequest/{row.pk}/change/"), words


def test_no_cage_is_suggested_what_keepers_carry_out_and_its_page_says_why(asker: LiveGolem, keepers: Keepers) -> None:
    address = keepers.address
    place = parse_signature("function place(uint256,uint256,uint256,address)").selector
    assert call_key(address, place) not in suggested(asker)
    assert call_rules(CHAIN_ID, {address}, valued=None) == []
    [words] = [each for each in list_uncaged(asker.golem, CHAIN_ID) if "keepers" in each]
    assert words.endswith("what an order becomes is up to its keeper")


@pytest.fixture
def trader(transactional_db: None, hook_pools: Pools) -> LiveGolem:
    live = take_up(hook_pools.world, POOLS)
    listed = AllowlistChoice(CHAIN_ID, AllowlistKind.HOOK, hook_pools.hook, "its owner read it")
    allow_addresses(golem=live.golem, choices=[listed], actor="system:test", now=clock.now())
    return live


def test_a_trade_with_a_pool_of_a_manager_costs_its_fee_and_stands_on_the_pages(
    trader: LiveGolem, hook_pools: Pools
) -> None:
    before = worth(trader)
    permit = do(
        trader, action_type="pools_trade", venue=POOLS, pool=hook_pools.plain, token_in="USDC", amount=str(100 * USDC)
    )
    assert 0 < before - worth(trader) < 10 * USD
    told = page(trader, f"/admin/permits_app/actionpermit/{permit}/change/")
    assert "The made-up pools" in told and "100 USDC" in told
    assert "pools_trade" in page(trader, f"/admin/archetypes_app/golem/{trader.golem.pk}/agent/")


def test_a_halt_finds_nothing_of_a_trade_and_takes_its_allowance_back(trader: LiveGolem, hook_pools: Pools) -> None:
    do(trader, action_type="pools_trade", venue=POOLS, pool=hook_pools.plain, token_in="USDC", amount=str(100 * USDC))
    steps = halt(trader)
    assert POOLS not in str([each for each in steps if each["step"] == "positions unwound"])
    assert HaltRecord.objects.get().completed_at is not None


def test_a_cage_is_suggested_the_trade_and_not_the_hook_and_lets_no_spender_take_more_than_a_trade(
    trader: LiveGolem, hook_pools: Pools
) -> None:
    trade = parse_signature("function trade(bytes32,bool,uint256,uint256)").selector
    rules = suggest(trader)
    keys = {rule.key for rule in rules}
    # What a hook takes is a loss, and bounded as any; who may run at all is this server's rule alone.
    assert call_key(hook_pools.manager, trade) in keys
    assert not [rule for rule in rules if hook_pools.hook.lower()[2:] in rule.key.hex()]
    limits = SpendingLimits.objects.get(golem=trader.golem)
    [spender] = [r for r in rules if r.kind is RuleKind.SPENDER and key_address(r.key) == hook_pools.manager]
    assert spender == spender_rule(hook_pools.manager, most_micro_usd=limits.per_transaction_micro_usd)


@pytest.fixture
def manager(transactional_db: None, purse: Purse) -> LiveGolem:
    return take_up(purse.world, "made_up_purse")


def test_no_cage_is_suggested_a_call_that_moves_a_principals_money(manager: LiveGolem, purse: Purse) -> None:
    draw = parse_signature("function draw(address,address,uint256,address)").selector
    found = suggested(manager)
    assert call_key(purse.address, draw) not in found
    assert call_rules(CHAIN_ID, {purse.address}, valued=None) == []
    [words] = [each for each in list_uncaged(manager.golem, CHAIN_ID) if "purse" in each]
    assert "principal" in words


@pytest.fixture
def holder(transactional_db: None, bond: Bond) -> LiveGolem:
    return take_up(bond.world, BOND)


def test_claims_and_coupons_stand_on_the_golems_page_with_their_rule(holder: LiveGolem, bond: Bond) -> None:
    do(holder, action_type="bond_buy", venue=BOND, amount=str(1_000 * DAI))
    told = page(holder)
    assert "the lower of its average price of 15 minutes and what is due" in told
    assert "bond" in told.lower()
