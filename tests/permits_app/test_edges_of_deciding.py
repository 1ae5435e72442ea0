"""What decides over permits, keys and their pages by a number, just below, at and just above it."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from archetypes_app.models import DefinitionApproval
from permits_app.actions import commit, try_policy
from permits_app.actions.approve_definition import _approve
from permits_app.actions.bring_definition import _store
from permits_app.actions.record_nav import record_nav
from permits_app.actions.try_policy import is_long, is_stuck, open_trial
from permits_app.approval_errors import PasskeyRefused, SignatureWrong
from permits_app.approval_pages.draft_forms import DraftAllowlistForm
from permits_app.approvals.approval_rules import cool_off, tier_of_loosening
from permits_app.approvals.passkey_site import PasskeySite
from permits_app.approvals.passkeys import ask_for_new
from permits_app.approvals.signatures import parse_signature_text
from permits_app.backtest.drawdown_replay import DrawdownFold
from permits_app.backtest.past_decisions import LimitClaim
from permits_app.backtest.usage_correction import Flip, UsedUp
from permits_app.custody.signers.bundler import _as_quantity
from permits_app.errors import DefinitionNotShown
from permits_app.execution import chain_rollback, confirm_transaction, payload_delivery, position_unwinding
from permits_app.execution.actual_cost import value_spent
from permits_app.execution.nonces import note_gap
from permits_app.forms import WalletForm
from permits_app.limits.usage import Usage
from permits_app.models import NonceCursor, OutboundTransaction, Passkey
from permits_app.performance.monthly_statement import list_months
from permits_app.reviewers import risk_assessor
from permits_app.reviewers.revert_chance import RevertChance, judge_revert_chance, measure_revert_chance
from permits_app.safety.call_records import Mark
from tests import factories
from tests.permits_app.safety.calls import NOW
from tools_app.chain.node_errors import RpcRefused
from tools_app.core import clock
from tools_app.models import ToolDefinition
from tools_app.sandbox.definition import DefinitionRefused
from tools_app.toolkit.enums import ActionClass, RiskTier

TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)
ME = "0x" + "1" * 40
COLUMN = 2**63 - 1


# ---- reviewers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "is_thin"), [(100_000_000_000, False), (99_999_999_999, True)])
def test_a_pool_of_less_than_a_hundred_thousand_dollars_is_thin(
    value: int, is_thin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(risk_assessor, "value_pool", lambda *_: value)
    effects = SimpleNamespace(hooks=())
    pool = SimpleNamespace(id=ME, version="v3")
    desk: Any = SimpleNamespace(effects=effects, pools=[pool], chain=None, warnings=[], figures={})
    risk_assessor._weigh_pools(desk)
    assert bool(desk.warnings) is is_thin


@pytest.mark.parametrize(("millionths", "is_vetoed"), [(50_000, False), (50_001, True)])
def test_a_chance_of_a_revert_of_more_than_five_percent_is_too_large(millionths: int, is_vetoed: bool) -> None:
    assert bool(judge_revert_chance(RevertChance(millionths, 1_000, 5, 50))) is is_vetoed


@pytest.mark.parametrize(("head", "blocks"), [(999, 999), (1_000, 1_000), (1_001, 1_000)])
def test_a_chance_of_a_revert_is_read_from_a_thousand_blocks(head: int, blocks: int) -> None:
    chain: Any = SimpleNamespace(block=SimpleNamespace(number=head))
    plan: Any = SimpleNamespace(spends=(), receives=(), slippage_bps=50)
    assert measure_revert_chance(plan=plan, chain=chain, pools=(), permit_ttl_seconds=60).blocks == blocks


# ---- owners and their devices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bps", "seconds", "tier"),
    [
        (2_500, 3_600, RiskTier.HIGH),
        (2_501, 86_400, RiskTier.CRITICAL),
        (10_000, 86_400, RiskTier.CRITICAL),
        (10_001, 172_800, RiskTier.CRITICAL),
        (None, 172_800, RiskTier.CRITICAL),
    ],
)
def test_a_loosening_is_small_up_to_a_quarter_and_large_beyond_twice(
    bps: int | None, seconds: int, tier: RiskTier
) -> None:
    assert (cool_off(bps), tier_of_loosening(bps)) == (seconds, tier)


HALF_ORDER = 57896044618658097711785492504343953926418782139537452191302581570759080747168


@pytest.mark.parametrize(("s", "is_taken"), [(HALF_ORDER, True), (HALF_ORDER + 1, False)])
def test_a_signature_has_the_lower_of_its_two_forms(s: int, is_taken: bool) -> None:
    text = "0x" + (bytes(32) + s.to_bytes(32, "big") + b"\x1b").hex()
    if is_taken:
        assert len(parse_signature_text(text)) == 65
        return
    with pytest.raises(SignatureWrong):
        parse_signature_text(text)


@pytest.mark.django_db
@pytest.mark.parametrize(("held", "is_asked"), [(9, True), (10, False)])
def test_a_person_has_ten_passkeys(held: int, is_asked: bool) -> None:
    owner = factories.make_owner()
    Passkey.objects.bulk_create(
        Passkey(user=owner, name=f"key {at}", credential_id=bytes([at]), sign_count=0, added_at=NOW)
        for at in range(held)
    )
    site = PasskeySite("localhost", ("http://localhost",))
    if is_asked:
        assert "challenge" in ask_for_new(user=owner, site=site, challenge=bytes(32))
        return
    with pytest.raises(PasskeyRefused, match="10 passkeys"):
        ask_for_new(user=owner, site=site, challenge=bytes(32))


@pytest.mark.parametrize(("size", "said"), [(16_384, "This is not a JSON file."), (16_385, "smaller than 16 KiB")])
def test_a_keystore_file_has_sixteen_kilobytes(size: int, said: str) -> None:
    told: list[str] = []
    form: Any = SimpleNamespace(add_error=lambda _, words: told.append(words))
    upload = SimpleNamespace(size=size, read=lambda: b"x" * size)
    assert WalletForm._read_document(form, upload) == ""
    assert said in told[0]


@pytest.mark.parametrize(("count", "is_taken"), [(50, True), (51, False)])
def test_fifty_entries_are_added_to_a_draft_at_once(count: int, is_taken: bool) -> None:
    form = DraftAllowlistForm(None, entries={})
    form.cleaned_data = {"add": "\n".join(f"1 TOKEN 0x{number:040x}" for number in range(1, count + 1))}
    if is_taken:
        assert len(form.clean_add()) == 50
        return
    with pytest.raises(ValidationError, match="At most 50"):
        form.clean_add()


# ---- tools of owners -------------------------------------------------------------------------------------------------


def bring(owner: Any, number: int, *, name: str = "moon_phase") -> ToolDefinition:
    return ToolDefinition(
        owner=owner, name=name, version=number, definition_hash=f"0x{name}{number}", body={}, created_at=NOW
    )


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "is_taken"), [(199, True), (200, False)])
def test_a_tool_of_an_owner_has_two_hundred_versions(before: int, is_taken: bool) -> None:
    owner = factories.make_owner()
    ToolDefinition.objects.bulk_create(bring(owner, number) for number in range(1, before + 1))
    definition: Any = SimpleNamespace(name="moon_phase", hash="0xnew", body={})
    if is_taken:
        assert _store(owner, definition, None, [], NOW).version == 200
        return
    with pytest.raises(DefinitionRefused, match="200 versions"):
        _store(owner, definition, None, [], NOW)


@pytest.mark.django_db
@pytest.mark.parametrize(("before", "is_taken"), [(19, True), (20, False)])
def test_a_golem_has_twenty_tools_of_its_owner(before: int, is_taken: bool) -> None:
    owner = factories.make_owner()
    golem = factories.make_golem(owner=owner)
    made = ToolDefinition.objects.bulk_create(bring(owner, 1, name=f"tool_{n}") for n in range(before + 1))
    for each in made[:before]:
        _approve(each, golem, owner, NOW)
    if is_taken:
        _approve(made[-1], golem, owner, NOW)
        assert DefinitionApproval.objects.filter(golem=golem).count() == 20
        return
    with pytest.raises(DefinitionNotShown, match="20 tools"):
        _approve(made[-1], golem, owner, NOW)


# ---- drafts tried on the past ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("decisions", "is_a_workers"), [(200, False), (201, True)])
def test_two_hundred_decisions_are_tried_while_the_owner_waits(
    decisions: int, is_a_workers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_policy, "count_decisions", lambda _: decisions)
    trial: Any = SimpleNamespace(last=10_000, golem=None)
    assert is_long(trial) is is_a_workers


@pytest.mark.parametrize(("since", "stuck"), [(timedelta(minutes=5), False), (timedelta(minutes=5) + TICK, True)])
def test_a_trial_that_does_not_move_for_five_minutes_is_stuck(since: timedelta, stuck: bool) -> None:
    trial: Any = SimpleNamespace(state="RUNNING", moved_at=NOW - since)
    assert is_stuck(trial, now=NOW) is stuck


@pytest.mark.django_db
@pytest.mark.parametrize(("asked", "last"), [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000)])
def test_a_draft_is_tried_on_ten_thousand_decisions(asked: int, last: int) -> None:
    golem = factories.make_golem(owner=factories.make_owner())
    assert open_trial(golem=golem, asked_by="a", now=NOW, last=asked).last == last


def flip_at(at: datetime, *, claim: LimitClaim | None = None) -> Flip:
    past: Any = SimpleNamespace(
        at=at,
        key_id=None,
        claim=claim or LimitClaim(7),
        action_class=ActionClass.REBALANCE,
        rebalanced_at=frozenset(),
    )
    return Flip(past, 1, 0, counts_per_day=True)


@pytest.mark.parametrize(
    ("age", "writes", "rebalances"),
    [(timedelta(hours=1) - TICK, 1, 1), (timedelta(hours=1), 0, 1), (DAY - TICK, 0, 1), (DAY, 0, 0)],
)
def test_what_a_draft_would_have_allowed_counts_for_an_hour_and_for_a_day(
    age: timedelta, writes: int, rebalances: int
) -> None:
    used = UsedUp()
    used._recent.append(flip_at(NOW - age))
    asked: Any = flip_at(NOW).past
    facts: Any = SimpleNamespace(usage=Usage(0, 0, 0, 0), tick=0)
    assert used.correct(asked, facts).writes_last_hour == writes
    assert len(used.correct_rebalances(asked, ())) == rebalances


@pytest.mark.parametrize(("age", "counts"), [(DAY - TICK, True), (DAY, False)])
def test_what_a_draft_settled_is_of_the_day_until_it_is_a_day_old(age: timedelta, counts: bool) -> None:
    settled = LimitClaim(7, ended_at=NOW - age, settled_micro_usd=5, settled_at=NOW - age)
    assert flip_at(NOW - age, claim=settled).is_of_day(NOW) is counts


@pytest.mark.parametrize(("bps", "is_known"), [(1_399, True), (1_400, False)])
def test_a_fall_under_the_least_that_a_breaker_blocks_at_says_nothing_of_a_draft(bps: int, is_known: bool) -> None:
    fold = DrawdownFold(most_bps=5_000, began_at=NOW)
    fold.mark_before(Mark(100, NOW, violated_at=NOW + DAY, violated_bps=bps))
    assert fold.is_known is is_known


# ---- execution -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantity", "is_taken"), [(2**64 - 1, True), (2**64, False)])
def test_a_bundlers_quantity_fits_sixty_four_bits(quantity: int, is_taken: bool) -> None:
    if is_taken:
        assert _as_quantity(hex(quantity)) == quantity
        return
    with pytest.raises(Exception, match="cannot be"):
        _as_quantity(hex(quantity))


@pytest.mark.parametrize(("spent", "told"), [(COLUMN - 1, COLUMN - 1), (COLUMN, COLUMN), (COLUMN + 1, COLUMN)])
def test_what_was_spent_is_as_much_as_a_row_holds(spent: int, told: int) -> None:
    claim = SimpleNamespace(breakdown=[{"role": "allowance", "micro_usd": spent}])
    permit: Any = SimpleNamespace(spend_entry=claim, prices=[])
    judgement: Any = SimpleNamespace(fee_wei=0, is_coin_known=True, deltas={}, unshown=())
    assert value_spent(permit=permit, judgement=judgement, chain_native_decimals=18) == told


@pytest.mark.django_db
@pytest.mark.parametrize(("given_out", "found"), [(63, 63), (64, 64), (65, 64)])
def test_sixty_four_nonces_that_nobody_holds_are_found_at_once(given_out: int, found: int) -> None:
    NonceCursor.objects.create(chain_id=1, address=ME, next_nonce=given_out)
    assert note_gap(chain_id=1, address=ME, mined_nonce=0, pending_nonce=0) == found


@pytest.mark.parametrize(("minutes", "is_lost"), [(timedelta(minutes=10), True), (timedelta(minutes=10) - TICK, False)])
def test_a_payload_that_a_node_does_not_know_for_ten_minutes_is_lost(
    minutes: timedelta, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    monkeypatch.setattr(payload_delivery, "is_known", lambda *_, **__: False)
    monkeypatch.setattr(payload_delivery, "list_siblings", lambda _: [])
    monkeypatch.setattr(confirm_transaction, "is_taken_by_another", lambda **_: False)
    row: Any = SimpleNamespace(
        nonce=1,
        created_at=NOW - minutes,
        passed_at=None,
        entry_point="",
        tx_hash="0x1",
        chain_id=1,
        sender=ME,
        permit=None,
    )
    deadline: Any = None
    assert payload_delivery.is_lost(row, used_nonce=2, deadline=deadline) is is_lost


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "is_looked_at"), [(DAY, True), (DAY + TICK, False)])
def test_what_was_given_up_is_looked_for_for_a_day(
    age: timedelta, is_looked_at: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit = factories.make_committed_permit(golem=factories.make_golem(owner=factories.make_owner()))
    rows = OutboundTransaction.objects.filter(permit=permit)
    assert rows.update(state="DROPPED", updated_at=NOW - age, is_live=True)
    looked: list[int] = []

    def look(row: Any, _now: Any) -> bool:
        looked.append(row.pk)
        return False

    monkeypatch.setattr(chain_rollback, "_look_for_late", look)
    chain_rollback.find_given_up(permit.chain_id, NOW)
    assert bool(looked) is is_looked_at


@pytest.mark.parametrize(
    ("tried", "outcome"), [(2, "its owner stopped this"), (3, "left as it is: 3 attempts reverted")]
)
def test_a_position_whose_unwinding_reverted_three_times_is_its_owners(
    tried: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(position_unwinding, "_count_attempts", lambda *_: tried)
    golem: Any = None
    line, is_over = position_unwinding._leave(golem, 1, golem, "a", NOW, lambda: False)
    assert (line["outcome"], is_over) == (outcome, True)


@pytest.mark.django_db
@pytest.mark.parametrize(("left", "is_blocked"), [(timedelta(seconds=1), True), (timedelta(seconds=1) + TICK, False)])
def test_a_commit_is_not_tried_again_in_the_last_second_of_its_permit(
    left: timedelta, is_blocked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked: list[Any] = []
    put_off: list[datetime] = []
    monkeypatch.setattr(clock, "now", lambda: NOW)
    monkeypatch.setattr(commit, "end_commit", lambda *told: blocked.append(told))
    monkeypatch.setattr(commit, "say_not_signed", lambda *_: "")
    nothing = SimpleNamespace(exists=lambda: False)
    permit: Any = SimpleNamespace(
        pk=uuid.uuid4(), expires_at=NOW + left, transactions=nothing, nonce_reservations=nothing
    )
    lease: Any = SimpleNamespace(owner=uuid.uuid4(), put_off=lambda until: put_off.append(until))
    assert commit._is_put_off(permit, RpcRefused("no"), lease)
    assert bool(blocked) is is_blocked
    assert put_off == ([] if is_blocked else [NOW + timedelta(seconds=1)])


# ---- what a golem is worth -------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("value", "debt", "is_kept"),
    [(COLUMN, COLUMN, True), (-COLUMN, 0, True), (COLUMN + 1, 0, False), (0, COLUMN + 1, False)],
)
def test_a_value_and_a_debt_fit_their_columns(
    value: int, debt: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("permits_app.actions.record_nav.tell_holdings", lambda *_, **__: {})
    golem = factories.make_golem(owner=factories.make_owner())
    holdings: Any = SimpleNamespace(
        nav_micro_usd=value, debt_micro_usd=debt, is_steady=True, tokens=(), positions=(), coins=()
    )
    monkeypatch.setattr(
        "permits_app.actions.record_nav.NavState",
        SimpleNamespace(of=lambda _: SimpleNamespace(as_json=lambda: {})),
    )
    block: Any = SimpleNamespace(number=5)
    kept = record_nav(golem=golem, chain_id=1, block=block, holdings=holdings, now=NOW)
    assert (kept is not None) is is_kept


def test_twenty_four_months_of_a_golem_are_stated() -> None:
    golem: Any = SimpleNamespace(created_at=NOW - 3 * 365 * DAY)
    assert len(list_months(golem, now=NOW)) == 24
