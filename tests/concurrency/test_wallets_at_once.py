"""Two owners and several clients at once at accounts that run code, at money between golems, at one payment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.test import Client

from permits_app.actions.apply_eip7702_code import apply_eip7702_code
from permits_app.actions.execute_change import execute_change
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    ChangeRequest,
    RelayedTransaction,
    SignedPromise,
    SpendEntry,
    SpendingLimits,
)
from permits_app.models.permit import PermitStatus
from permits_app.tasks import commit_openings_task
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import FUNDS, LiveGolem, make_live_golem
from tests.passing_time import let_pass_until
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.approvals.safes import make_relayer
from tests.permits_app.tools.test_code_wallets import CODE, code_of, names
from tests.permits_app.tools.test_funding_from_golems import Pair
from tests.permits_app.tools.test_funding_from_golems import pair as pair
from tests.permits_app.tools.test_wallet_life import COIN, USD, ask, decide, permit_of, without_a_wallet
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
    at_once(lambda _: apply_eip7702_code(now=clock.now()), count=2)
    assert code_of(live, live.golem.address) == names(CODE)
    for _ in range(2):
        apply_eip7702_code(now=clock.now())
    assert code_of(live, live.golem.address) == names(CODE)
    assert live.commit(live.preview()["permit_id"])["status"] == "COMMITTED", "no nonce is lost or used twice"


def test_two_golems_that_ask_the_same_sister_at_once_are_sent_what_her_limit_allows_and_no_more(
    transactional_db: None, pair: Pair
) -> None:
    third = make_live_golem(pair.asker.world, name="Third", owner_name=pair.asker.owner.username)
    third.golem.co_owners.add(*pair.asker.golem.co_owners.all())
    AllowlistEntry.objects.create(
        golem=pair.giver.golem, chain_id=CHAIN_ID, kind="RECIPIENT", address=third.golem.address, label="sister"
    )
    requests = []
    for live in (pair.asker, third):
        permit = Pair(live, pair.giver, pair.other).ask()
        requests.append(approve(ChangeRequest.objects.get(permit_id=permit["permit_id"]), pair.other))
    SpendingLimits.objects.filter(golem=pair.giver.golem).update(per_day_micro_usd=80 * USD)
    had = [pair.held(live, "USDC") for live in (pair.asker, third)]
    now = let_pass_until(max(at for each in requests if (at := each.executes_at)))
    at_once(lambda index: execute_change(request_id=requests[index].pk, now=now), count=2)
    ended = Counter(ActionPermit.objects.filter(golem=pair.giver.golem).values_list("status", flat=True))
    gained = [pair.held(live, "USDC") - before for live, before in zip((pair.asker, third), had, strict=True)]
    assert sorted(gained) == [0, 50 * USD], (gained, ended)
    assert ended[PermitStatus.COMMITTED] == 1, ended
    assert SpendEntry.objects.filter(golem=pair.giver.golem, state="SETTLED").count() == 1


def test_what_two_owners_agreed_to_at_once_is_sent_once(transactional_db: None, pair: Pair) -> None:
    permit = pair.ask()
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    people = [pair.asker.owner, pair.other]
    at_once(lambda index: approve(request, people[index]), count=2)
    request.refresh_from_db()
    now, had = let_pass_until(request.executes_at), pair.held(pair.asker, "USDC")
    at_once(lambda _: execute_change(request_id=request.pk, now=now), count=3)
    request.refresh_from_db()
    assert (request.state, permit_of(request).status) == ("EXECUTED", "COMMITTED"), request.problem
    assert pair.held(pair.asker, "USDC") - had == 50 * USD and len(pair.giver_permits()) == 1


@pytest.mark.protocols("uniswap_x", "x402")
def test_one_payment_that_four_clients_retry_at_once_is_signed_once(payer: Payer) -> None:
    """Each client previews and commits on its own, as agents do whose answer was lost."""
    header = payer.payee.ask()

    def retry(_: int) -> str:
        mine = Payer(payer.live, Agent(golem=payer.live.golem, key=payer.live.key, client=Client()), payer.payee)
        status, permit = mine.preview(header)
        if status != 200:
            return str(permit["code"])
        _, done = mine.post("commit_action", permit_id=permit["permit_id"])
        return str(done["status"])

    answers = Counter(at_once(retry, count=4))
    assert answers["COMMITTED"] == 1, answers
    # Who was told to wait for the other asks again.
    for permit in ActionPermit.objects.filter(golem=payer.live.golem, tool_name="x402_pay", status="CREATED"):
        _, done = payer.post("commit_action", permit_id=str(permit.pk))
        assert done.get("status") != "COMMITTED", done
    [row] = SignedPromise.objects.all()
    held = SpendEntry.objects.filter(golem=payer.live.golem, state="RESERVED")
    assert [each.permit_id for each in held] == [row.permit_id], (answers, list(held.values_list("permit__status")))
    assert row.state == "OPEN"


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
