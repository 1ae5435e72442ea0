"""What leaves by its number leaves whole: a token of which an account may have many is no item, whatever a plan says.

The protocol is made up and dropped in, and its author forgot that there may be many of one card.
"""

from __future__ import annotations

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, AllowlistEntry, DeniedCall
from permits_app.models.allowlist import AllowlistKind
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_cards.on_the_shelf import NAME, Cards
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery

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
