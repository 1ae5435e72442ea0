"""From a push to a decision on a phone: the page is an app, a browser subscribes, and a press leads to the passkey."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import expect

from golem_project.alerts.models import AlertChannel
from permits_app.actions.request_change import request_operation
from permits_app.models import OwnerApproval
from tests.browser.conftest import PHONE, WIDE
from tests.browser.owners import House, make_house
from tests.browser.test_passkeys import FACTORS, add, look, plug_in
from tests.golem_project.alerts.browsers import BrowserKeys
from tests.golem_project.alerts.room import run
from tests.receiver import Receiver
from tests.receiver import receiver as receiver
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SUBSCRIBES = """
(given) => {
  const toBytes = (text) => Uint8Array.from(
    atob(text.replace(/-/g, "+").replace(/_/g, "/").padEnd(Math.ceil(text.length / 4) * 4, "=")),
    (each) => each.charCodeAt(0)).buffer;
  window.PushManager.prototype.subscribe = async (options) => {
    if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new Error("no key");
    return { endpoint: given.url, getKey: (name) => toBytes(given[name]) };
  };
}
"""
PRESSES = """
async () => {
  const opened = [];
  self.clients.openWindow = async (path) => { opened.push(path); };
  const [shown] = await self.registration.getNotifications();
  const event = new NotificationEvent("notificationclick", { notification: shown });
  self.dispatchEvent(event);
  await new Promise((done) => setTimeout(done, 300));
  return [shown.body, opened];
}
"""


@pytest.fixture
def house(transactional_db: None) -> House:
    found = make_house()
    TOTPDevice.objects.all().delete()
    return found


def test_the_pages_can_be_installed(open_window: Any, house: House) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("ana")
    page = visit.open("/admin/alerts/")
    page.evaluate("navigator.serviceWorker.register('/admin/worker.js', {scope: '/admin/'})")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    session = page.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["errors"] == [] and json.loads(found["data"])["name"] == "Golem"
    why_not = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [each["errorId"] for each in why_not if each["errorId"] != "in-incognito"] == []


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_a_push_leads_to_one_page_on_which_the_passkey_decides(
    open_window: Any, house: House, receiver: Receiver, size: str
) -> None:
    visit = open_window(viewport=WIDE if size == "wide" else PHONE)
    context = visit.page.context
    context.grant_permissions(["notifications"])
    plug_in(visit.page)
    visit.log_in("ana")
    visit.open(FACTORS)
    add(visit.page, "telephone")

    keys = BrowserKeys()
    page = visit.open("/admin/alerts/")
    page.evaluate(SUBSCRIBES, keys.target(receiver.url))
    look(visit, f"alerts-{size}")
    with page.expect_navigation():
        page.get_by_role("button", name="Alert me here").click()
    assert "is alerted from now on" in page.inner_text("body")
    assert AlertChannel.objects.get().kind == "PUSH"

    asked = request_operation(
        golem=house.golem, name="live", arguments={}, owner=house.owner, now=clock.now(), reason="looked at"
    )
    assert run() == 1
    message = keys.open(receiver.got[-1][1])
    session = context.new_cdp_session(page)
    registrations: list[Any] = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda told: registrations.extend(told["registrations"]))
    session.send("ServiceWorker.enable")
    page.wait_for_timeout(300)
    session.send(
        "ServiceWorker.deliverPushMessage",
        {
            "origin": visit.base_url,
            "registrationId": registrations[0]["registrationId"],
            "data": json.dumps(message),
        },
    )
    page.wait_for_timeout(500)
    shown, opened = context.service_workers[0].evaluate(PRESSES)
    assert asked.title in shown
    [path] = opened

    page = visit.open(path)
    assert page.evaluate("document.documentElement.scrollHeight") <= 1_700
    look(visit, f"decide-short-{size}")
    page.get_by_role("button", name="Approve with a passkey").click()
    expect(page.get_by_text("with a second factor").first).to_be_visible()
    assert OwnerApproval.objects.get(request=asked).has_second_factor
