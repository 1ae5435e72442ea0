"""What is left after a plan and everything beside it, at a lender whose `withdraw` also borrows, from the first preview
to a halt: no two actions at once make a debt that nobody agreed to.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connections
from django.test import Client, override_settings

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, HaltSetting, SpendingLimits
from permits_app.pages.exit_lines import list_halt_exits
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_comet.on_the_shelf import NAME, Comet
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.toolkit.registry import REGISTRY

E18 = 10**18
PUT_IN, COVER = 20_000 * E18, 20 * E18
SUPPLY, WITHDRAW = "function supply(address,uint256)", "function withdraw(address,uint256)"
EVERYTHING = 2**256 - 1


class Saver:
    """A golem with 20,000 DAI and 20 WETH at the comet, and its agent over REST."""

    def __init__(self, live: LiveGolem, comet: Comet) -> None:
        self.live, self.comet = live, comet
        self.agent = Agent(golem=live.golem, key=live.key, client=Client())
        self.account = str(live.golem.address)

    def send(self, to: str, signature: str, *args: Any) -> None:
        """Besides everything of ours."""
        rpc = self.comet.world.rpc
        rpc.call("anvil_impersonateAccount", self.account)
        request = {"from": self.account, "to": to, "data": call_data(signature, *args), "gas": hex(300_000)}
        assert self.comet.world.wait(rpc.call("eth_sendTransaction", request))["status"] == "0x1"
        rpc.call("anvil_stopImpersonatingAccount", self.account)

    def put_in(self, symbol: str, amount: int) -> None:
        """Into the comet."""
        token = self.comet.world.tokens[symbol].address
        self.comet.world.fund(self.account, 0, {symbol: amount})
        self.send(token, "approve(address,uint256)", self.comet.address, amount)
        self.send(self.comet.address, "supply(address,uint256)", token, amount)

    def preview(self, action: str, amount: int, **params: Any) -> dict[str, Any]:
        """The answer with its HTTP status."""
        body = {"action_type": action, "venue": NAME, "amount": str(amount), **params}
        response = self.agent.post("preview_action", body)
        return {**response.json(), "http": response.status_code}

    def principal(self) -> int:
        """What it has there of DAI; below zero what it owes."""
        return self.comet.principal(self.account)


@pytest.fixture
def saver(transactional_db: None, comet: Comet) -> Iterator[Saver]:
    live = make_live_golem(comet.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    SpendingLimits.objects.filter(golem=live.golem).update(
        per_transaction_micro_usd=10**15,
        per_tick_micro_usd=10**15,
        per_session_micro_usd=10**15,
        per_day_micro_usd=10**15,
    )
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    saver = Saver(live, comet)
    saver.put_in("DAI", PUT_IN)
    saver.put_in("WETH", COVER)
    try:
        yield saver
    finally:
        app.conf.task_always_eager = was_eager


def test_of_two_withdrawals_previewed_in_one_block_the_second_would_be_a_debt_and_is_refused(saver: Saver) -> None:
    first = saver.preview("comet_withdraw", 11_000 * E18)
    second = saver.preview("comet_withdraw", 10_000 * E18)
    assert first["http"] == 200, first
    assert (second["http"], second["code"], second["recovery"]) == (409, "TAKEN_BESIDE", "WAIT")
    assert second["waits_for"] == [first["permit_id"]] and second["rule"] == "simulator.level"
    assert "9000 DAI" in second["remaining"] and "cancelled" in second["would_pass"]
    # What both leave room for passes, and so does the second once the first is cancelled.
    assert saver.preview("comet_withdraw", 9_000 * E18)["http"] == 200
    for permit in ActionPermit.objects.filter(status="CREATED"):
        saver.agent.post("cancel_action", {"permit_id": str(permit.pk), "reason": "other plans"})
    assert saver.preview("comet_withdraw", 10_000 * E18)["http"] == 200


def test_two_withdrawals_that_were_both_permitted_are_judged_together_again_when_they_are_committed(
    saver: Saver,
) -> None:
    """As two previews at the same moment do it, of which neither saw the other."""
    permits = preview_at_once(saver, 11_000 * E18, 10_000 * E18)
    live = saver.live
    # Nothing is mined meanwhile, so nobody looks for longer than beside a follower.
    with mining_paused(live.world), override_settings(GOLEM_FIRST_LOOK_SECONDS=0.05):
        for permit in permits:
            live.start(str(permit["permit_id"]))
        for permit in permits:
            live.work(str(permit["permit_id"]))
        mine(live.world)
    first, second = (live.permit(str(permit["permit_id"])) for permit in permits)
    assert second.status in ("BLOCKED", "COMMITTING") and second.problem["code"] == "TAKEN_BESIDE", second.problem
    assert not second.transactions.exists()
    assert saver.principal() == 9_000 * E18
    assert first.transactions.count() == 1


def preview_at_once(saver: Saver, *amounts: int) -> list[dict[str, Any]]:
    """Permits of one block that did not know of each other: the first is hidden while the second is made."""
    told = []
    for amount in amounts:
        told.append(saver.preview("comet_withdraw", amount))
        assert told[-1]["http"] == 200, told[-1]
        ActionPermit.objects.filter(pk=told[-1]["permit_id"]).update(status="EXPIRED")
    ActionPermit.objects.filter(pk__in=[each["permit_id"] for each in told]).update(status="CREATED")
    return told


def test_what_ended_in_a_block_after_the_one_that_is_judged_counts_as_beside(saver: Saver) -> None:
    """A withdrawal that settles between the pinned block and the look at the rows is missing from both otherwise."""
    first = saver.preview("comet_withdraw", 11_000 * E18)
    saver.live.commit(first["permit_id"])
    ActionPermit.objects.filter(pk=first["permit_id"]).update(finished_at=clock.now())
    row = saver.live.permit(first["permit_id"])
    assert row.status == "COMMITTED"
    [sent] = row.transactions.all()
    # The node that judges is a block behind the one that told of the end.
    sent.block_number = (sent.block_number or 0) + 5
    sent.save(update_fields=["block_number"])
    assert saver.preview("comet_withdraw", 9_000 * E18)["code"] == "TAKEN_BESIDE"


def test_an_unknown_withdrawal_counts_until_its_outcome_is_seen(saver: Saver) -> None:
    first = saver.preview("comet_withdraw", 11_000 * E18)
    ActionPermit.objects.filter(pk=first["permit_id"]).update(status="UNKNOWN", committing_at=clock.now())
    assert saver.preview("comet_withdraw", 10_000 * E18)["waits_for"] == [first["permit_id"]]
    ActionPermit.objects.filter(pk=first["permit_id"]).update(status="REVERTED", finished_at=clock.now())
    assert saver.preview("comet_withdraw", 10_000 * E18)["http"] == 200


def test_cover_that_each_of_two_may_take_but_not_both_is_refused_by_the_health_that_is_left(saver: Saver) -> None:
    price = saver.comet.read("priceOfCover()")
    # Owed: two fifths of what covers, so that health is 2.00; all of the deposit is out.
    saver.send(
        saver.comet.address,
        "withdraw(address,uint256)",
        saver.comet.world.tokens["DAI"].address,
        PUT_IN + COVER * price // E18 * 2 // 5,
    )
    first = saver.preview("comet_release", 3 * E18)
    assert first["http"] == 200, first
    second = saver.preview("comet_release", 3 * E18 + 1)
    assert (second["code"], second["rule"]) == ("TAKEN_BESIDE", "simulator.level_health"), second
    assert saver.preview("comet_release", E18)["http"] == 200


def test_what_two_plans_spend_together_is_not_more_than_the_account_has(saver: Saver) -> None:
    held = saver.live.balance("DAI")
    first = saver.preview("comet_supply", held * 2 // 3)
    assert first["http"] == 200, first
    second = saver.preview("comet_supply", held // 2)
    assert (second["code"], second["rule"]) == ("TAKEN_BESIDE", "simulator.level_balance"), second
    assert saver.preview("comet_supply", held // 4)["http"] == 200


def test_of_previews_by_real_threads_no_two_that_are_too_much_together_are_both_carried_out(saver: Saver) -> None:
    told: list[dict[str, Any]] = []
    together = Barrier(3)

    def withdraw(amount: int) -> None:
        try:
            together.wait()
            told.append(saver.preview("comet_withdraw", amount))
        finally:
            connections.close_all()

    threads = [Thread(target=withdraw, args=(amount * E18,)) for amount in (11_000, 10_500, 10_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for permit in told:
        if permit["http"] == 200:
            saver.agent.post("commit_action", {"permit_id": permit["permit_id"]})
    assert saver.principal() in (9_000 * E18, 9_500 * E18, 10_000 * E18)


def judged(saver: Saver, *calls: tuple[str, bytes], owed: int = 0, held: int = 0, after: int | None = None) -> bool:
    """Whether a halt's permit of these calls may be signed, with this seen there before (and after) it."""
    world, comet = saver.comet.world, saver.comet.address
    dai = world.tokens["DAI"].address
    raw = held - owed
    positions = [
        {
            "ref": f"{NAME}/account/{CHAIN_ID}/{saver.account}",
            "label": "",
            "before": {"legs": [{"token": dai, "raw": str(raw)}], "health_bps": None},
            "after": {"legs": [{"token": dai, "raw": str(raw if after is None else after)}], "health_bps": None},
        }
    ]
    rows = [
        {"to": to or comet, "data": "0x" + data.hex(), "value": "0", "gas_limit": "100000", "label": ""}
        for to, data in calls
    ]
    permit = ActionPermit(
        chain_id=CHAIN_ID, signer=saver.account, calls=rows, halt_epoch=1, simulation={"positions": positions}
    )
    return is_halts_own(permit, Golem(halt_epoch=1))


def test_a_call_that_leaves_and_borrows_is_the_halts_own_only_where_it_leaves(saver: Saver) -> None:
    dai, weth = (saver.comet.world.tokens[each].address for each in ("DAI", "WETH"))
    out, into = "", ""

    def take(amount: int, token: str = dai) -> tuple[str, bytes]:
        return out, encode_call(WITHDRAW, token, amount)

    def pay(amount: int) -> tuple[str, bytes]:
        return into, encode_call(SUPPLY, dai, amount)

    # The largest number takes what is there; an amount has to be there; what is not there would be borrowed.
    assert judged(saver, take(EVERYTHING))
    assert judged(saver, take(5_000), held=5_000)
    assert not judged(saver, take(5_001), held=5_000)
    assert not judged(saver, take(5_000))
    # Of another token the largest number says nothing to this lender.
    assert not judged(saver, take(EVERYTHING, weth), held=5_000)
    # Two that are there one by one and not together, equal ones too.
    assert not judged(saver, take(3_000), take(2_500), held=5_000)
    assert not judged(saver, take(3_000), take(3_000), held=5_000)
    # What is paid in is a debt's, or it is a deposit.
    assert judged(saver, pay(100), owed=100)
    assert judged(saver, pay(EVERYTHING), owed=100)
    assert not judged(saver, pay(101), owed=100)
    assert not judged(saver, pay(EVERYTHING))
    # Whatever the calls say: what was seen to owe more is not signed.
    assert not judged(saver, take(5_000), held=5_000, after=-1_000)


def halt(saver: Saver) -> list[ActionPermit]:
    HaltSetting.objects.create(golem=saver.live.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=saver.live.golem.pk)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    return list(ActionPermit.objects.filter(action_type="unwind_position").order_by("created_at"))


def test_a_halt_takes_out_what_is_there_and_signs_no_new_debt(saver: Saver) -> None:
    permits = halt(saver)
    assert [(each.params["tool"], each.status) for each in permits] == [
        ("comet_withdraw", "COMMITTED"),
        ("comet_release", "COMMITTED"),
    ]
    assert saver.principal() == 0


def test_a_halt_that_would_borrow_signs_nothing_and_hands_the_position_to_its_owner(saver: Saver) -> None:
    """Its author takes out 5,000 more than there is, which the lender would lend against the cover."""
    saver.comet.modules["positions"].CARELESS["takes_out"] = PUT_IN + 5_000 * E18
    assert halt(saver) == []
    assert saver.principal() == PUT_IN
    golem = Golem.objects.get(pk=saver.live.golem.pk)
    (line,) = (each for each in list_halt_exits(golem, now=clock.now()) if "comet" in each.label)
    assert "needs you" in line.state and "larger debt" in line.words


def test_a_withdrawal_that_borrows_is_no_withdrawal(saver: Saver) -> None:
    told = saver.preview("comet_withdraw", PUT_IN + 5_000 * E18)
    assert told["http"] != 200 and told["code"] != "TAKEN_BESIDE", told


def test_a_debt_is_repaid_under_a_halt_and_never_more_than_is_owed(saver: Saver) -> None:
    world = saver.comet.world
    saver.send(saver.comet.address, "withdraw(address,uint256)", world.tokens["DAI"].address, PUT_IN + 1_000 * E18)
    permits = halt(saver)
    assert [(each.params["tool"], each.status) for each in permits] == [
        ("comet_repay", "COMMITTED"),
        ("comet_release", "COMMITTED"),
    ]
    assert saver.principal() == 0
