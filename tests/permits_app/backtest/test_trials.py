"""Trials of a policy: run at once or by a worker, told as they go, shown with the way to ask for the draft."""

from __future__ import annotations

import html
import json
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from permits_app import tasks
from permits_app.actions import try_policy
from permits_app.actions.change_policy import change_policy
from permits_app.actions.try_policy import KEPT_TRIALS, is_stuck, open_trial, run_trial
from permits_app.admin import policy_pages
from permits_app.approvals.policy_state import read_policy_state
from permits_app.errors import PolicyRejected
from permits_app.models import ChangeRequest, PolicyCage, PolicyTrial, PolicyVersion, SpendingLimits
from permits_app.models.policy_trial import TrialState
from tests import factories
from tests.admin.rows import opened_as
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.core.required_value import require

POLICY = "admin:archetypes_app_golem_policy"


@pytest.fixture
def lived(live_golem: LiveGolem) -> LiveGolem:
    """Two swaps allowed, one refused."""
    live_golem.preview(amount="100000000")
    live_golem.preview(amount="200000000")
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=400_000_000)
    with pytest.raises(PolicyRejected):
        live_golem.preview(amount="600000000")
    return live_golem


@pytest.fixture
def browser(lived: LiveGolem) -> Client:
    lived.owner.is_superuser = True
    lived.owner.save()
    client = Client()
    client.force_login(lived.owner)
    return client


def _read(answer: Any) -> str:
    assert answer.status_code == 200, answer
    return html.unescape(answer.content.decode())


def _fields(text: str) -> dict[str, Any]:
    """What the forms of a page would send as they stand."""

    class Reader(HTMLParser):
        found: dict[str, Any] = {}
        select = ""

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            given = dict(attrs)
            name = given.get("name", "")
            if tag == "input" and given.get("type") == "checkbox":
                if "checked" in given:
                    self.found.setdefault(name, []).append(given.get("value", "on"))
            elif tag == "input":
                self.found[name] = given.get("value", "")
            elif tag == "select":
                self.select = name
            elif tag == "option" and "selected" in given:
                self.found[self.select] = given["value"]

    reader = Reader()
    reader.found = {}
    reader.feed(text)
    return {name: value for name, value in reader.found.items() if name and name != "csrfmiddlewaretoken"}


def test_the_form_as_it_stands_is_the_policy_of_now(lived: LiveGolem, browser: Client) -> None:
    url = reverse(POLICY, args=[lived.golem.pk])
    answer = browser.post(url, {**_fields(_read(browser.get(url))), "try": "1"})
    trial = PolicyTrial.objects.get()
    assert answer.status_code == 302
    assert {key: require(trial.policy)[key] for key in ("limits", "cage")} == {
        key: read_policy_state(lived.golem)[key] for key in ("limits", "cage")
    }
    assert set(require(trial.policy)["allowlist"]) == set(read_policy_state(lived.golem)["allowlist"])
    shown = _read(browser.get(answer["Location"]))
    assert "The draft is the policy of now" in shown
    assert "Every decision that can be judged would be decided as it was" in shown


def test_a_draft_is_tried_shown_and_asked_for(lived: LiveGolem, browser: Client) -> None:
    url = reverse(POLICY, args=[lived.golem.pk])
    draft = {"limits-per_transaction_micro_usd": "700", "cage-max_concentration_bps": "95.5", "try": "1"}
    answer = browser.post(url, {**_fields(_read(browser.get(url))), **draft})
    shown = _read(browser.get(answer["Location"]))
    assert "newly allowed, worth $600.00" in shown
    assert "95.5" in shown
    # In words, and by the name of a person.
    assert "Spending limiter: per transaction" in shown and "spending_limiter" not in shown
    assert f"by {lived.owner.username}" in shown and f"owner:{lived.owner.pk}" not in shown
    taken = {"reason": "it needs it", **opened_as(browser, answer["Location"])}
    answer = browser.post(answer["Location"], taken)
    request = ChangeRequest.objects.get()
    assert str(request.pk) in answer["Location"]
    cage = PolicyCage.objects.get(golem=lived.golem)
    assert cage.max_concentration_bps == 9_550, "what tightens holds at once"
    assert SpendingLimits.objects.get(golem=lived.golem).per_transaction_micro_usd == 400_000_000


def test_an_entry_taken_away_and_one_added_are_tried(lived: LiveGolem, browser: Client) -> None:
    url = reverse(POLICY, args=[lived.golem.pk])
    fields = _fields(_read(browser.get(url)))
    weth = lived.world.tokens["WETH"].address
    fields["allowlist-keep"] = [key for key in fields["allowlist-keep"] if weth not in key]
    added = "31337 recipient 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    answer = browser.post(url, {**fields, "allowlist-add": added, "try": "1"})
    result = PolicyTrial.objects.get().result
    assert result["newly_refused"]["count"] == 2
    assert "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" in _read(browser.get(answer["Location"]))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limits-per_day_micro_usd": "much"}, "is no number. Write the digits 0 to 9 alone"),
        ({"cage-max_drawdown_bps": "51"}, "Between 1% and 50%"),
        ({"allowlist-add": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}, "is not a chain, a kind and an address"),
    ],
)
def test_a_draft_with_a_mistake_is_not_tried_and_says_what_it_needs(
    lived: LiveGolem, browser: Client, wrong: dict[str, str], words: str
) -> None:
    url = reverse(POLICY, args=[lived.golem.pk])
    answer = browser.post(url, {**_fields(_read(browser.get(url))), **wrong, "try": "1"})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not PolicyTrial.objects.exists()


def test_the_least_policy_is_found_shown_and_allows_the_period(lived: LiveGolem, browser: Client) -> None:
    answer = browser.post(reverse(POLICY, args=[lived.golem.pk]), {"days": "7", "least": "1"})
    trial = PolicyTrial.objects.get()
    assert (trial.state, trial.result["covered"]) == (TrialState.DONE, 2)
    assert trial.result["newly_refused"]["count"] == 0
    shown = _read(browser.get(answer["Location"]))
    assert "Under this policy all 2 calls that were allowed in the last 7 days would be allowed again" in shown
    with_refused = browser.post(
        reverse(POLICY, args=[lived.golem.pk]), {"days": "7", "with_refused": "on", "least": "1"}
    )
    assert PolicyTrial.objects.order_by("created_at").last().result["covered"] == 3  # type: ignore[union-attr]
    assert "that any policy can allow" in _read(browser.get(with_refused["Location"]))


def test_many_decisions_are_a_workers(lived: LiveGolem, browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[str] = []
    monkeypatch.setattr(try_policy, "AT_ONCE", 2)
    monkeypatch.setattr(policy_pages, "enqueue", lambda task, **given: queued.append(given["trial_id"]))
    url = reverse(POLICY, args=[lived.golem.pk])
    answer = browser.post(url, {**_fields(_read(browser.get(url))), "try": "1"})
    trial = PolicyTrial.objects.get()
    assert queued == [str(trial.pk)]
    shown = _read(browser.get(answer["Location"]))
    assert "Waiting for a worker" in shown
    assert "trial.js" in shown
    tasks.try_policy_task.run(trial_id=queued[0])
    assert "What would be decided otherwise" in _read(browser.get(answer["Location"]))


def test_progress_and_the_end_are_told_as_events(lived: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_policy, "_REPORT_MS", 0)
    trial = open_trial(golem=lived.golem, asked_by="t", now=clock.now(), policy=read_policy_state(lived.golem))
    run_trial(trial_id=trial.pk)
    run_trial(trial_id=trial.pk)
    rows = OutboxEvent.objects.filter(golem_id=lived.golem.pk, type="policy:trial").order_by("sequence")
    told = [json.loads(row.payload) if isinstance(row.payload, str) else row.payload for row in rows]
    assert [(each["status"], each["done"], each["total"]) for each in told] == [
        ("RUNNING", 1, 3),
        ("RUNNING", 2, 3),
        ("RUNNING", 3, 3),
        ("DONE", 3, 3),
    ]


def test_a_trial_that_breaks_says_so_and_changes_nothing(
    lived: LiveGolem, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(**_: Any) -> None:
        raise ValueError("secret detail")

    monkeypatch.setattr(try_policy, "replay_permits", fall)
    trial = open_trial(golem=lived.golem, asked_by="t", now=clock.now(), policy=read_policy_state(lived.golem))
    with pytest.raises(ValueError, match="secret"):
        run_trial(trial_id=trial.pk)
    shown = _read(browser.get(reverse("admin:archetypes_app_golem_policy_trial", args=[lived.golem.pk, trial.pk])))
    assert "The trial failed" in shown
    assert "secret detail" not in shown


def test_one_that_stopped_moving_is_called_stuck(lived: LiveGolem) -> None:
    now = clock.now()
    trial = open_trial(golem=lived.golem, asked_by="t", now=now, policy=read_policy_state(lived.golem))
    assert not is_stuck(trial, now=now + timedelta(minutes=5))
    assert is_stuck(trial, now=now + timedelta(minutes=5, seconds=1))


def test_only_the_newest_trials_of_a_golem_are_kept(lived: LiveGolem) -> None:
    for _ in range(KEPT_TRIALS + 3):
        newest = open_trial(golem=lived.golem, asked_by="t", now=clock.now(), policy=read_policy_state(lived.golem))
    assert PolicyTrial.objects.filter(golem=lived.golem).count() == KEPT_TRIALS
    assert PolicyTrial.objects.filter(pk=newest.pk).exists()


def test_a_version_shows_what_it_changed_can_be_tried_and_put_back(lived: LiveGolem, browser: Client) -> None:
    change = {"row": "limits", "name": "max_slippage_bps", "after": "60"}
    change_policy(golem=lived.golem, changes=[change], owner=lived.owner, reason="tighter", now=clock.now())
    first, second = PolicyVersion.objects.filter(golem=lived.golem).order_by("number")
    url = reverse("admin:archetypes_app_golem_policy_version", args=[lived.golem.pk, second.number])
    assert "What it changed" in _read(browser.get(url))
    back = reverse("admin:archetypes_app_golem_policy_version", args=[lived.golem.pk, first.number])
    answer = browser.post(back, {"try": "1"})
    assert PolicyTrial.objects.get().policy == first.policy
    assert "loosens" in _read(browser.get(answer["Location"]))
    browser.post(back, {"reason": "as it was", **opened_as(browser, back)})
    assert ChangeRequest.objects.get().title == "Put policy version 1 back"


def test_a_draft_is_not_taken_over_a_policy_that_moved_since_its_page_was_opened(
    lived: LiveGolem, browser: Client
) -> None:
    url = reverse(POLICY, args=[lived.golem.pk])
    draft = {"limits-per_transaction_micro_usd": "700", "try": "1"}
    trial = browser.post(url, {**_fields(_read(browser.get(url))), **draft})["Location"]
    older = opened_as(browser, trial)
    change = {"row": "limits", "name": "max_slippage_bps", "after": "60"}
    change_policy(golem=lived.golem, changes=[change], owner=lived.owner, reason="tighter", now=clock.now())
    told = _read(browser.post(trial, {"reason": "it needs it", **older}))
    assert "since this page was opened: policy of now" in told
    assert not ChangeRequest.objects.exists()
    assert SpendingLimits.objects.get(golem=lived.golem).max_slippage_bps == 60


def test_a_stranger_finds_no_trial(lived: LiveGolem, browser: Client) -> None:
    trial = open_trial(golem=lived.golem, asked_by="t", now=clock.now(), policy=read_policy_state(lived.golem))
    stranger = Client()
    stranger.force_login(factories.make_owner(name="stranger"))
    url = reverse("admin:archetypes_app_golem_policy_trial", args=[lived.golem.pk, trial.pk])
    assert stranger.get(url).status_code in (302, 403, 404)
    other = reverse("admin:archetypes_app_golem_policy_trial", args=[trial.pk, trial.pk])
    assert browser.get(other).status_code in (302, 404)
