"""Open requests of one Safe: each has its own nonce, in the order they were asked; none is stuck behind a gap."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from golem_project.embedded.world.rpc import RpcError
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approval_pages.signing_page import build_signing_page
from permits_app.approval_pages.views import page_of
from permits_app.approvals.owner_calls import encode_relay
from permits_app.models import ChangeRequest, OwnerTransaction, RelayedTransaction
from permits_app.policy_cage.contract import Limit, encode_halt
from permits_app.tasks import commit_change_task
from tests.factories.golems import make_golem
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, reject
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tools_app.core import clock


@pytest.fixture
def caged(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> tuple[OwnedSafe, Any, Any]:
    live, owner, other = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    return safe, owner, other


def wish(safe: OwnedSafe, owner: Any, value: int, limit: Limit = Limit.MAX_DRAWDOWN_BPS) -> ChangeRequest:
    """A loosening: it waits in the contract, so that no rule that others start from moves."""
    return ask(safe, owner, limit_change(limit, value))


def sign(safe: OwnedSafe, request: ChangeRequest, owner: Any, number: int = 1) -> ChangeRequest:
    return approve(request, owner, signature=safe.sign(owner_transaction(request).safe_tx_hash, number))


def run(request: ChangeRequest) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now())
    return ChangeRequest.objects.get(pk=request.pk)


def use_up(safe: OwnedSafe, owner: Any, request: ChangeRequest) -> ChangeRequest:
    """An owner presses the button on the page of the request that waits."""
    owner.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(owner)
    page = client.get(page_of(request.pk)).content.decode()
    assert "Ask to use up nonce" in page
    answer = client.post(page_of(request.pk).replace("/change/", "/use-up-nonce/"))
    assert answer.status_code == 302
    return ChangeRequest.objects.get(kind="nonce")


def test_two_open_requests_are_both_signed_and_executed_in_their_order(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    first, second = wish(safe, owner, 1_500), wish(safe, owner, 7_000, Limit.MAX_CONCENTRATION_BPS)
    nonces = [owner_transaction(request).safe_nonce for request in (first, second)]
    assert nonces[1] == nonces[0] + 1 == safe.nonce + 1
    later = run(sign(safe, second, other))
    assert (later.state, later.problem["code"]) == ("APPROVED", "SAFE_TURN_AWAITED")
    assert not RelayedTransaction.objects.exists()
    assert run(sign(safe, first, other)).state == "EXECUTED"
    assert run(second).state == "EXECUTED"
    assert len(safe.sync().pending) == 2


def test_what_waited_for_its_nonce_goes_on_as_soon_as_it_is_free(
    caged: tuple[OwnedSafe, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, owner, other = caged
    wishes = [(1_500, Limit.MAX_DRAWDOWN_BPS), (7_000, Limit.MAX_CONCENTRATION_BPS), (3_000, Limit.MAX_POSITION_BPS)]
    first, second, third = (wish(safe, owner, value, limit) for value, limit in wishes)
    asked_for: list[str] = []
    monkeypatch.setattr("permits_app.tasks.enqueue", lambda _, request_id: asked_for.append(request_id))
    for request in (third, second):
        sign(safe, request, other)
        assert commit_change_task(request_id=str(request.pk)) == {"ok": None}
    assert asked_for == []
    sign(safe, first, other)
    commit_change_task(request_id=str(first.pk))
    # Only whose turn it is; the third follows from the second.
    assert asked_for == [str(second.pk)]
    commit_change_task(request_id=asked_for.pop())
    assert asked_for == [str(third.pk)]
    assert run(second).state == run(third).state == "EXECUTED"


def test_the_database_gives_a_nonce_of_a_safe_to_one_open_request(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    first, second = wish(safe, owner, 1_500), wish(safe, owner, 7_000, Limit.MAX_CONCENTRATION_BPS)
    asked = OwnerTransaction.objects.get(request=first)
    OwnerTransaction.objects.get(request=second).delete()
    asked.pk, asked.request_id = None, second.pk
    with pytest.raises(IntegrityError, match="owner_transaction_one_per_nonce"), transaction.atomic():
        asked.save(force_insert=True)


def test_what_is_asked_next_takes_the_nonce_that_a_rejected_request_gave_up(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, other = caged
    first, second = wish(safe, owner, 1_500), wish(safe, owner, 7_000, Limit.MAX_CONCENTRATION_BPS)
    sign(safe, second, other)
    reject(first, other)
    assert "nothing is asked under nonce" in run(second).problem["detail"]
    third = wish(safe, owner, 4_000)
    assert owner_transaction(third).safe_nonce == owner_transaction(first).safe_nonce
    assert run(sign(safe, third, other)).state == "EXECUTED"
    assert run(second).state == "EXECUTED"


def test_a_gap_is_used_up_by_an_empty_transaction_and_signatures_stay_valid(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, other = caged
    first, second = wish(safe, owner, 1_500), wish(safe, owner, 7_000, Limit.MAX_CONCENTRATION_BPS)
    left = safe.sign(owner_transaction(first).safe_tx_hash, 1)
    sign(safe, second, other)
    reject(first, other)
    empty = use_up(safe, owner, second)
    asked = owner_transaction(empty)
    assert (asked.to, asked.data, asked.value_wei) == (safe.address, "0x", "0")
    assert (empty.risk_tier, empty.needs_second_factor) == ("STANDARD", False)
    assert run(approve(empty, owner, signature=safe.sign(asked.safe_tx_hash), code="")).state == "EXECUTED"
    assert run(second).state == "EXECUTED"
    assert len(safe.sync().pending) == 1
    # What was signed under that nonce can never be executed any more.
    raw = encode_relay(first.change["safe_tx"], bytes.fromhex(left[2:]))
    with pytest.raises(RpcError, match="revert"):
        safe.live.world.rpc.call("eth_call", {"to": safe.address, "data": "0x" + raw.hex()}, "latest")


def test_the_signed_call_is_offered_as_a_file_once_nobody_s_signature_is_missing(
    caged: tuple[OwnedSafe, Any, Any],
) -> None:
    safe, owner, other = caged
    request = wish(safe, owner, 1_500)
    assert look(request, owner) == (True, False)
    sign(safe, request, other)
    assert look(request, owner) == (False, True)


def look(request: ChangeRequest, owner: Any) -> tuple[bool, bool]:
    """Whether signatures are missing, and whether the page offers the signed call."""
    page = build_signing_page(ChangeRequest.objects.get(pk=request.pk), owner, now=clock.now())
    assert page is not None
    return page.missing > 0, page.can_export


@pytest.mark.parametrize("whose", ["in the way", "nothing of this golem"])
def test_nothing_is_used_up_where_nothing_is_in_the_way_or_asked_for_that_golem(
    caged: tuple[OwnedSafe, Any, Any], whose: str
) -> None:
    safe, owner, _ = caged
    wish(safe, owner, 1_500)
    with pytest.raises(ChangeUnchanged, match=whose):
        request_operation(
            golem=safe.live.golem if whose == "in the way" else make_golem(name="another", owner=owner),
            name="nonce",
            owner=owner,
            reason="test",
            now=clock.now(),
            arguments={"chain_id": 31337, "safe": safe.address},
        )


def test_a_nonce_that_the_owners_used_themselves_ends_only_its_own_request(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    first, second = wish(safe, owner, 1_500), wish(safe, owner, 7_000, Limit.MAX_CONCENTRATION_BPS)
    given = safe.sign(owner_transaction(first).safe_tx_hash, 1)
    safe.owner_call(safe.mirror.contract, encode_halt())
    with pytest.raises(ChangeStale, match="nonce"):
        approve(first, other, signature=given)
    assert run(sign(safe, second, other)).state == "EXECUTED"
