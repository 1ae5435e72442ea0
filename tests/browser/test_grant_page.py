"""A person grants, watches and takes back in Chromium, with a wallet that is theirs and a golem that draws between."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.check_received_rights import check_received_rights
from permits_app.models import ReceivedRight
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.browser.conftest import press
from tests.evm.world import CHAIN_ID
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.metamask.owner_wallet import DAY, USD, OwnerWallet
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.protocols("metamask")]

HELPER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
# How a wallet announces itself to a page (EIP-6963); it asks the test, which holds the key.
WALLET = """
(() => {
  const provider = {
    async request({ method, params }) {
      const answer = JSON.parse(await window.askWallet(JSON.stringify({ method, params: params || [] })));
      if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
      return answer.result;
    },
  };
  const info = { uuid: "350670db-19fa-4704-a166-e52e178b59d2", name: "Wallet of the test", rdns: "a.b" };
  const announce = () =>
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  window.addEventListener("eip6963:requestProvider", announce);
})();
"""


class GrantingWallet:
    """Answers ERC-7715 and signs real delegations; `gives` is what its person lets out a day, where it is not asked."""

    def __init__(self, wallet: OwnerWallet) -> None:
        self.wallet = wallet
        self.gives: int | None = None
        self.declines = False
        self.asked: list[dict[str, Any]] = []
        self.granted: dict[str, Any] = {}

    def enter(self, page: Page) -> None:
        page.expose_function("askWallet", self.answer)
        page.add_init_script(WALLET)

    def answer(self, text: str) -> str:
        call = json.loads(text)
        if self.declines:
            return json.dumps({"error": {"code": 4001, "message": "User rejected the request."}})
        return json.dumps({"result": getattr(self, call["method"])(*call["params"])})

    def wallet_requestExecutionPermissions(self, asked: dict[str, Any]) -> Any:
        self.asked.append(asked)
        data = asked["permission"]["data"]
        assert (asked["chainId"], asked["permission"]["type"]) == (hex(CHAIN_ID), "erc20-token-periodic")
        assert data["tokenAddress"] == self.wallet.world.tokens["USDC"].address
        days = (asked["rules"][0]["data"]["timestamp"] - data["startTime"]) // DAY
        caveats = self.wallet.runway(a_day=self.gives or int(data["periodAmount"], 16), days=days)
        answer = {**asked, "context": self.wallet.context(asked["to"], caveats)}
        self.granted[answer["context"]] = (answer, caveats)
        return [answer]

    def wallet_getGrantedExecutionPermissions(self) -> Any:
        return [answer for answer, _ in self.granted.values()]

    def wallet_revokeExecutionPermission(self, asked: dict[str, Any]) -> Any:
        answer, caveats = self.granted.pop(asked["permissionContext"])
        self.wallet.disable(answer["to"], caveats)
        return {}


@pytest.fixture
def owner_wallet(shared_golem: LiveGolem) -> GrantingWallet:
    owner = shared_golem.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    return GrantingWallet(OwnerWallet.open(shared_golem.world))


def find_url(live: LiveGolem) -> str:
    return reverse("admin:archetypes_app_golem_grant", args=[live.golem.pk])


def test_an_owner_grants_watches_and_takes_back_in_their_own_wallet(
    shared_golem: LiveGolem, owner_wallet: GrantingWallet, open_window: Any
) -> None:
    visit = open_window()
    visit.log_in(shared_golem.owner.username)
    owner_wallet.enter(visit.page)
    page = visit.open(find_url(shared_golem))
    expect(page.get_by_label("Wallet", exact=True)).to_contain_text("Wallet of the test")
    page.get_by_label("Token").select_option(label="USDC")
    page.get_by_label("At most in a day").fill("12.5")
    page.get_by_label("For how many days").fill("7")
    page.get_by_label("A helper’s key").fill("0xnobody")
    page.get_by_role("button", name="Ask your wallet").click()
    expect(page.get_by_text("A helper’s key is an address")).to_be_visible()
    page.get_by_label("A helper’s key").fill(HELPER)
    owner_wallet.gives = 10 * USD
    page.get_by_role("button", name="Ask your wallet").click()
    expect(page.get_by_text("Granted in your wallet")).to_be_visible()
    assert int(owner_wallet.asked[0]["permission"]["data"]["periodAmount"], 16) == 12_500_000
    assert owner_wallet.asked[0]["rules"][1] == {
        "type": "redeemer",
        "data": {"addresses": [shared_golem.golem.address, HELPER]},
    }
    press(page.get_by_role("button", name="Read it and bring it in"))
    right = ReceivedRight.objects.get()
    assert (int(right.most), right.principal) == (10 * USD, owner_wallet.wallet.address), "as granted, not as asked"
    expect(page.locator("#rights")).to_contain_text("10 USDC in each 1 d")
    drawn = shared_golem.preview(
        action_type="redeem_runway", venue="metamask", token_in=None, token_out=None, amount=str(4 * USD)
    )
    assert shared_golem.commit(drawn["permit_id"])["status"] == PermitStatus.COMMITTED
    page = visit.open(find_url(shared_golem))
    expect(page.locator("#rights")).to_contain_text("6 USDC")
    page.get_by_role("button", name="Ask what it granted").click()
    page.get_by_role("button", name="Take back erc20-token-periodic").click()
    expect(page.get_by_text("Taken back in your wallet")).to_be_visible()
    ReceivedRight.objects.update(next_look_at=clock.now())
    check_received_rights(now=clock.now() + timedelta(minutes=1))
    page = visit.open(find_url(shared_golem))
    expect(page.get_by_text("all of it was taken back")).to_be_visible()
    right.refresh_from_db()
    assert right.state == "WITHDRAWN" and not visit.violations


def test_what_a_person_declines_or_writes_wrongly_grants_nothing(
    shared_golem: LiveGolem, owner_wallet: GrantingWallet, open_window: Any
) -> None:
    visit = open_window()
    visit.log_in(shared_golem.owner.username)
    owner_wallet.enter(visit.page)
    page = visit.open(find_url(shared_golem))
    page.get_by_label("At most in a day").fill("a lot")
    page.get_by_role("button", name="Ask your wallet").click()
    expect(page.get_by_text("An amount is a number")).to_be_visible()
    page.get_by_label("At most in a day").fill("5")
    owner_wallet.declines = True
    page.get_by_role("button", name="Ask your wallet").click()
    expect(page.get_by_text("You declined in your wallet")).to_be_visible()
    page.get_by_label("What your wallet granted").fill("0x1234")
    press(page.get_by_role("button", name="Read it and bring it in"))
    assert not ReceivedRight.objects.exists() and not owner_wallet.asked


def test_nobody_brings_a_grant_into_another_owners_golem(shared_golem: LiveGolem, client: Any) -> None:
    wallet = OwnerWallet.open(shared_golem.world)
    stranger = factories.make_owner(name="ben")
    stranger.groups.add(ensure_owner_group())
    client.force_login(stranger)
    given = {"context": wallet.context(str(shared_golem.golem.address))}
    assert client.get(find_url(shared_golem)).status_code in (302, 403, 404)
    assert client.post(find_url(shared_golem), given).status_code in (302, 403, 404)
    assert not ReceivedRight.objects.exists()
