"""Money of a principal that a golem moves under a right it received: measured, bounded, shown, and never its own.

The protocol is made up and dropped in: no file of the product knows it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.record_nav import read_own_moves
from permits_app.approvals.approval_statement import describe_permit
from permits_app.errors import (
    RightEnded,
    RightLimitExceeded,
    RightNotReceived,
    RightWithdrawn,
    SimulationFailed,
    SpendingLimitExceeded,
)
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, OutcomeRecord, ReceivedRight, RightUse, SpendingLimits
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_purse.on_the_shelf import DAY, NAME, Purse
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry
from tools_app.portfolio.holdings import measure_holdings

USD = 10**6
A_DAY = 100 * USD


class Manager:
    """A golem that draws on the purse of a principal."""

    def __init__(self, live: LiveGolem, purse: Purse) -> None:
        self.live, self.purse = live, purse

    def preview(self, amount: int, **params: Any) -> dict[str, Any]:
        """A draw of so many base units of USDC."""
        asked = {"principal": self.purse.principal.address, "amount": str(amount), **params}
        return self.live.preview(action_type="purse_draw", venue=NAME, token_in=None, token_out=None, **asked)

    def worth(self) -> int:
        """Micro-USD of what the golem has."""
        chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
        return measure_holdings(chain=chain, account=str(self.live.golem.address), hints=()).nav_micro_usd


def hire(purse: Purse, name: str = "Live", owner_name: str = "owner-a") -> Manager:
    """A golem that has the purse's tools and the purse on its list."""
    live = make_live_golem(purse.world, name=name, owner_name=owner_name)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    return Manager(live, purse)


@pytest.fixture
def manager(transactional_db: None, purse: Purse) -> Iterator[Manager]:
    yield hire(purse)


def test_money_of_a_principal_is_moved_within_its_right_and_is_no_profit_of_the_golem(
    manager: Manager, purse: Purse
) -> None:
    golem, before, had = manager.live.golem, manager.worth(), purse.balance(purse.principal.address)
    right = purse.give(manager.live, a_day=A_DAY)
    assert manager.worth() == before, "a right is worth nothing to who received it"
    first_block = purse.world.rpc.call("eth_blockNumber")
    permit = manager.preview(60 * USD)
    done = manager.live.commit(permit["permit_id"])
    assert done["status"] == PermitStatus.COMMITTED
    outcome = OutcomeRecord.objects.get(permit_id=permit["permit_id"])
    assert outcome.is_verified, outcome.findings
    assert had - purse.balance(purse.principal.address) == 60 * USD
    assert outcome.pnl_micro_usd is None and outcome.pnl_parts == {}
    own = read_own_moves(golem_id=golem.pk, chain_id=CHAIN_ID, after=int(first_block, 16), until=10**9)
    assert purse.world.tokens["USDC"].address not in own.deltas, "it was paid in, and not earned"
    assert RightUse.objects.get(right=right).raw == 60 * USD
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="RightReceived").count() == 1


def test_money_that_a_golem_manages_goes_where_its_principal_keeps_it_and_leaves_the_golems_worth_alone(
    manager: Manager, purse: Purse
) -> None:
    purse.give(manager.live, a_day=A_DAY)
    before = manager.live.balance("USDC")
    permit = manager.preview(60 * USD, managed=True)
    assert manager.live.commit(permit["permit_id"])["status"] == PermitStatus.COMMITTED
    assert purse.balance(purse.modules["tools"].SAFE_BOX) == 60 * USD
    assert manager.live.balance("USDC") == before


def test_a_right_that_its_principal_withdraws_between_preview_and_commit_moves_nothing(
    manager: Manager, purse: Purse
) -> None:
    purse.give(manager.live, a_day=A_DAY)
    permit, nonce = manager.preview(60 * USD), manager.live.mined_nonce()
    purse.take_back(manager.live)
    had = purse.balance(purse.principal.address)
    with pytest.raises(RightWithdrawn) as refused:
        manager.live.start(permit["permit_id"])
        manager.live.work(permit["permit_id"])
        _raise_what_was_answered(manager, permit["permit_id"])
    assert refused.value.recovery == "ASK_OWNER"
    assert (purse.balance(purse.principal.address), manager.live.mined_nonce()) == (had, nonce)
    with pytest.raises(RightWithdrawn):
        manager.preview(60 * USD)


def _raise_what_was_answered(manager: Manager, permit_id: str) -> None:
    """A worker that may not go on writes why; told as an agent would be told."""
    permit = manager.live.permit(permit_id)
    assert permit.status not in (PermitStatus.COMMITTED, PermitStatus.UNKNOWN), permit.status
    assert "right" in permit.status_reason, permit.status_reason
    raise RightWithdrawn(permit.status_reason)


def test_more_than_a_right_has_left_today_is_refused_with_what_is_left_and_when_there_is_more(
    manager: Manager, purse: Purse
) -> None:
    purse.give(manager.live, a_day=A_DAY)
    manager.live.commit(manager.preview(60 * USD)["permit_id"])
    with pytest.raises(RightLimitExceeded) as refused:
        manager.preview(41 * USD)
    told = refused.value.as_problem()
    assert told["remaining"].startswith("40 USDC") and told["resets_at"] and told["recovery"] == "FIX_PARAMS"
    assert manager.preview(40 * USD)["status"] == PermitStatus.CREATED


def test_an_open_permit_holds_its_part_of_a_right_until_it_ends(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    permit = manager.preview(60 * USD)
    with pytest.raises(RightLimitExceeded):
        manager.preview(50 * USD)
    cancel_permit(
        golem=manager.live.golem, permit_id=permit["permit_id"], reason="x", actor="key:test", now=clock.now()
    )
    assert manager.preview(50 * USD)["status"] == PermitStatus.CREATED


def test_two_previews_at_once_never_share_what_a_right_has_left(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    told: list[str] = []
    ready = threading.Barrier(2)

    def ask(amount: int) -> None:
        try:
            ready.wait(60)
            told.append(manager.preview(amount)["status"])
        except GolemError as error:
            told.append(error.code)
        finally:
            connection.close()

    askers = [threading.Thread(target=ask, args=(amount,)) for amount in (60 * USD, 61 * USD)]
    for each in askers:
        each.start()
    for each in askers:
        each.join(120)
    assert sorted(told) == ["CREATED", "RIGHT_LIMIT_EXCEEDED"]
    assert RightUse.objects.count() == 1


def test_a_right_that_is_over_by_the_chains_time_moves_nothing(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY, days=1)
    purse.world.rpc.call("evm_increaseTime", DAY)
    purse.world.rpc.call("evm_mine")
    with pytest.raises(RightEnded) as refused:
        manager.preview(USD)
    assert refused.value.as_problem()["ends_at"]


def test_a_contract_that_takes_more_of_a_principal_than_the_plan_says_is_refused(
    manager: Manager, purse: Purse
) -> None:
    purse.give(manager.live, a_day=A_DAY)
    purse.do("misbehave(uint256,address)", 1, purse.world.tokens["USDC"].address)
    with pytest.raises(SimulationFailed) as refused:
        manager.preview(60 * USD)
    assert refused.value.as_problem()["rule"] == "simulator.others_money"


def test_a_contract_that_takes_another_token_of_a_principal_is_refused(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    purse.do("misbehave(uint256,address)", 1, purse.world.tokens["WETH"].address)
    with pytest.raises(SimulationFailed) as refused:
        manager.preview(60 * USD)
    assert refused.value.as_problem()["rule"] == "simulator.others_money"


def test_a_plan_that_does_not_say_whose_money_it_moves_is_refused(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    purse.modules["tools"].SLIPS["says_nothing"] = True
    with pytest.raises(SimulationFailed) as refused:
        manager.preview(60 * USD)
    assert refused.value.as_problem()["rule"] == "simulator.others_money"


def test_the_golems_own_limits_hold_for_others_money_too(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    SpendingLimits.objects.filter(golem=manager.live.golem).update(per_transaction_micro_usd=50 * USD)
    with pytest.raises(SpendingLimitExceeded):
        manager.preview(60 * USD)


def test_a_right_of_one_golem_is_none_of_anothers(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    other = hire(purse, "Other", "owner-b")
    # Its book was written to by mistake; the right is held by the first one's account all the same.
    copied = {field.attname: getattr(right, field.attname) for field in right._meta.concrete_fields}
    ReceivedRight.objects.create(**{**copied, "id": other.live.golem.pk, "golem_id": other.live.golem.pk})
    with pytest.raises(RightNotReceived):
        other.preview(USD)
    assert manager.preview(USD)["status"] == PermitStatus.CREATED


def test_an_approval_says_whose_money_it_is_and_what_misuse_would_lose(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY, days=3)
    permit = manager.preview(60 * USD)
    lines = describe_permit(ActionPermit.objects.get(pk=permit["permit_id"]))["bounds"]["promises"]
    told = "\n".join(lines)
    who = purse.principal.address
    assert f"others' money: at most 60 USDC of {who}" in told
    assert f"by misuse of that right {who} can lose at most 100 USDC in each" in told and "300 USDC in all" in told


def test_the_golems_page_shows_its_book_of_rights_with_what_is_used_and_their_ends(
    manager: Manager, purse: Purse
) -> None:
    purse.give(manager.live, a_day=A_DAY)
    manager.preview(60 * USD)
    manager.live.owner.is_superuser = True
    manager.live.owner.save()
    client = Client()
    client.force_login(manager.live.owner)
    page = client.get(f"/admin/archetypes_app/golem/{manager.live.golem.pk}/money/").content.decode()
    for words in ("Rights received", purse.principal.address, "100 USDC", "60 USDC", "never counted as the golem"):
        assert words in page, words


@pytest.mark.parametrize(
    "wrong",
    [{"most": 0}, {"ends_at": clock.now() - timedelta(days=9)}, {"state": "WITHDRAWN"}, {"state": "MAYBE"}],
    ids=["of nothing", "over before it begins", "gone without a time", "no known state"],
)
def test_the_database_keeps_no_right_that_is_none(manager: Manager, purse: Purse, wrong: dict[str, Any]) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    with pytest.raises(IntegrityError), transaction.atomic():
        ReceivedRight.objects.filter(pk=right.pk).update(**wrong)
