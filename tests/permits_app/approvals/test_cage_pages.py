"""The page of a golem's contract, its forms, and the cage's own form: each asks for a change on chain."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.actions.change_phase import worsen_phase
from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.change_policy import change_policy
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.approval_pages.cage_forms import parse_limit
from permits_app.models import ChangeRequest, KnownAddress, SpendingLimits
from permits_app.policy_cage.contract import (
    Limit,
    Refill,
    RuleKind,
    address_key,
    call_key,
    encode_halt,
    encode_propose,
    limit_rule,
    payout_key,
    role_allowance_key,
    role_call_key,
)
from tests import factories
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tools_app.core import clock
from tools_app.toolkit.enums import Phase

USD = 10**6


@pytest.fixture
def caged(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> tuple[OwnedSafe, Any, Any]:
    live, owner, other = two_owners
    owner.groups.add(ensure_owner_group())
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    return safe, owner, other


def _browser(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def _cage(golem: Golem, act: str = "") -> str:
    name = "admin:archetypes_app_golem_cage_act" if act else "admin:archetypes_app_golem_cage"
    return reverse(name, args=[golem.pk, act] if act else [golem.pk])


def _post(safe: OwnedSafe, owner: Any, act: str, **fields: str) -> ChangeRequest:
    data = {f"{act}-{name}": value for name, value in {"reason": "for a test", **fields}.items()}
    answer = _browser(owner).post(_cage(safe.live.golem, act), data)
    assert answer.status_code == 302, answer.context["forms"] if answer.context else answer.content
    return ChangeRequest.objects.latest("created_at")


def _carry_out(safe: OwnedSafe, request: ChangeRequest, owner: Any, number: int) -> ChangeRequest:
    signature = safe.sign(owner_transaction(request).safe_tx_hash, number)
    approve(request, owner, signature=signature)
    execute_change(request_id=request.pk, now=clock.now())
    done = ChangeRequest.objects.get(pk=request.pk)
    assert done.state == "EXECUTED", done.problem
    return done


def test_the_page_tells_the_whole_contract_in_units(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    text = _browser(owner).get(_cage(safe.live.golem)).content.decode()
    for shown in (
        safe.mirror.contract,
        safe.address,
        "Drawdown at most",
        "13.00%",
        "10000 USDC",
        "Largest allowance of Uniswap V2",
        "exactInputSingle",
        "nobody is appointed",
        "Halt on chain",
    ):
        assert shown in text, shown


def test_each_form_becomes_exactly_its_rule_in_the_contract(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    router, usdc = safe.live.world.contracts["uniswap_v2_router"], safe.live.world.tokens["USDC"].address
    selector = bytes.fromhex("38ed1739")
    tight = [
        ("limit", {"limit": str(int(Limit.MAX_DRAWDOWN_BPS)), "value": "9.5"}),
        ("target", {"target": router, "function": "0x38ed1739", "may": "0"}),
        ("spender", {"spender": router, "most": "250.00"}),
        ("asset", {"token": usdc, "becomes": "approved", "per_batch": "1,500.5", "per_window": ""}),
    ]
    for act, fields in tight:
        request = _post(safe, owner, act, **fields)
        assert request.risk_tier == "STANDARD", request.shown["differences"]
        _carry_out(safe, request, owner, 0)
    state = safe.sync()
    assert state.limit(Limit.MAX_DRAWDOWN_BPS) == 950
    assert state.rule(RuleKind.CALL, call_key(router, selector)) == 0
    assert state.rule(RuleKind.SPENDER, address_key(router)) == 250 * USD
    assert state.rule(RuleKind.OUTFLOW_PER_BATCH, address_key(usdc)) == 1_500_500_000
    guardian = safe.live.world.new_account().address
    _carry_out(safe, _post(safe, owner, "guardian", guardian=guardian), owner, 0)
    assert safe.sync().rule(RuleKind.GUARDIAN, bytes(32)) == int(guardian, 16)
    key = safe.live.world.new_account().address
    session = _post(safe, owner, "session", key=key, hours="24", operations="7", budget="1,000")
    assert session.risk_tier == "CRITICAL"
    _carry_out(safe, session, other, 1)
    assert (safe.sync().session.key, safe.sync().session.operations_left) == (key, 7)
    _carry_out(safe, _post(safe, owner, "halt"), owner, 0)
    assert safe.sync().is_halted


def test_roles_allowances_and_payouts_are_asked_for_and_told_on_the_page(
    caged: tuple[OwnedSafe, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, owner, other = caged
    router, usdc = safe.live.world.contracts["uniswap_v2_router"], safe.live.world.tokens["USDC"].address
    key, payee = (safe.live.world.new_account().address for _ in range(2))
    asked = [
        ("role-call", {"role": "3", "target": router, "function": "0x38ed1739", "may": "1"}),
        ("role-spender", {"role": "3", "spender": router, "may": "1"}),
        ("role-allowance", {"role": "3", "token": usdc, "most": "1,000", "back": "250", "hours": "6"}),
        ("recipient", {"number": "4", "recipient": payee}),
        ("payout", {"role": "0", "number": "4", "token": usdc, "most": "12.5", "back": "", "hours": "0"}),
    ]
    for act, fields in asked:
        request = _post(safe, owner, act, **fields)
        assert request.risk_tier == "CRITICAL", request.shown["differences"]
        _carry_out(safe, request, other, 1)
    appointed = _post(safe, owner, "role", role="3", key=key, hours="24", operations="7", budget="1,000")
    assert appointed.title == "Appoint the key of role 3"
    _carry_out(safe, appointed, other, 1)
    assert len(safe.sync().pending) == 5, "what an owner gives waits"
    safe.pass_time(48 * 3_600 + 60)
    safe.sync()
    apply_cage_changes(now=clock.now())
    state = safe.sync()
    assert (state.sessions[3].key, state.sessions[3].operations_left) == (key, 7)
    assert state.rule(RuleKind.ROLE_CALL, role_call_key(3, router, bytes.fromhex("38ed1739"))) == 1
    assert state.rule(RuleKind.PAYOUT, payout_key(0, 4, usdc)) == Refill(12_500_000).pack()
    kept = Refill.unpack(state.rule(RuleKind.ROLE_ALLOWANCE, role_allowance_key(3, usdc)))
    assert kept == Refill(1_000 * USD, 250 * USD, 6 * 3_600)
    KnownAddress.objects.create(owner=safe.live.golem.owner, address=key, name="Night desk")
    page = _browser(owner).get(_cage(safe.live.golem)).content.decode()
    for shown in (
        "Role 3",
        f"Night desk {key}",
        "Allowances for",
        "250 USDC again every",
        "1000 USDC left now",
        "12.5 USDC, once",
    ):
        assert shown in page, shown
    # What is signed ends by the chain's time, so the server's is two days on as well.
    later = clock.now() + timedelta(hours=48, seconds=60)
    monkeypatch.setattr(clock, "now", lambda: later)
    taken = _post(safe, owner, "payout", role="0", number="4", token=usdc, most="0", back="", hours="0")
    assert taken.risk_tier == "STANDARD"
    _carry_out(safe, taken, owner, 0)
    assert safe.sync().rule(RuleKind.PAYOUT, payout_key(0, 4, usdc)) == 0


def test_a_form_that_cannot_be_read_asks_nobody(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    client = _browser(owner)
    for act, fields in (
        ("limit", {"limit": "4", "value": "a lot"}),
        ("target", {"target": "0x12", "function": "swap()", "may": "1"}),
        ("spender", {"spender": "0x" + "11" * 20, "most": "-5"}),
        ("role", {"role": "0", "key": "", "hours": "1", "operations": "1", "budget": "1"}),
        ("recipient", {"number": "256", "recipient": "0x" + "11" * 20}),
    ):
        data = {f"{act}-{name}": value for name, value in {**fields, "reason": "x"}.items()}
        assert client.post(_cage(safe.live.golem, act), data).status_code == 422
    assert client.get(_cage(safe.live.golem) + "no-such-act/").status_code == 404
    assert not ChangeRequest.objects.exists()


def test_amounts_that_cannot_be_read_are_refused_at_their_field(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    client, usdc = _browser(owner), safe.live.world.tokens["USDC"].address
    asset = {"token": usdc, "becomes": "approved"}
    payout = {"role": "0", "number": "4", "token": usdc, "hours": "1"}
    unclear = ("1 000", "$500", "500 USDC", "abc", "inf", "nan", "1e9", "500,00", "-1", "1.0000001", "9" * 61)
    for text in unclear:
        for act, fields in (
            ("asset", {**asset, "per_batch": text}),
            ("asset", {**asset, "per_window": text}),
            ("payout", {**payout, "most": text}),
            ("payout", {**payout, "most": "5", "back": text}),
        ):
            data = {f"{act}-{name}": value for name, value in {**fields, "reason": "x"}.items()}
            assert client.post(_cage(safe.live.golem, act), data).status_code == 422, (act, fields)
    for name, text in (("least", "1.000,5"), ("most", "1,5"), ("least", "inf")):
        data = {f"asset-{each}": value for each, value in {**asset, name: text, "reason": "x"}.items()}
        assert client.post(_cage(safe.live.golem, "asset"), data).status_code == 422, (name, text)
    higher = {f"asset-{each}": value for each, value in {**asset, "most": "9" * 60, "reason": "x"}.items()}
    refused = client.post(_cage(safe.live.golem, "asset"), higher, follow=True)
    assert "no feed answers so high a price" in refused.content.decode()
    limit = {"limit-limit": str(int(Limit.MAX_DRAWDOWN_BPS)), "limit-value": "9,5", "limit-reason": "x"}
    assert client.post(_cage(safe.live.golem, "limit"), limit).status_code == 422
    assert not ChangeRequest.objects.exists()


def test_another_owner_s_contract_is_not_there(caged: tuple[OwnedSafe, Any, Any]) -> None:
    stranger = factories.make_owner(name="stranger")
    assert _browser(stranger).get(_cage(caged[0].live.golem)).status_code == 404


def test_the_cages_own_form_asks_for_what_follows_the_contract(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, _ = caged
    cage = safe.mirror.cage
    cage.refresh_from_db()
    url = reverse("admin:permits_app_policycage_change", args=[cage.pk])
    client = _browser(owner)
    form = client.get(url).context["adminform"].form
    fields = {name: form[name].value() for name in form.fields}
    posted = {name: str(value) for name, value in fields.items() if value not in (None, False)}
    posted |= {"max_drawdown_bps": "8", "golem": str(cage.golem_id)}
    asked = client.post(url, posted)
    assert "changes in the golem" in asked.content.decode()
    answer = client.post(url, {**posted, "_why": "calmer"})
    assert answer.status_code == 302
    request = ChangeRequest.objects.get()
    assert (request.kind, request.risk_tier) == ("cage", "STANDARD")
    cage.refresh_from_db()
    assert cage.max_drawdown_bps == 1_300
    _carry_out(safe, request, owner, 0)
    cage.refresh_from_db()
    assert cage.max_drawdown_bps == 800


def test_limits_here_and_rules_on_chain_are_one_request(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    changes = [
        {"row": "cage", "name": "max_concentration_bps", "after": "7000"},
        {"row": "limits", "name": "per_transaction_micro_usd", "after": str(12_000 * USD)},
        {"row": "limits", "name": "writes_per_hour", "after": "100"},
    ]
    outcome = change_policy(golem=safe.live.golem, changes=changes, owner=owner, reason="more room", now=clock.now())
    assert [each.name for each in outcome.applied] == ["writes_per_hour"]
    assert outcome.request is not None
    _carry_out(safe, outcome.request, other, 1)
    limits = SpendingLimits.objects.get(golem=safe.live.golem)
    assert (limits.per_transaction_micro_usd, limits.writes_per_hour) == (12_000 * USD, 100)
    assert [change.value for change in safe.sync().pending.values()] == [7_000]


def test_a_better_phase_waits_in_the_contract_and_then_holds_here(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    golem = safe.live.golem
    worsen_phase(golem=golem, to=Phase.DEFENSIVE, reason="a bad week", actor="system:test", now=clock.now())
    safe.owner_call(safe.mirror.contract, encode_propose([limit_rule(Limit.PHASE, 2)]))
    safe.sync()
    request = request_operation(
        golem=Golem.objects.get(pk=golem.pk),
        name="phase",
        arguments={"to": "THRIVING"},
        owner=owner,
        reason="over it",
        now=clock.now(),
    )
    assert request.risk_tier == "CRITICAL"
    _carry_out(safe, request, other, 1)
    assert Golem.objects.get(pk=golem.pk).phase == "DEFENSIVE"
    safe.pass_time(48 * 3_600 + 60)
    safe.sync()
    assert apply_cage_changes(now=clock.now()) == 1
    assert Golem.objects.get(pk=golem.pk).phase == "THRIVING"
    assert safe.sync().limit(Limit.PHASE) == 0


def test_resuming_after_a_halt_resumes_the_contract_too(caged: tuple[OwnedSafe, Any, Any]) -> None:
    safe, owner, other = caged
    golem = safe.live.golem
    halt_golem(golem=golem, reason="a drill", actor="owner:1", now=clock.now())
    safe.owner_call(safe.mirror.contract, encode_halt())
    safe.sync()
    request = request_operation(
        golem=Golem.objects.get(pk=golem.pk),
        name="resume",
        arguments={},
        owner=owner,
        reason="all is well",
        now=clock.now(),
    )
    assert "on chain too" in request.title
    _carry_out(safe, request, other, 1)
    assert not Golem.objects.get(pk=golem.pk).is_halted
    assert not safe.sync().is_halted


@pytest.mark.parametrize(
    ("limit", "text", "number"),
    [
        (Limit.PHASE, "Survival", 3),
        (Limit.ALLOWS_ARBITRARY_CALLS, "no", 0),
        (Limit.MAX_LOSS_BPS, "2.5%", 250),
        (Limit.MAX_SESSION_SECONDS, "86,400", 86_400),
        (Limit.HIGH_WATER_MARK_MICRO_USD, "26,000.50", 26_000_500_000),
        (Limit.MAX_GAS_TOP_UP_WEI, "0.05", 5 * 10**16),
        (Limit.MAX_ASSETS, "8", 8),
        (Limit.MIN_COLLATERAL_RATIO_BPS, "150", 15_000),
    ],
)
def test_a_limit_is_read_in_its_own_unit(limit: Limit, text: str, number: int) -> None:
    assert parse_limit(limit, text) == number
