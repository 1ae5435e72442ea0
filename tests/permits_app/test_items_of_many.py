"""What leaves by its number leaves whole: a token of which an account may have many is no item, whatever a plan says.

A plan may name how many of a number leave: then both sides' balances are held to it.

The protocol is made up and dropped in, and its author forgot that there may be many of one card.
"""

from __future__ import annotations

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.approvals.plan_bounds_text import say_bounds
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, AllowlistEntry, DeniedCall
from permits_app.models.allowlist import AllowlistKind
from permits_app.permits.kept_bounds import read_bounds
from permits_app.permits.plan_store import decode_plan
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_cards.on_the_shelf import NAME, Cards
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.plan import AmountGiven

ASKS, ONE, MANY, CLAIMS = "01ffc9a7", "80ac58cd", "d9b67a26", "0f632fb3"
TAKER = checksum("0x" + "c0ffee".zfill(40))
CARD = 7


@pytest.fixture
def collector(db: None, cards: Cards) -> LiveGolem:
    """A golem with five of one card, whose owner lets it give cards to somebody."""
    live = make_live_golem(cards.world)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    AllowlistEntry.objects.create(
        golem=live.golem, chain_id=CHAIN_ID, kind=AllowlistKind.RECIPIENT, address=TAKER, label="A friend"
    )
    cards.do("mint(address,uint256,uint256)", live.golem.address, CARD, 5)
    return live


def ask(live: LiveGolem, amount: int) -> dict[str, object]:
    body = {"to": TAKER, "number": str(CARD), "amount": str(amount)}
    return live.preview(action_type="cards_give", venue=NAME, token_in=None, token_out=None, **body)


def refused(live: LiveGolem, amount: int) -> GolemError:
    with pytest.raises(GolemError) as caught:
        ask(live, amount)
    assert not ActionPermit.objects.filter(golem=live.golem).exists()
    return caught.value


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ((), "does not say that it is ERC-721"),
        ((ASKS,), "does not say that it is ERC-721"),
        ((ASKS, MANY), "is ERC-1155, of which an account may have many of one number"),
        ((ASKS, ONE, MANY), "is ERC-1155, of which an account may have many of one number"),
        ((ASKS, ONE, CLAIMS), "is ERC-6909, of which an account may have many of one number"),
    ],
)
def test_a_card_of_which_there_may_be_many_leaves_in_no_plan(
    collector: LiveGolem, cards: Cards, kinds: tuple[str, ...], why: str
) -> None:
    cards.say(*kinds)
    error = refused(collector, 1)
    assert (error.code, error.next_step, error.http_status) == ("ITEM_OF_MANY", Recovery.GIVE_UP, 422)
    assert why in error.detail and error.data == {"contract": cards.address, "token_id": str(CARD)}


def test_who_only_says_that_it_is_one_of_a_kind_is_found_out_by_what_would_move(
    collector: LiveGolem, cards: Cards
) -> None:
    cards.say(ASKS, ONE)
    error = refused(collector, 5)
    assert error.code == "ITEM_OF_MANY" and "would move 5 of one number" in error.detail
    assert DeniedCall.objects.filter(golem=collector.golem).exists()


def test_one_of_a_kind_leaves_by_its_number(collector: LiveGolem, cards: Cards) -> None:
    cards.say(ASKS, ONE)
    done = collector.commit(str(ask(collector, 1)["permit_id"]))
    assert done["status"] == "COMMITTED"
    assert (cards.count(str(collector.golem.address), CARD), cards.count(TAKER, CARD)) == (4, 1)


def give_some(live: LiveGolem, amount: int, *, said: int | None = None, named: int = CARD, to: str = TAKER) -> str:
    body = {
        "to": to,
        "number": str(CARD),
        "amount": str(amount),
        "said": str(amount if said is None else said),
        "named": str(named),
    }
    told = live.preview(action_type="cards_give_some", venue=NAME, token_in=None, token_out=None, **body)
    return str(told["permit_id"])


@pytest.mark.parametrize("kind", [MANY, CLAIMS])
def test_so_many_of_one_number_leave_where_the_plan_says_how_many(
    collector: LiveGolem, cards: Cards, kind: str
) -> None:
    cards.say(ASKS, kind)
    permit = ActionPermit.objects.get(pk=give_some(collector, 3))
    assert permit.bounds["amounts"] == [
        {"contract": cards.address, "token_id": str(CARD), "recipient": TAKER, "raw": "3"}
    ]
    assert [each["least"] for each in permit.bounds["gauges"]] == ["2", "3"]
    assert any("3 of number 7" in line for line in say_bounds(read_bounds(permit.bounds), chain_id=CHAIN_ID))
    assert decode_plan(permit).amounts == (AmountGiven(cards.address, CARD, TAKER, 3),)
    assert collector.commit(str(permit.pk))["status"] == "COMMITTED"
    assert (cards.count(str(collector.golem.address), CARD), cards.count(TAKER, CARD)) == (2, 3)


@pytest.mark.parametrize(
    ("amount", "said", "named", "rule"),
    [
        (3, 2, CARD, "simulator.unexpected_leave"),
        (2, 3, CARD, "simulator.gauge"),
        (1, 1, CARD + 1, "simulator.unexpected_leave"),
    ],
)
def test_an_amount_is_held_to_what_both_sides_have_afterwards(
    collector: LiveGolem, cards: Cards, amount: int, said: int, named: int, rule: str
) -> None:
    cards.say(ASKS, MANY)
    cards.do("mint(address,uint256,uint256)", collector.golem.address, CARD + 1, 5)
    with pytest.raises(GolemError) as caught:
        give_some(collector, amount, said=said, named=named)
    assert caught.value.data["rule"] == rule
    assert not ActionPermit.objects.filter(golem=collector.golem).exists()


def test_what_was_given_meanwhile_is_not_there_to_be_given_again(collector: LiveGolem, cards: Cards) -> None:
    cards.say(ASKS, MANY)
    first, second = give_some(collector, 3), give_some(collector, 2)
    assert collector.commit(second)["status"] == "COMMITTED"
    assert collector.commit(first)["status"] == "BLOCKED"
    row = collector.permit(first)
    assert (row.problem["code"], row.problem["rule"]) == ("SAFETY_SIMULATION_FAILED", "simulator.gauge")
    assert cards.count(TAKER, CARD) == 2


def test_more_than_there_is_of_a_number_is_a_short_balance(collector: LiveGolem, cards: Cards) -> None:
    cards.say(ASKS, MANY)
    with pytest.raises(GolemError) as caught:
        give_some(collector, 6)
    assert (caught.value.code, caught.value.data["have"], caught.value.data["need"]) == (
        "INSUFFICIENT_BALANCE",
        "5",
        "6",
    )


def test_an_amount_goes_to_nobody_whom_the_owner_did_not_list(collector: LiveGolem, cards: Cards) -> None:
    cards.say(ASKS, MANY)
    with pytest.raises(GolemError) as caught:
        give_some(collector, 1, to=checksum("0x" + "bad".zfill(40)))
    assert caught.value.code == "SAFETY_ADDRESS_NOT_ALLOWED"
    assert not ActionPermit.objects.filter(golem=collector.golem).exists()


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ((), "does not say that it is ERC-1155 or ERC-6909 and no other"),
        ((ASKS,), "does not say that it is ERC-1155 or ERC-6909 and no other"),
        ((ASKS, ONE), "does not say that it is ERC-1155 or ERC-6909 and no other"),
        ((ASKS, ONE, MANY), "does not say that it is ERC-1155 or ERC-6909 and no other"),
    ],
)
def test_an_amount_is_no_promise_where_the_contract_does_not_say_what_it_keeps(
    collector: LiveGolem, cards: Cards, kinds: tuple[str, ...], why: str
) -> None:
    cards.say(*kinds)
    with pytest.raises(GolemError) as caught:
        give_some(collector, 1)
    assert (caught.value.code, caught.value.next_step) == ("AMOUNT_UNCOUNTED", Recovery.GIVE_UP)
    assert why in caught.value.detail
    assert caught.value.data == {"contract": cards.address, "token_id": str(CARD)}
