"""Passkeys in a real browser: Chromium's own virtual authenticator adds, approves, goes live and is removed."""

from __future__ import annotations

from typing import Any

import pytest
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Page, expect

from permits_app.models import ChangeRequest, OwnerApproval, Passkey
from permits_app.models.approval import ChangeState
from tests import factories
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, Visit, press
from tests.browser.journeys import look_in_the_dark
from tests.browser.owners import House, make_house
from tests.factories.golems import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FACTORS = "/admin/permits_app/changerequest/second-factors/"


@pytest.fixture
def house(transactional_db: None) -> House:
    """Its owner has no second factor yet."""
    found = make_house()
    TOTPDevice.objects.all().delete()
    return found


def plug_in(page: Page, **traits: bool) -> None:
    """An authenticator in this browser that finds its person at once."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
        **traits,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def look(visit: Visit, name: str) -> None:
    visit.shoot(name)
    assert visit.overflow() <= 0, name
    assert [(each["id"], each["nodes"]) for each in find_serious(visit.page)] == [], name
    assert look_in_the_dark(visit, name) == [], name


def add(page: Page, name: str) -> None:
    """By keyboard alone: from the name to the button."""
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.get_by_role("button", name="Add this passkey").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"The passkey {name} is added.")).to_be_visible()


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_a_passkey_is_added_goes_live_approves_and_is_removed(open_window: Any, house: House, size: str) -> None:
    visit = open_window(viewport=WIDE if size == "wide" else PHONE)
    errors: list[str] = []
    visit.page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    visit.page.on("pageerror", lambda error: errors.append(str(error)))
    plug_in(visit.page)
    visit.log_in("ana")

    page = visit.open("/admin/permits_app/changerequest/inbox/")
    press(page.get_by_role("link", name="Set up your second factor"))
    look(visit, f"passkeys-none-{size}")
    add(page, "telephone")
    look(visit, f"passkeys-{size}")

    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/live/")
    page.get_by_label("Why").fill("rehearsed long enough")
    press(page.get_by_role("button", name="Ask to let it act"))
    look(visit, f"passkeys-go-live-{size}")
    assert page.get_by_label("Code of your authenticator").count() == 0
    page.get_by_role("button", name="Approve with a passkey").click()
    expect(page.get_by_text("with a second factor").first).to_be_visible()
    live = ChangeRequest.objects.get(kind="live")
    assert live.state in (ChangeState.APPROVED, ChangeState.EXECUTED)

    other = factories.make_change_request(golem=house.golem)
    page = visit.open(f"/admin/permits_app/changerequest/{other.pk}/change/")
    page.get_by_role("button", name="Approve with a passkey").click()
    expect(page.get_by_text("with a second factor").first).to_be_visible()
    assert OwnerApproval.objects.get(request=other).has_second_factor
    assert Passkey.objects.get().sign_count > 1

    page = visit.open(FACTORS)
    page.get_by_label("New name of telephone").fill("my telephone")
    press(page.get_by_role("button", name="Rename"))
    expect(page.get_by_text("It is called my telephone now.")).to_be_visible()
    press(page.get_by_role("link", name="Remove my telephone"))
    look(visit, f"passkeys-remove-{size}")
    assert "It is your last second factor" in page.inner_text("#content")
    page.get_by_role("button", name="Confirm with a passkey").click()
    expect(page.get_by_text("Your passkey answered.")).to_be_visible()
    press(page.get_by_role("button", name="Remove the passkey"))
    expect(page.get_by_text("The passkey my telephone is removed.")).to_be_visible()
    assert not Passkey.objects.exists()
    assert errors == []


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_the_pages_of_passkeys_are_clean_in_the_dark_and_with_both_kinds(
    open_window: Any, house: House, size: str
) -> None:
    visit = open_window(viewport=WIDE if size == "wide" else PHONE, is_dark=True)
    plug_in(visit.page)
    visit.log_in("ana")
    page = visit.open(FACTORS)
    add(page, "telephone")
    TOTPDevice.objects.create(user=house.owner, name="approvals", confirmed=True)
    Passkey.objects.create(
        user=house.owner,
        name="an old key",
        credential_id=b"old",
        public_key=b"",
        sign_count=7,
        added_at=Passkey.objects.get().added_at,
        suspected_at=Passkey.objects.get().added_at,
    )
    request = factories.make_change_request(golem=house.golem)
    key = Passkey.objects.get(name="telephone")
    for name, path in (
        ("both", FACTORS),
        ("decide", f"/admin/permits_app/changerequest/{request.pk}/change/"),
        ("enrol", "/admin/permits_app/changerequest/second-factor/"),
        ("remove", f"/admin/permits_app/changerequest/passkeys/{key.pk}/remove/"),
    ):
        visit.open(path)
        if name == "enrol":
            # The secret itself is not kept in a picture.
            assert visit.overflow() <= 0
            assert find_serious(visit.page) == []
            continue
        look(visit, f"passkeys-dark-{name}-{size}")


def test_a_browser_that_gives_none_says_what_to_do(open_window: Any, house: House) -> None:
    visit = open_window(viewport=PHONE)
    # Whoever sits there is not its person.
    plug_in(visit.page, isUserVerified=False)
    visit.log_in("ana")
    page = visit.open(FACTORS)
    page.get_by_label("Name", exact=True).fill("telephone")
    page.get_by_label("Your account password").fill(PASSWORD)
    page.get_by_role("button", name="Add this passkey").click()
    expect(page.get_by_text("You declined, or it took too long")).to_be_visible()
    page.evaluate("delete window.PublicKeyCredential")
    page.get_by_role("button", name="Add this passkey").click()
    expect(page.get_by_text("This browser has no passkeys.")).to_be_visible()
    page.evaluate("Object.defineProperty(window, 'isSecureContext', {value: false})")
    page.get_by_role("button", name="Add this passkey").click()
    expect(page.get_by_text("Browsers give passkeys to secure pages alone.")).to_be_visible()
    assert not Passkey.objects.exists()


def test_at_another_address_and_without_scripts_the_page_says_why(open_window: Any, house: House) -> None:
    visit = open_window(viewport=PHONE)
    visit.base_url = visit.base_url.replace("localhost", "127.0.0.1")
    visit.log_in("ana")
    page = visit.open(FACTORS)
    told = page.inner_text("#add")
    assert "Passkeys do not work on this page" in told and "open this page at http://localhost:" in told
    assert page.get_by_role("button", name="Add this passkey").count() == 0
    bare = open_window(viewport=PHONE, has_javascript=False)
    bare.log_in("ana")
    assert "A passkey needs JavaScript." in bare.open(FACTORS).inner_text("#add")
