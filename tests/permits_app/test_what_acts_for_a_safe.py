"""What acts for a golem's Safe, or on what it signs, and that its owners did not agree to: refused live, told within a
round, shown to whoever signs next, and past once an owner took note of it.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.note_safe import note_safe
from permits_app.actions.watch_safes import watch_safes
from permits_app.errors import SafeNotAsAgreed
from permits_app.models import Wallet
from permits_app.policy_cage.safe_tx import DISABLE_MODULE, ENABLE_MODULE
from permits_app.policy_cage.safe_watch import SENTINEL
from permits_app.tasks import sync_policy_cages_task
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.test_safe_of_several import SharedSafe
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.chain.running_code import IMPLEMENTATION_SLOTS
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

ADD_OWNER = "function addOwnerWithThreshold(address owner, uint256 threshold)"
THRESHOLD = "function changeThreshold(uint256 threshold)"
SET_HANDLER = "function setFallbackHandler(address handler)"
SET_GUARD = "function setGuard(address guard)"
SET_MODULE_GUARD = "function setModuleGuard(address moduleGuard)"


@pytest.fixture
def caged(live_golem: LiveGolem) -> CagedGolem:
    live_golem.owner.groups.add(ensure_owner_group())
    caged = CagedGolem(live_golem)
    caged.sync()
    return caged


@pytest.fixture
def shared(live_golem: LiveGolem) -> SharedSafe:
    live_golem.owner.groups.add(ensure_owner_group())
    shared = SharedSafe(live_golem)
    watch_safes(now=clock.now())
    return shared


def told(live: LiveGolem) -> list[str]:
    rows = AuditEntry.objects.filter(golem_id=live.golem.pk, event="SafeChanged").order_by("pk")
    return [line for row in rows for line in row.data["lines"]]


def refused(live: LiveGolem, **changes: Any) -> dict[str, Any]:
    with pytest.raises(SafeNotAsAgreed) as error:
        live.preview(**changes)
    problem = error.value.as_problem()
    assert problem["code"] == "SAFE_NOT_AS_AGREED" and problem["recovery"] == "ASK_OWNER"
    return dict(problem)


def test_a_module_that_nobody_agreed_to_refuses_a_caged_golem_at_the_next_preview(caged: CagedGolem) -> None:
    assert caged.live.preview()["status"] == "CREATED"
    stranger = make_account("a thief").address
    caged.safe.owner_call(caged.safe.address, encode_call(ENABLE_MODULE, stranger))
    # No round has looked yet: the chain is asked.
    assert any(stranger in line for line in refused(caged.live, amount="400000000")["lines"])
    caged.safe.owner_call(caged.safe.address, encode_call(DISABLE_MODULE, SENTINEL, stranger))
    assert caged.live.preview(amount="300000000")["status"] == "CREATED"


def test_a_module_that_comes_between_preview_and_commit_has_nothing_signed(caged: CagedGolem) -> None:
    permit = caged.live.preview()
    caged.safe.owner_call(caged.safe.address, encode_call(ENABLE_MODULE, make_account("a thief").address))
    caged.live.start(permit["permit_id"])
    caged.live.work(permit["permit_id"])
    row = caged.live.permit(permit["permit_id"])
    assert (row.status, row.problem["code"]) == ("BLOCKED", "SAFE_NOT_AS_AGREED")
    assert not row.transactions.exists()


def test_a_safe_behind_a_cage_goes_on_once_an_owner_took_note(caged: CagedGolem) -> None:
    caged.safe.owner_call(caged.safe.address, encode_call(ENABLE_MODULE, make_account("ours").address))
    caged.sync()
    refused(caged.live)
    browser = Client()
    browser.force_login(caged.live.owner)
    note = reverse("admin:archetypes_app_golem_note_safe", args=[caged.live.golem.pk])
    assert browser.post(note, {"note-safe-reason": "ours"}).status_code == 302
    caged.live.golem.refresh_from_db()
    assert caged.live.preview()["status"] == "CREATED"


@pytest.mark.parametrize(
    ("signature", "what"),
    [
        (ENABLE_MODULE, "module"),
        (SET_HANDLER, "fallback handler"),
        (SET_GUARD, "guard"),
        (SET_MODULE_GUARD, "guard of modules"),
        (ADD_OWNER, "owner"),
    ],
)
def test_whatever_comes_to_a_safe_of_several_refuses_is_told_and_named_until_it_is_noted(
    shared: SharedSafe, signature: str, what: str
) -> None:
    live = shared.live
    _, request = shared.propose()
    thief = str(make_account("a thief").address)
    if signature in (SET_GUARD, SET_MODULE_GUARD):
        # A guard has to be one, or the Safe does not take it.
        thief = str(live.world.deploy(live.world.actors.deployer, "AllowingGuard"))
    shared.act(encode_call(signature, thief, *([2] if signature == ADD_OWNER else [])))
    problem = refused(live, amount="400000000")
    assert any(line.startswith(f"{what}:") and thief in line for line in problem["lines"]), problem
    # Whoever signs next is told on the page of what waits.
    browser = Client()
    live.owner.is_superuser = True
    live.owner.save()
    browser.force_login(live.owner)
    page = browser.get(reverse("admin:permits_app_changerequest_change", args=[request.pk])).content.decode()
    assert "did not agree to this of the Safe" in page and thief in page
    # The next round tells the owner, once.
    sync_policy_cages_task()
    sync_policy_cages_task()
    assert [line for line in told(live) if line.startswith(f"{what}:")] == [
        f"{what}: {problem['lines'][0].split(': ')[1]}"
    ]
    assert OutboxEvent.objects.filter(golem_id=live.golem.pk, type="safe:changed").count() == 1
    safe_page = reverse("admin:archetypes_app_golem_safe", args=[live.golem.pk])
    shown = browser.get(safe_page).content.decode()
    assert thief in shown and "weaker" in shown
    assert browser.post(safe_page, {"note-safe-reason": "ours"}).status_code == 302
    live.golem.refresh_from_db()
    assert live.preview(amount="400000000")["status"] == "AWAITING_APPROVAL"


def test_fewer_who_must_sign_and_another_code_are_noticed(shared: SharedSafe) -> None:
    shared.act(encode_call(THRESHOLD, 1))
    assert "owners who must sign: 2 became 1" in refused(shared.live)["lines"]
    watch_safes(now=clock.now())
    assert "owners who must sign: 2 became 1" in told(shared.live)
    # More of them, or an owner less, is no weakness and needs no note.
    wallet = Wallet.objects.get(golem=shared.live.golem)
    wallet.safe_noted = wallet.safe
    wallet.save(update_fields=["safe_noted"])
    shared.safe.threshold = 1
    shared.act(encode_call(THRESHOLD, 2))
    shared.live.golem.refresh_from_db()
    assert shared.live.preview()["status"] == "AWAITING_APPROVAL"
    # The first slot of a Safe names whose code it runs.
    world = shared.live.world
    other = world.contracts["safe_fallback_handler"]
    word = "0x" + other[2:].lower().rjust(64, "0")
    was = world.rpc.call("eth_getStorageAt", shared.safe.address, "0x0", "latest")
    world.rpc.call("anvil_setStorageAt", shared.safe.address, "0x" + "0" * 64, word)
    world.rpc.call("evm_mine")
    try:
        with pytest.raises(Exception, match="Safe"):
            shared.live.preview(amount="300000000")
    finally:
        world.rpc.call("anvil_setStorageAt", shared.safe.address, "0x" + "0" * 64, was)
        world.rpc.call("evm_mine")


PROXY = f"0x7f{IMPLEMENTATION_SLOTS[0]:064x}5400"
"""Code that keeps whom it names where proxies do (EIP-1967)."""


def put_a_module(shared: SharedSafe, code: str, names: str) -> str:
    """A module that its owners took note of, whose code names another contract."""
    rpc, module = shared.live.world.rpc, str(make_account("a module that can change").address)
    rpc.call("anvil_setCode", module, code)
    rpc.call("anvil_setStorageAt", module, f"0x{IMPLEMENTATION_SLOTS[0]:064x}", "0x" + names[2:].lower().rjust(64, "0"))
    shared.act(encode_call(ENABLE_MODULE, module))
    watch_safes(now=clock.now())
    note_safe(golem_id=shared.live.golem.pk, actor="user:1", reason="ours", now=clock.now())
    shared.live.golem.refresh_from_db()
    assert shared.live.preview()["status"] == "AWAITING_APPROVAL"
    return module


def test_another_code_behind_a_module_that_was_noted_refuses_and_is_told(shared: SharedSafe) -> None:
    """What owners took note of is the code that they could look at, and not whatever its keeper puts there later."""
    world = shared.live.world
    module = put_a_module(shared, PROXY, world.contracts["multicall3"])
    thief = "0x" + world.contracts["permit2"][2:].lower().rjust(64, "0")
    world.rpc.call("anvil_setStorageAt", module, f"0x{IMPLEMENTATION_SLOTS[0]:064x}", thief)
    world.rpc.call("evm_mine")
    problem = refused(shared.live, amount="400000000")
    assert any(module in line and thief in line for line in problem["lines"]), problem
    watch_safes(now=clock.now())
    assert any(module in line and thief in line for line in told(shared.live))
    # Leaving goes on: the Safe itself runs the code it ran.
    out = shared.live.preview(token_in="WETH", token_out="USDC", amount=str(10**17))
    assert out["status"] == "AWAITING_APPROVAL"
    note_safe(golem_id=shared.live.golem.pk, actor="user:1", reason="ours", now=clock.now())
    shared.live.golem.refresh_from_db()
    assert shared.live.preview(amount="300000000")["status"] == "AWAITING_APPROVAL"


@pytest.mark.parametrize("code", ["0x", "0xef0100" + "11" * 20], ids=["none before", "a delegated key"])
def test_code_that_comes_to_an_address_that_was_noted_refuses(shared: SharedSafe, code: str) -> None:
    module = put_a_module(shared, code, "0x" + "00" * 20)
    shared.live.world.rpc.call("anvil_setCode", module, "0xef0100" + "22" * 20)
    shared.live.world.rpc.call("evm_mine")
    assert any(f"code of {module}" in line for line in refused(shared.live, amount="400000000")["lines"])


def test_a_note_of_before_code_was_read_takes_the_code_of_the_next_look(shared: SharedSafe) -> None:
    module = put_a_module(shared, PROXY, shared.live.world.contracts["multicall3"])
    wallet = Wallet.objects.get(golem=shared.live.golem)
    for kept in (wallet.safe, wallet.safe_noted):
        del kept["runs"]
    wallet.save(update_fields=["safe", "safe_noted"])
    watch_safes(now=clock.now())
    assert not any("code of" in line for line in told(shared.live))
    shared.live.world.rpc.call("anvil_setCode", module, PROXY + "00")
    shared.live.world.rpc.call("evm_mine")
    shared.live.golem.refresh_from_db()
    assert any(f"code of {module}" in line for line in refused(shared.live, amount="400000000")["lines"])


def test_transactions_of_the_safe_that_nobody_here_asked_for_are_told(shared: SharedSafe) -> None:
    live = shared.live
    answer, request = shared.propose()
    shared.run(shared.approve(request))
    assert live.permit(answer["permit_id"]).status == "COMMITTED"
    watch_safes(now=clock.now())
    assert told(live) == []
    shared.safe.nonce = shared.nonce()
    shared.act(encode_call(THRESHOLD, 2))
    watch_safes(now=clock.now())
    (line,) = told(live)
    assert line.startswith("nonce:") and "1 of it for what nobody here asked" in line


def test_what_leaves_a_position_goes_on_while_something_unknown_acts_for_the_safe(caged: CagedGolem) -> None:
    """USDC is the base asset: what becomes it is leaving."""
    caged.safe.owner_call(caged.safe.address, encode_call(ENABLE_MODULE, make_account("a thief").address))
    refused(caged.live)
    out = caged.live.preview(token_in="WETH", token_out="USDC", amount=str(10**17))
    assert out["status"] == "CREATED"
