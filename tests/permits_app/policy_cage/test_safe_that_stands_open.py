"""A Safe through whose fallback anybody can act is found, told, kept from going live, and closed by its owners."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from eth_account import Account

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import find_topic, tell_event
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.approvals.operations.go_live import set_live
from permits_app.custody.read_wallet_choice import read_wallet_choice
from permits_app.doors.decide_change import sign_change
from permits_app.models import ChangeRequest, SafeOpening
from permits_app.policy_cage.contract import encode_set_session
from permits_app.policy_cage.safe_batches import build_safe_call, consent_of
from permits_app.policy_cage.safe_tx import (
    ENABLE_MODULE,
    SET_HANDLER,
    SafeTx,
    encode_exec_transaction,
    join_signatures,
)
from permits_app.policy_cage.safe_watch import SafeState, list_bypasses
from permits_app.tasks import commit_openings_task
from tests.contracts.lent_safe import ANNOUNCE, FIRST_CODE, encode_steps, lend
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.proof.caged.engines import CHAIN_ID
from tests.proof.caged.safe import TRANSFER, sign_digest
from tools_app import runner
from tools_app.chain.abi import checksum, encode_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.standards.loan_callback import HANDLER_SLOT, find_handler
from tools_app.toolkit.plan import Call


@pytest.fixture
def owned(live_golem: LiveGolem) -> SafeGolem:
    live_golem.owner.groups.add(ensure_owner_group())
    give_device(live_golem.owner)
    return SafeGolem(live_golem)


def act(owned: SafeGolem, data: bytes) -> None:
    """The Safe asks it of itself; its only owner sends it."""
    safe, key, engine = owned.safe.address, owned.open_key(), owned.safe.engine
    call = build_safe_call([Call(safe, data, 0, "")], safe=safe, signatures=consent_of(key.address), multi_send="")
    engine.give_coins(key.address, 10**21)
    owned.safe.keep_up()
    assert engine.send(key, call.to, call.data).succeeded


def deploy_first(world: Any) -> str:
    """The code that was there before it asked who calls."""
    receipt = world.send(world.new_account(10**18), None, "0x" + FIRST_CODE.hex())
    return checksum(receipt["contractAddress"])


def set_first(owned: SafeGolem, *, is_handler: bool = True, is_module: bool = True) -> str:
    contract = deploy_first(owned.live.world)
    if is_handler:
        act(owned, encode_call(SET_HANDLER, contract))
    if is_module:
        act(owned, encode_call(ENABLE_MODULE, contract))
    return contract


def rob(owned: SafeGolem, amount: int) -> bool:
    """A stranger's two calls; whether it got the money."""
    world, safe = owned.live.world, owned.safe.address
    thief, token = world.new_account(10**18), world.tokens["USDC"].address
    steps = encode_steps([Call(token, encode_call(TRANSFER, thief.address, amount), 0, "")])
    for data in (encode_call(ANNOUNCE, thief.address, steps), lend(steps)):
        world.send(thief, safe, "0x" + data.hex(), gas=2_000_000)
    return int(world.rpc.read(token, "balanceOf(address)", thief.address, returns="(uint256)")[0]) == amount


def look() -> dict[str, int]:
    """What the clock asks for every fifteen seconds."""
    found: dict[str, int] = commit_openings_task()
    return found


def told(golem: Golem, event: str) -> list[dict[str, Any]]:
    rows = AuditEntry.objects.filter(golem_id=golem.pk, event=event).order_by("pk")
    return [row.data for row in rows]


def sign_in(owned: SafeGolem) -> Client:
    browser = Client()
    browser.force_login(owned.live.owner)
    return browser


def test_a_safe_with_the_first_callback_is_told_to_its_owner_as_a_danger(owned: SafeGolem) -> None:
    golem = owned.live.golem
    assert look()["open"] == 0
    contract = set_first(owned)
    assert rob(owned, 1_000_000), "it is a danger indeed"
    assert look() == {"looked_at": 1, "open": 1, "asked": 1, "delegated": 0, "codes_sent": 0}
    [audited] = told(golem, "SafeFoundOpen")
    assert (audited["account"], audited["handler"], audited["modules"]) == (owned.safe.address, contract, [contract])
    event = OutboxEvent.objects.get(golem_id=golem.pk, type="safe:open")
    line, is_urgent = tell_event("safe:open", event.payload, golem="Ada")
    assert is_urgent and find_topic("safe:open", event.payload) == "danger"
    assert line.startswith("Ada: anybody can take everything out of the Safe") and owned.safe.address in line
    request = ChangeRequest.objects.get(kind="close_safe")
    browser = sign_in(owned)
    for page in (
        reverse("admin:index"),
        reverse("admin:archetypes_app_golem_change", args=[golem.pk]),
        reverse("cockpit", args=[golem.pk]),
    ):
        shown = browser.get(page).content.decode()
        assert "Anybody, without a key, can take everything out of the Safe" in shown, page
        assert str(request.pk) in shown, page
    # Looked at again, nothing is told or asked twice.
    assert look() == {"looked_at": 1, "open": 1, "asked": 0, "delegated": 0, "codes_sent": 0}
    assert len(told(golem, "SafeFoundOpen")) == 1 == ChangeRequest.objects.filter(kind="close_safe").count()


@pytest.mark.parametrize("half", ["handler", "module"])
def test_one_half_of_the_first_callback_is_a_danger_as_well(owned: SafeGolem, half: str) -> None:
    contract = set_first(owned, is_handler=half == "handler", is_module=half == "module")
    assert not rob(owned, 1_000_000)
    assert look()["open"] == 1
    row = SafeOpening.objects.get(golem=owned.live.golem)
    assert (row.handler, row.modules, row.is_open) == (
        contract if half == "handler" else "",
        [contract] if half == "module" else [],
        False,
    )
    shown = sign_in(owned).get(reverse("admin:index")).content.decode()
    assert "stands one step from being emptied by anybody" in shown


def test_a_golem_whose_safe_stands_open_does_not_go_live(owned: SafeGolem) -> None:
    golem = owned.live.golem
    set_live(golem=golem, is_live=False, actor="system:test", reason="test", now=clock.now())
    golem.refresh_from_db()
    set_first(owned)
    # Nobody looked yet: asking to go live looks itself.
    with pytest.raises(GolemError) as refused:
        request_operation(golem=golem, name="live", arguments={}, owner=owned.live.owner, reason="go", now=clock.now())
    assert (refused.value.code, str(refused.value.next_step)) == ("SAFE_STANDS_OPEN", "ASK_OWNER")
    assert owned.safe.address in refused.value.detail and "sign the request" in refused.value.detail
    page = reverse("admin:archetypes_app_golem_change", args=[golem.pk]).replace("/change/", "/live/")
    answer = sign_in(owned).post(page, {"live-reason": "go", "reason": "go"}, follow=True)
    assert "take everything out of the Safe" in answer.content.decode() or answer.status_code == 200
    golem.refresh_from_db()
    assert not golem.is_live


def test_a_golem_that_was_asked_live_before_its_safe_stood_open_does_not_go_live(owned: SafeGolem) -> None:
    golem = owned.live.golem
    set_live(golem=golem, is_live=False, actor="system:test", reason="test", now=clock.now())
    golem.refresh_from_db()
    request = request_operation(
        golem=golem, name="live", arguments={}, owner=owned.live.owner, reason="go", now=clock.now()
    )
    approve(request, owned.live.owner)
    set_first(owned)
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    golem.refresh_from_db()
    assert (request.state, request.problem["code"], golem.is_live) == ("FAILED", "SAFE_STANDS_OPEN", False)


def test_a_live_golem_rehearses_once_its_safe_is_found_open(owned: SafeGolem) -> None:
    golem = owned.live.golem
    set_live(golem=golem, is_live=True, actor="system:test", reason="test", now=clock.now())
    set_first(owned)
    look()
    golem.refresh_from_db()
    assert not golem.is_live
    # Set live by whatever else, it rehearses again with the next look.
    set_live(golem=golem, is_live=True, actor="system:test", reason="test", now=clock.now())
    look()
    golem.refresh_from_db()
    assert not golem.is_live
    assert [each["is_live"] for each in told(golem, "LiveSet")] == [True, False, True, False]


def test_owners_close_their_safe_by_signing_the_prepared_request(owned: SafeGolem, settings: Any) -> None:
    make_relayer(owned.live, settings)
    world, golem = owned.live.world, owned.live.golem
    first, second = set_first(owned), set_first(owned, is_handler=False)
    look()
    request = ChangeRequest.objects.get(kind="close_safe")
    [call] = request.shown["calls"]
    said = ["mustBeBefore", "disableModule", "disableModule", "setFallbackHandler"]
    assert [each["function"] for each in call["inner"]] == said
    # The Safe's only owner is the golem's key: its keystore file signs, and the page says so.
    signs = next(each for each in request.shown["differences"] if each["words"] == "Signs")
    assert owned.key.address in signs["after"] and "sign_request" in signs["after"]
    signature = sign_digest(owned.open_key(), bytes.fromhex(owner_transaction(request).safe_tx_hash[2:]))
    approve(request, owned.live.owner, signature="0x" + signature.hex())
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem
    assert not rob(owned, 1_000_000)
    modules = "function isModuleEnabled(address module) view returns (bool)"
    reader = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    assert [reader.call(owned.safe.address, modules, each)[0] for each in (first, second)] == [False, False]
    handler = reader.slot(owned.safe.address, HANDLER_SLOT)
    assert f"0x{handler:040x}" == world.contracts["safe_fallback_handler"].lower()
    assert look() == {"looked_at": 1, "open": 0, "asked": 0, "delegated": 0, "codes_sent": 0}
    assert not SafeOpening.objects.exists()
    assert len(told(golem, "SafeClosed")) == 1
    request_operation(golem=golem, name="live", arguments={}, owner=owned.live.owner, reason="go", now=clock.now())


def test_the_owners_of_a_caged_safe_close_it_with_their_signatures(live_golem: LiveGolem, settings: Any) -> None:
    give_device(live_golem.owner)
    safe = OwnedSafe(live_golem, threshold=2)
    make_relayer(live_golem, settings)
    contract = deploy_first(live_golem.world)
    safe.owner_call(safe.address, encode_call(SET_HANDLER, contract))
    safe.owner_call(safe.address, encode_call(ENABLE_MODULE, contract))
    assert look() == {"looked_at": 1, "open": 1, "asked": 1, "delegated": 0, "codes_sent": 0}
    request = ChangeRequest.objects.get(kind="close_safe")
    digest = owner_transaction(request).safe_tx_hash
    with pytest.raises(GolemError) as refused:
        approve(request, live_golem.owner)
    assert refused.value.code == "OWNER_SIGNATURE_MISSING"
    approve(request, live_golem.owner, signature=safe.sign(digest, 0))
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert (request.state, request.problem["code"]) == ("APPROVED", "OWNER_SIGNATURES_INCOMPLETE")
    sign_change(
        request_id=request.pk,
        owner=live_golem.owner,
        signature=safe.sign(digest, 1),
        seen_digest=request.digest,
        now=clock.now(),
    )
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem
    assert look() == {"looked_at": 1, "open": 0, "asked": 0, "delegated": 0, "codes_sent": 0}
    # Its cage is a module as before.
    assert safe.sync() and safe.mirror.is_enforced


def test_a_cage_that_is_made_the_fallback_handler_is_a_danger_and_stays_a_module(
    live_golem: LiveGolem, settings: Any
) -> None:
    """A cage does not ask who calls the Safe: through the fallback anybody would appoint a session key."""
    give_device(live_golem.owner)
    safe = OwnedSafe(live_golem)
    make_relayer(live_golem, settings)
    safe.owner_call(safe.address, encode_call(SET_HANDLER, safe.mirror.contract))
    world = live_golem.world
    thief = world.new_account(10**18)
    appointed = encode_set_session(
        key=thief.address, expires_at=int(world.timestamp()) + 3_600, operations=5, budget_micro_usd=10**9
    )
    assert world.send(thief, safe.address, "0x" + appointed.hex(), gas=2_000_000)["status"] == "0x1"
    assert safe.sync().session.key == thief.address, "it is a danger indeed"
    look()
    row = SafeOpening.objects.get(golem=live_golem.golem)
    assert (row.handler, row.modules, row.is_open) == (safe.mirror.contract, [], True)
    request = ChangeRequest.objects.get(kind="close_safe")
    approve(request, live_golem.owner, signature=safe.sign(owner_transaction(request).safe_tx_hash))
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem
    assert safe.sync() and safe.mirror.is_enforced
    assert look()["open"] == 0


@pytest.mark.parametrize("first_is", ["handler", "module"])
def test_the_first_and_the_present_callback_on_one_safe_are_a_danger(owned: SafeGolem, first_is: str) -> None:
    first = set_first(owned, is_handler=first_is == "handler", is_module=first_is == "module")
    world = owned.live.world
    present = world.deploy(world.new_account(10**18), "LoanCallback")
    act(owned, encode_call(ENABLE_MODULE if first_is == "handler" else SET_HANDLER, present))
    assert not rob(owned, 1_000_000)
    assert look()["open"] == 1
    row = SafeOpening.objects.get(golem=owned.live.golem)
    assert (row.handler, row.modules, row.is_open) == (
        (first, [], False) if first_is == "handler" else ("", [first], False)
    )
    reader = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    assert find_handler(reader, owned.safe.address) is None, "no loan is taken through half of it"


def test_the_command_takes_the_first_callback_out_and_sets_the_present_one(owned: SafeGolem) -> None:
    set_first(owned)
    out = io.StringIO()
    call_command(
        "deploy_loan_callback", str(owned.live.golem.pk), "--send-locally", owned.live.world.rpc_url, stdout=out
    )
    said = json.loads(out.getvalue())
    key, safe, world = owned.open_key(), owned.safe.address, owned.live.world
    for typed in said["owners_sign"]:
        message = typed["message"]
        tx = SafeTx(to=message["to"], data=bytes.fromhex(message["data"][2:]), nonce=int(message["nonce"]))
        signed = Account.sign_typed_data(key.key, full_message=typed)
        data = encode_exec_transaction(tx, signatures=join_signatures({str(key.address): bytes(signed.signature)}))
        assert world.send(world.actors.deployer, safe, "0x" + data.hex())["status"] == "0x1"
    assert not rob(owned, 1_000_000)
    reader = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    assert find_handler(reader, safe) == said["contract"]
    assert look() == {"looked_at": 1, "open": 0, "asked": 0, "delegated": 0, "codes_sent": 0}


def test_another_owners_page_shows_nothing_of_it(owned: SafeGolem, django_user_model: Any) -> None:
    set_first(owned)
    look()
    stranger = django_user_model.objects.create_user("stranger", password="x", is_staff=True)
    stranger.groups.add(ensure_owner_group())
    browser = Client()
    browser.force_login(stranger)
    assert owned.safe.address not in browser.get(reverse("admin:index")).content.decode()
    assert owned.safe.address not in browser.get(reverse("admin:permits_app_safeopening_changelist")).content.decode()


def test_no_golem_is_moved_into_a_safe_that_stands_open(owned: SafeGolem) -> None:
    set_first(owned)
    golem = owned.live.golem
    arguments = {"kind": "GNOSIS_SAFE", "safe": owned.safe.address}
    with pytest.raises(GolemError) as refused:
        read_wallet_choice(golem=golem, arguments=arguments, now=clock.now())
    assert refused.value.code == "SAFE_STANDS_OPEN"


def test_the_page_of_a_cage_names_what_believes_strangers() -> None:
    owner, cage, first, zero = ("0x" + each * 20 for each in ("11", "22", "33", "00"))
    as_module = SafeState((owner,), 1, (cage, first), zero, zero, zero, owner, open_codes=(first,))
    assert list_bypasses(as_module, cage) == [
        f"module {first} does what anybody tells it once it is the fallback handler too"
    ]
    as_handler = SafeState((owner,), 1, (cage,), zero, zero, first, owner, open_codes=(first,))
    assert list_bypasses(as_handler, cage) == [
        f"fallback handler {first} takes what anybody sends the Safe for the Safe's own word"
    ]
    itself = SafeState((owner,), 1, (cage,), zero, zero, cage, owner)
    assert list_bypasses(itself, cage) == [
        "its fallback handler is the cage, which then takes what anybody sends for the owners' word"
    ]
    # What was kept before this was read says nothing of it.
    kept = itself.as_dict()
    del kept["open_codes"]
    assert SafeState.from_dict(kept).open_codes == ()
