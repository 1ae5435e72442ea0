"""A CRITICAL change of the cage from an agent's wish to the chain: two owners, two browsers, a wallet of the test."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from eth_account import Account
from playwright.sync_api import Page

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.models import AllowlistEntry, ChangeRequest, RelayedTransaction
from permits_app.policy_cage.contract import RuleKind, call_key
from permits_app.policy_cage.state import CageState
from tests import factories
from tests.browser.conftest import PHONE, press
from tests.browser.test_approvals import eager as eager
from tests.evm.world import CHAIN_ID
from tests.factories.golems import PASSWORD
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.approvals.people import give_device, next_code
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tests.permits_app.execution.test_safe_of_several import SharedSafe
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry
from tools_app.protocols.uniswap.v2 import plans as v2

pytestmark = pytest.mark.browser

# What a wallet puts into a page: it asks the test, which holds the key, as a wallet asks its own keyring.
PROVIDER = """
window.ethereum = {
  chain: "%(chain)s",
  async request({ method, params }) {
    const call = { method, params: params || [], chain: this.chain };
    const answer = JSON.parse(await window.askWallet(JSON.stringify(call)));
    if (answer.chain) this.chain = answer.chain;
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.result;
  },
};
"""


class TestWallet:
    """An EIP-1193 provider with one key; `declines` names methods its person says no to."""

    __test__ = False

    def __init__(self, key: Any, *, chain: str = hex(CHAIN_ID)) -> None:
        self.account, self.chain = key, chain
        self.declines: set[str] = set()
        self.asked: list[str] = []

    def enter(self, page: Page) -> None:
        page.expose_function("askWallet", self.answer)
        page.add_init_script(PROVIDER % {"chain": self.chain})

    def answer(self, text: str) -> str:
        call = json.loads(text)
        method, params = call["method"], call["params"]
        self.asked.append(method)
        if method in self.declines:
            return json.dumps({"error": {"code": 4001, "message": "User rejected the request."}})
        if method == "eth_requestAccounts":
            return json.dumps({"result": [self.account.address]})
        if method == "eth_chainId":
            return json.dumps({"result": call["chain"]})
        if method == "wallet_switchEthereumChain":
            return json.dumps({"result": None, "chain": params[0]["chainId"]})
        assert method == "eth_signTypedData_v4"
        assert params[0] == self.account.address
        signed = Account.sign_typed_data(self.account.key, full_message=json.loads(params[1]))
        return json.dumps({"result": "0x" + bytes(signed.signature).hex()})


@pytest.fixture
def house(shared_golem: LiveGolem, eager: None, settings: Any) -> tuple[LiveGolem, OwnedSafe, Any]:
    """Owner A's golem, co-owned by B, behind a Safe that either may sign for; a router its owners have not allowed."""
    owner = shared_golem.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    other = factories.make_owner(name="owner-b")
    give_device(other)
    shared_golem.golem.co_owners.add(other)
    router = shared_golem.world.contracts["uniswap_v2_router"]
    AllowlistEntry.objects.filter(golem=shared_golem.golem, address=router).delete()
    safe = OwnedSafe(shared_golem)
    make_relayer(shared_golem, settings)
    return shared_golem, safe, other


def _ask(live: LiveGolem, base_url: str, **wish: Any) -> ChangeRequest:
    """The agent asks over REST."""
    answer = httpx.post(
        f"{base_url}/api/v1/pi/preview_action",
        json={"action_type": "configure_policy", "venue": "wallet", **wish},
        timeout=60,
        headers={"Authorization": f"Bearer {live.key.token}"},
    )
    assert (answer.status_code, answer.json()["status"]) == (200, "AWAITING_APPROVAL"), answer.text
    return ChangeRequest.objects.get(permit_id=answer.json()["permit_id"])


def _page(request: ChangeRequest) -> str:
    return f"/admin/permits_app/changerequest/{request.pk}/change/"


def _told(page: Page) -> str:
    page.wait_for_function("!document.querySelector('[data-wallet] button').disabled")
    return page.locator("[data-told]").inner_text()


def _rules_of(safe: OwnedSafe) -> CageState:
    safe.mirror.refresh_from_db()
    return CageState.from_dict(safe.mirror.state)


def test_an_agent_asks_and_the_other_owner_s_signature_changes_the_chain(
    open_window: Any, house: tuple[LiveGolem, OwnedSafe, Any], tmp_path: Path
) -> None:
    live, safe, other = house
    router = live.world.contracts["uniswap_v2_router"]
    swap = call_key(router, parse_signature(v2.TOKENS_IN).selector)
    first = open_window()
    request = _ask(live, first.base_url, allowed_contracts=[router], spending_limit_usd="4000")

    # Owner A, whose agent asked, sees everything and may not approve.
    first.log_in("owner-a")
    page = first.open(_page(request))
    first.shoot("safe-owner-a")
    text = page.inner_text("#content")
    for shown in (
        "critical",
        "that may leave in one batch",
        "$10,000.00",
        "$4,000.00",
        "Uniswap V2 router",
        "the contract lets it wait 2 d",
        safe.address,
        safe.mirror.contract,
        "which makes these calls and nothing else, all or none",
        request.digest,
        owner_transaction(request).safe_tx_hash,
        "Another owner has to approve it",
    ):
        assert shown in text, shown
    assert page.get_by_role("button", name="Approve").count() == 0
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    exported = tmp_path / "change.json"
    download.value.save_as(exported)
    call_command("verify_request", file=exported, stdout=StringIO())

    # Owner B signs with a wallet and approves with a code.
    second = open_window()
    wallet = TestWallet(safe.owners[1], chain="0x1")
    wallet.enter(second.page)
    second.log_in("owner-b")
    second.open("/admin/permits_app/changerequest/inbox/")
    second.shoot("safe-inbox")
    press(second.page.get_by_role("link", name=re.compile("Its agent asks for")).first)
    page = second.page
    press(page.get_by_role("button", name="Approve"))
    assert "This is approved with your own signature" in page.inner_text("#content")
    page.get_by_role("button", name="Sign with your wallet").click()
    assert f"Signed by {safe.owners[1].address}" in _told(page)
    assert "wallet_switchEthereumChain" in wallet.asked
    second.shoot("safe-signed")
    page.get_by_label("Code of your authenticator").fill(next_code(other))
    press(page.get_by_role("button", name="Approve"))
    second.open(_page(request))
    second.shoot("safe-executed")

    # The chain changed, the mirror follows: what tightens holds, what loosens waits its 48 h in the contract.
    request.refresh_from_db()
    assert (request.state, request.problem) == ("EXECUTED", {})
    assert RelayedTransaction.objects.get().state == "MINED"
    state = _rules_of(safe)
    usdc = bytes(12) + bytes.fromhex(live.world.tokens["USDC"].address[2:])
    assert 3_900 * 10**6 < state.rule(RuleKind.OUTFLOW_PER_BATCH, usdc) < 4_100 * 10**6
    assert state.rule(RuleKind.CALL, swap) == 0
    assert (int(RuleKind.CALL), "0x" + swap.hex()) in state.pending
    text = page.inner_text("#content")
    story = [
        "ChangeRequested",
        "OwnerSigned",
        "ChangeApproved",
        "PermitConsumed",
        "OwnerTransactionReleased",
        "OwnerTransactionSent",
        "OwnerTransactionExecuted",
        "CageMirrored",
        "ChangeExecuted",
    ]
    told = list(AuditEntry.objects.filter(golem_id=live.golem.pk).order_by("seq").values_list("event", flat=True))
    assert set(story) <= set(told), set(story) - set(told)
    assert all(event in text for event in ("ChangeRequested", "OwnerSigned", "OwnerTransactionExecuted"))

    safe.pass_time(48 * 3_600 + 60)
    sync_policy_cage(mirror_id=safe.mirror.pk, now=clock.now())
    # A change of three functions is applied one by one.
    assert apply_cage_changes(now=clock.now()) >= 3
    # Listed under two conditions: what comes of it is the Safe's, and the path holds approved assets alone.
    assert _rules_of(safe).rule(RuleKind.CALL, swap) == 1 + 2
    second.open(f"/admin/permits_app/cagemirror/{safe.mirror.pk}/change/")
    second.shoot("safe-mirror")
    applied = AuditEntry.objects.filter(golem_id=live.golem.pk, event="CageChangeApplied")
    assert any("swapExactTokensForTokens" in entry.data["rule"] for entry in applied)
    assert verify_stored_chain(live.golem.pk).broken is None


def test_each_way_a_wallet_can_refuse_says_what_to_do_next(
    open_window: Any, house: tuple[LiveGolem, OwnedSafe, Any]
) -> None:
    live, safe, _ = house
    without = open_window()
    request = _ask(live, without.base_url, spending_limit_usd="3000")
    without.log_in("owner-b")
    page = without.open(_page(request))
    page.get_by_role("button", name="Sign with your wallet").click()
    assert "manage.py sign_request" in _told(page)

    stranger = open_window()
    TestWallet(live.world.new_account()).enter(stranger.page)
    stranger.log_in("owner-b")
    page = stranger.open(_page(request))
    page.get_by_role("button", name="Sign with your wallet").click()
    assert "owns no part of this Safe" in _told(page)
    assert safe.owners[0].address in _told(page)

    unwilling = open_window()
    wallet = TestWallet(safe.owners[1], chain="0x1")
    wallet.enter(unwilling.page)
    unwilling.log_in("owner-b")
    page = unwilling.open(_page(request))
    wallet.declines = {"wallet_switchEthereumChain"}
    page.get_by_role("button", name="Sign with your wallet").click()
    assert f"Switch it to chain {CHAIN_ID}" in _told(page)
    wallet.declines = {"eth_signTypedData_v4"}
    page.get_by_role("button", name="Sign with your wallet").click()
    assert "You declined in your wallet" in _told(page)
    unwilling.shoot("safe-declined")
    assert page.get_by_label("Your signature").input_value() == ""
    request.refresh_from_db()
    assert request.state == "OPEN"


def test_without_javascript_a_pasted_signature_approves_and_a_phone_shows_it_all(
    open_window: Any, house: tuple[LiveGolem, OwnedSafe, Any]
) -> None:
    live, safe, other = house
    visit = open_window(has_javascript=False, viewport=PHONE)
    request = _ask(live, visit.base_url, spending_limit_usd="3500")
    visit.log_in("owner-b")
    page = visit.open(_page(request))
    visit.shoot("phone-safe")
    assert page.get_by_role("button", name="Sign with your wallet").count() == 0
    page.get_by_label("Code of your authenticator").fill(next_code(other))
    page.get_by_label("Your signature").fill(safe.sign(owner_transaction(request).safe_tx_hash, 1))
    press(page.get_by_role("button", name="Approve"))
    request.refresh_from_db()
    assert request.state == "EXECUTED"
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-b")
    visit.open(_page(request))
    assert visit.overflow() == 0
    visit.open(f"/admin/archetypes_app/golem/{live.golem.pk}/cage/")
    visit.shoot("phone-cage")
    assert visit.overflow() == 0
    desk = open_window()
    desk.log_in("owner-b")
    desk.open(f"/admin/archetypes_app/golem/{live.golem.pk}/cage/").get_by_text("A limit", exact=True).click()
    desk.shoot("cage")


def test_two_owners_sign_a_plan_of_the_golem_and_its_key_sends_it(
    open_window: Any, shared_golem: LiveGolem, eager: None
) -> None:
    owner, other = shared_golem.owner, factories.make_owner(name="owner-b")
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    shared_golem.golem.co_owners.add(other)
    shared = SharedSafe(shared_golem, owns=False)
    first = open_window()

    def agent(path: str, **body: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {shared_golem.key.token}"}
        url = f"{first.base_url}/api/v1/pi/{path}"
        answer = (
            httpx.post(url, json=body, timeout=60, headers=headers)
            if body
            else httpx.get(url, headers=headers, timeout=60)
        )
        found: dict[str, Any] = answer.json()
        return found

    asked = agent("preview_action", **SWAP)
    assert (asked["status"], asked["owners"]) == ("AWAITING_APPROVAL", {"needed": 2, "signed": 0})
    refused = agent("commit_action", permit_id=asked["permit_id"])
    assert (refused["code"], refused["recovery"]) == ("PERMIT_NOT_COMMITTABLE", "WAIT")
    request = ChangeRequest.objects.get(permit_id=asked["permit_id"])

    TestWallet(shared.safe.owners[0]).enter(first.page)
    first.log_in("owner-a")
    page = first.open(_page(request))
    first.shoot("plan-asked")
    text = page.inner_text("#content")
    for shown in (
        "500 USDC",
        "the golem’s own plan",
        "2 of its 2 owners must sign",
        "MultiSendCallOnly",
        shared.safe.address,
    ):
        assert shown in text, shown
    page.get_by_role("button", name="Sign with your wallet").click()
    assert f"Signed by {shared.safe.owners[0].address}" in _told(page)
    press(page.get_by_role("button", name="Approve"))
    first.open(_page(request))
    first.shoot("plan-one-signed")
    assert "1 more owner of the Safe must sign" in page.inner_text("#content")
    assert agent(f"permits/{asked['permit_id']}")["owners"] == {"needed": 2, "signed": 1}

    second = open_window()
    TestWallet(shared.safe.owners[1]).enter(second.page)
    second.log_in("owner-b")
    page = second.open(_page(request))
    second.shoot("plan-second-owner")
    page.get_by_role("button", name="Sign with your wallet").click()
    assert f"Signed by {shared.safe.owners[1].address}" in _told(page)
    press(page.get_by_role("button", name="Hand in the signature"))
    second.open(_page(request))
    second.shoot("plan-executed")
    done = agent(f"permits/{asked['permit_id']}")
    assert (done["status"], done["owners"]) == ("COMMITTED", None), done["problem"]
    second.open(f"/admin/permits_app/actionpermit/{asked['permit_id']}/change/")
    second.shoot("plan-permit")
