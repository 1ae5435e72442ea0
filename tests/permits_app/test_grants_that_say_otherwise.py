"""What an owner's wallet granted is more, less, of another token or for another chain than anybody asked for."""

from __future__ import annotations

import pytest

from permits_app.errors import RightWithdrawn
from permits_app.models import ReceivedRight
from tests.permits_app.test_runway import Kept, ask_health
from tests.permits_app.test_runway import kept as kept
from tests.tools_app.protocols.metamask.owner_wallet import USD, raw
from tools_app.core.errors import InvalidParams
from tools_app.protocols.metamask.tools import RunwayClosed

pytestmark = pytest.mark.protocols("metamask")
DAI = 10**18


@pytest.mark.parametrize("a_day", [USD // 2, 100_000 * USD])
def test_a_grant_of_less_or_more_than_anybody_asked_for_is_drawn_for_what_it_says_and_what_there_is(
    kept: Kept, a_day: int
) -> None:
    right, held = kept.keep(a_day=a_day), kept.wallet.balance()
    assert int(right.most) == a_day
    with pytest.raises(InvalidParams):
        kept.draw(min(a_day, held) + 1)
    assert ask_health(kept)["remaining_today"] == str(min(a_day, held))


def test_a_grant_of_another_token_is_a_right_over_that_token_alone(kept: Kept) -> None:
    world, caveats = kept.wallet.world, kept.wallet.runway(a_day=25 * DAI)
    dai = world.tokens["DAI"].address
    enforcer, terms, signed = caveats[0]
    right = kept.receive(kept.wallet.context(kept.account, [(enforcer, raw(dai) + terms[20:], signed), *caveats[1:]]))
    assert right.token == dai
    with pytest.raises(RunwayClosed):
        kept.draw(10 * DAI)  # the giver holds none of it, and the USDC that it holds is not looked at
    world.fund(kept.wallet.address, 0, {"DAI": 5 * DAI})
    had = kept.wallet.balance()
    assert ask_health(kept)["remaining_today"] == str(5 * DAI)
    kept.live.commit(kept.draw(5 * DAI)["permit_id"])
    assert world.rpc.balance_of(dai, kept.wallet.address) == 0 and kept.wallet.balance() == had


def test_a_grant_that_was_signed_for_another_chain_does_not_stand_on_this_one(kept: Kept) -> None:
    assert kept.wallet.context(kept.account)
    with pytest.raises(RightWithdrawn, match="honour"):
        kept.receive(kept.wallet.context(kept.account, chain_id=8453))
    assert not ReceivedRight.objects.exists()
