"""Two owners and several clients at once at accounts that run code, at money between golems, at one payment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.test import Client

from permits_app.actions.settle_account_codes import settle_account_codes
from permits_app.models import (
    AllowlistEntry,
    RelayedTransaction,
)
from permits_app.tasks import commit_openings_task
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.evm.world import World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import FUNDS, LiveGolem, make_live_golem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import give_device
from tests.permits_app.approvals.safes import make_relayer
from tests.permits_app.tools.test_code_wallets import CODE, code_of, names
from tests.permits_app.tools.test_funding_from_golems import pair as pair
from tests.permits_app.tools.test_wallet_life import COIN, USD, ask, decide, without_a_wallet
from tests.tools_app.protocols.x402.conftest import payer as payer
from tests.tools_app.protocols.x402.conftest import stranger as stranger
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock

SWEEPS = 4


def coded_at(live: LiveGolem, owner: Any) -> LiveGolem:
    """A golem whose owner agreed to a new account with code."""
    without_a_wallet(live)
    assert decide(ask(live, "provision", provider="eip7702", label="first"), owner).state == "EXECUTED"
    live.golem.refresh_from_db()
    live.world.fund(live.golem.address, 10 * COIN, FUNDS)
    return live


@pytest.mark.protocols("metamask")
def test_accounts_of_two_owners_take_up_their_code_once_though_four_sweeps_look_at_once(
    transactional_db: None, local_chain: World, settings: Any
) -> None:
    first, second = (make_live_golem(local_chain, name=name, owner_name=name) for name in ("ann", "ben"))
    make_relayer(first, settings)
    for live in (first, second):
        give_device(live.owner)
        coded_at(live, live.owner)
    for _ in range(3):
        at_once(lambda _: commit_openings_task.run(), count=SWEEPS)
    for live in (first, second):
        assert code_of(live, live.golem.address) == names(CODE)
    sent = Counter(RelayedTransaction.objects.values_list("to", flat=True))
    assert sent == {first.golem.address: 1, second.golem.address: 1}
    # Both act then, at once, each with its own key.
    permits = [live.preview()["permit_id"] for live in (first, second)]

    def act(index: int) -> str:
        live = (first, second)[index]
        return str(live.commit(permits[index])["status"])

    assert at_once(act, count=2) == ["COMMITTED", "COMMITTED"]


@pytest.mark.protocols("metamask")
def test_what_an_account_signs_for_its_code_is_sent_once_though_two_look_past_each_other(
    transactional_db: None, local_chain: World, settings: Any
) -> None:
    """Without the lock of the task: as two machines whose clocks fire together."""
    live = make_live_golem(local_chain, name="ann", owner_name="ann")
    make_relayer(live, settings)
    give_device(live.owner)
    coded_at(live, live.owner)
    at_once(lambda _: settle_account_codes(now=clock.now()), count=2)
    assert code_of(live, live.golem.address) == names(CODE)
    for _ in range(2):
        settle_account_codes(now=clock.now())
    assert code_of(live, live.golem.address) == names(CODE)
    assert live.commit(live.preview()["permit_id"])["status"] == "COMMITTED", "no nonce is lost or used twice"


@pytest.mark.protocols("uniswap_x", "x402")
def test_golems_of_two_owners_pay_the_same_resource_once_each_and_see_nothing_of_each_other(payer: Payer) -> None:
    other = make_live_golem(payer.live.world, name="Other", owner_name="owner-b")
    for tool in payer.live.golem.tool_overrides.all():
        other.golem.tool_overrides.get_or_create(tool_name=tool.tool_name, defaults={"mode": tool.mode})
    for entry in AllowlistEntry.objects.filter(golem=payer.live.golem):
        AllowlistEntry.objects.get_or_create(
            golem=other.golem,
            chain_id=entry.chain_id,
            kind=entry.kind,
            address=entry.address,
            defaults={"label": entry.label},
        )
    theirs = Payer(other, Agent(golem=other.golem, key=other.key, client=Client()), payer.payee)
    theirs.approve()
    first, second = at_once(lambda index: (payer, theirs)[index].pay(), count=2)
    assert first["payment_id"] != second["payment_id"]
    code, problem = theirs.post("query_state", query="x402_payment", payment_id=first["payment_id"])
    assert (code, problem["code"]) == (404, "PAYMENT_UNKNOWN")
    assert payer.payee.settle(first) and payer.payee.settle(second)
    assert payer.payee.balance() == 4 * USD
