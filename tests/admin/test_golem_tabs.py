"""A golem's page in tabs: each has its address, one glance answers four questions, and only the settings save."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from inspect import isfunction

import pytest
from django.contrib.admin import site
from django.test import Client

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.models.api_key import Scope
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from permits_app.halts.deaths import announce_death
from permits_app.limits import ledger
from permits_app.limits.key_spends import sum_key_spends
from permits_app.models import ActionPermit, HighWaterMark, NavSnapshot, PaymentHost, SignedPromise, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.pages.golem_tabs import Tab
from permits_app.pages.key_limits import MOST_HOSTS, MOST_KEYS
from tests import factories
from tests.admin.members import log_in, make_member
from tests.admin.rows import page
from tools_app.core import clock

pytestmark = pytest.mark.django_db
ACCOUNT = "0x" + "22" * 20
NO_OVERRIDES = {"tool_overrides-TOTAL_FORMS": "0", "tool_overrides-INITIAL_FORMS": "0"}


@pytest.fixture
def golem() -> Golem:
    """With an account, limits, a cage, and a key that may commit."""
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner, name="Alpha")
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    Golem.objects.filter(pk=golem.pk).update(address=ACCOUNT, may_keys_spend=True, is_live=False)
    golem.refresh_from_db()
    give_key(golem)
    factories.make_nav_snapshot(golem=golem)
    return golem


def give_key(golem: Golem) -> None:
    key = factories.make_api_key(golem=golem).key
    type(key).objects.filter(pk=key.pk).update(scopes=[Scope.READ, Scope.PREVIEW, Scope.COMMIT])


def read(browser: Client, golem: Golem, tab: str = "change") -> str:
    answer = browser.get(page("archetypes_app.golem", tab, golem.pk))
    assert answer.status_code == 200
    return str(answer.content.decode())


def answer_of(golem: Golem, name: str) -> str:
    """What the glance says to one of its questions, as text."""
    found = re.search(rf'id="{name}">(.*?)</section>', read(log_in(golem.owner), golem), re.DOTALL)
    assert found, name
    return " ".join(re.sub(r"<[^>]+>", " ", found.group(1)).split())


def test_each_tab_has_an_address_that_every_tab_leads_to(golem: Golem) -> None:
    browser = log_in(golem.owner)
    addresses = [page("archetypes_app.golem", tab, golem.pk) for tab in Tab]
    for tab in Tab:
        told = read(browser, golem, tab)
        assert [each for each in addresses if f'href="{each}"' not in told] == [], tab
        assert told.count('aria-current="page">') == 1
        assert f'aria-current="page">{tab.words}<' in told


def test_only_the_settings_have_something_to_save(golem: Golem) -> None:
    browser = log_in(golem.owner)
    assert [tab for tab in Tab if 'name="_save"' in read(browser, golem, tab)] == [Tab.SETTINGS]


def test_what_is_sent_to_the_first_tab_is_the_form_and_a_wrong_field_is_shown_under_the_tabs(golem: Golem) -> None:
    answer = log_in(golem.owner).post(
        page("archetypes_app.golem", "change", golem.pk),
        {"name": "", "edit_version": golem.version, **NO_OVERRIDES},
    )
    assert answer.status_code == 200, answer.status_code
    assert answer.context["adminform"].form.errors
    assert page("archetypes_app.golem", "money", golem.pk) in answer.content.decode()


def _halt(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(halted_at=clock.now())


def _retire(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(halted_at=clock.now(), retired_at=clock.now())


def _take_account(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(address="")


def _keep_keys(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(may_keys_spend=False)


def _rehearse(golem: Golem) -> None:
    _keep_keys(golem)
    Heartbeat.objects.create(golem=golem, is_on=True)


def _revoke_keys(golem: Golem) -> None:
    golem.api_keys.update(revoked_at=clock.now())


def _expire_keys(golem: Golem) -> None:
    past = clock.now() - timedelta(hours=1)
    golem.api_keys.update(created_at=past - timedelta(hours=1), expires_at=past)


def _use_up(golem: Golem) -> None:
    golem.spending_limits.__class__.objects.filter(golem=golem).update(per_day_micro_usd=0)


def _fall(golem: Golem) -> None:
    now = clock.now()
    HighWaterMark.objects.create(golem=golem, value_micro_usd=1, reached_at=now, violated_at=now, violated_bps=2_000)


def _sink(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(phase="SURVIVAL")


def _end(golem: Golem) -> None:
    announce_death(golem=golem, reason="over", actor="owner:1", due_at=clock.now(), now=clock.now())


def _act(golem: Golem) -> None:
    _keep_keys(golem)
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    Heartbeat.objects.create(golem=golem, is_on=True)


@pytest.mark.parametrize(
    ("happen", "told"),
    [
        (lambda golem: None, "Yes Its agents, by 1 key, within its limits."),
        (_act, "Yes Its heartbeat, within its limits."),
        (_halt, "No It is stopped"),
        (_retire, "No It is retired"),
        (_take_account, "No It has no account"),
        (_keep_keys, "No Agent keys only preview. Its heartbeat is off."),
        (_rehearse, "No Agent keys only preview. Its heartbeat only rehearses."),
        (_revoke_keys, "No Agent keys may spend, but no key that may commit is in use."),
        (_expire_keys, "No Agent keys may spend, but no key that may commit is in use."),
        (_use_up, "No Its limit of 24 h is used up"),
        (_fall, "Only to get out Its agents, by 1 key, and only to shrink or close positions"),
        (_end, "Until it ends Its agents, by 1 key, and only until it is stopped"),
        (_sink, "Only to get out Its agents, by 1 key, and only as its phase allows: survival."),
    ],
)
def test_one_glance_says_whether_it_may_spend_now_and_why(
    golem: Golem, happen: Callable[[Golem], None], told: str
) -> None:
    happen(golem)
    assert f"May it spend now? {told}" in answer_of(golem, "spend")


def test_one_glance_says_what_it_can_lose_today_and_that_prices_can_take_more(golem: Golem) -> None:
    limits = golem.spending_limits
    type(limits).objects.filter(pk=limits.pk).update(
        per_day_micro_usd=900_000_000, trading_costs_per_day_micro_usd=40_000_000
    )
    told = answer_of(golem, "lose")
    assert "$900.00 at most" in told and "$40.00 more of it" not in told.split("trades")[0]
    assert "trades may lose $40.00" in told and "Falling prices are not counted here" in told
    _halt(golem)
    assert "Nothing by spending" in answer_of(golem, "lose")


def test_one_glance_says_what_each_key_the_heartbeat_and_each_paid_host_may_still_take(golem: Golem) -> None:
    SpendingLimits.objects.filter(golem=golem).update(
        per_day_micro_usd=900_000_000, per_session_micro_usd=1_000_000_000
    )
    busy = factories.make_api_key(golem=golem, label="busy").key
    idle = factories.make_api_key(golem=golem, label="idle").key
    ago = clock.now() - timedelta(days=2)
    for settled in (700_000_000, 100_000_000):
        permit = factories.make_permit(golem=golem, api_key=busy)
        ActionPermit.objects.filter(pk=permit.pk).update(created_at=ago)
        permit.refresh_from_db()
        factories.make_spend_entry(permit=permit, settled_micro_usd=settled)
    released = factories.make_spend_entry(permit=factories.make_permit(golem=golem, api_key=idle))
    ledger.release(permit_id=released.permit_id)
    token = "0x" + "c4" * 20
    facts = {"chain_id": 31_337, "token": token, "most_raw": 30, "most_a_day_raw": 100, "listed_at": clock.now()}
    host = PaymentHost.objects.create(golem=golem, origin="https://api.example", **facts)
    promise = factories.make_signed_promise(permit=permit)
    SignedPromise.objects.filter(pk=promise.pk).update(payment_host=host, gives=[{"token": token, "raw": "30"}])
    told = answer_of(golem, "lose")
    # Counted by a sum from here on, which changes nothing that is told.
    assert sum_key_spends(now=clock.now()) == 2 and answer_of(golem, "lose") == told
    assert f"API key {busy} (busy): $200.00 more; its session has $200.00 of $1,000.00 left" in told
    assert f"API key {idle} (idle): $900.00 more; its session has $1,000.00 of $1,000.00 left" in told
    assert "Payments to https://api.example: 70 " in told and "Its heartbeat:" not in told
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    Heartbeat.objects.create(golem=golem, is_on=True)
    assert "Its heartbeat: $900.00 more; $1,000.00 of $1,000.00 in seven days" in answer_of(golem, "lose")
    for number in range(MOST_KEYS):
        factories.make_api_key(golem=golem, label=f"more {number}")
    for number in range(MOST_HOSTS):
        PaymentHost.objects.create(golem=golem, origin=f"https://later{number}.example", **facts)
    told = answer_of(golem, "lose")
    assert "Further API keys" in told and "(busy)" not in told
    assert told.count("API key ") == MOST_KEYS and told.count("Payments to ") == MOST_HOSTS


def test_one_glance_promises_no_loss_beyond_what_it_owns_where_all_of_that_is_counted(golem: Golem) -> None:
    limits = golem.spending_limits
    type(limits).objects.filter(pk=limits.pk).update(per_day_micro_usd=5_000_000_000)
    told = answer_of(golem, "lose")
    assert "$1,000.00 at most" in told and "it may still spend $5,000.00 of $5,000.00 in 24 h, which is more" in told
    type(limits).objects.filter(pk=limits.pk).update(per_day_micro_usd=1_000_000_000)
    assert "$1,000.00 at most So much of" in answer_of(golem, "lose")


def test_one_glance_says_where_its_money_is_and_when_that_was_measured(golem: Golem) -> None:
    told = answer_of(golem, "money")
    assert "$1,000.00" in told and "All of it in its wallet." in told and "At block 1, 0 s ago." in told


def test_one_glance_says_what_needs_its_owner(golem: Golem) -> None:
    assert "Nothing of this golem waits for you." in answer_of(golem, "needs")
    factories.make_change_request(golem=golem)
    factories.make_permit(golem=golem, status=PermitStatus.UNKNOWN)
    _fall(golem)
    told = answer_of(golem, "needs")
    assert "3 things" in told
    assert all(words in told for words in ("1 request to decide", "1 outcome nobody knows", "a fall to acknowledge"))


def test_what_a_retired_golem_still_holds_needs_its_owner(golem: Golem) -> None:
    _retire(golem)
    assert "$1,000.00 that it still holds: withdraw it" in answer_of(golem, "needs")
    browser = log_in(golem.owner)
    [line] = browser.get("/admin/").context["board"].needs
    assert (line.what, line.golem_name) == ("$1,000.00 that it still holds", "Alpha") and "withdraw it" in line.why
    assert browser.get(line.url).status_code == 200
    assert log_in(factories.make_owner(name="ben")).get("/admin/").context["board"].needs == ()


@pytest.mark.parametrize(("left", "is_told"), [(9_999, False), (10_000, True)])
def test_less_than_a_cent_of_a_retired_golem_is_not_told_as_something_to_withdraw(
    golem: Golem, left: int, is_told: bool
) -> None:
    _retire(golem)
    NavSnapshot.objects.filter(golem=golem).update(value_micro_usd=left)
    assert bool(log_in(golem.owner).get("/admin/").context["board"].needs) is is_told


def test_a_viewer_sees_every_tab_and_nothing_to_press_that_only_others_may(golem: Golem) -> None:
    browser = log_in(make_member(golem, Role.VIEWER, name="vera"))
    for tab in Tab:
        told = read(browser, golem, tab)
        for way in ("halt", "resume", "withdraw", "end", "keys-preview", "keys-spend", "live", "policy", "retire"):
            assert f'href="../{way}/"' not in told, (tab, way)


def test_nobody_else_sees_a_tab(golem: Golem) -> None:
    stranger = factories.make_owner(name="ben")
    stranger.groups.add(ensure_owner_group())
    browser = log_in(stranger)
    assert {browser.get(page("archetypes_app.golem", tab, golem.pk)).status_code for tab in Tab} == {404}


def test_two_page_classes_of_the_golem_define_no_method_of_one_name() -> None:
    """Each is mixed into one admin: of two of a name one never runs, and nobody says which."""
    admin = site._registry[Golem]
    pages = [each for each in type(admin).__mro__ if each.__module__.startswith("permits_app.admin.")]
    own = [each for each in pages if each is not type(admin)]
    names = Counter(name for each in own for name, value in vars(each).items() if isfunction(value))
    twice = {name for name, count in names.items() if count > 1}
    assert len(own) > 12 and twice == set()


@pytest.mark.parametrize("tab", ["change", "money", "records", "statement"])
def test_every_page_that_only_tells_asks_the_same_who_may_see_it(golem: Golem, tab: str) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    stranger = factories.make_owner(name="sam")
    stranger.groups.add(ensure_owner_group())
    unnamed = make_member(golem, Role.VIEWER, name="nora")
    unnamed.groups.clear()
    where = page("archetypes_app.golem", tab, golem.pk)
    assert [log_in(each).get(where).status_code for each in (viewer, stranger, unnamed)] == [200, 404, 403]
    if tab not in ("change", "statement"):
        assert log_in(golem.owner).post(where).status_code == 403
