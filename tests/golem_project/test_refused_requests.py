"""What people and agents ask for and do not get is refused with its own code, and what they have stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from archetypes_app.actions.ask_sign_in import MINUTES, MOST_OF_AN_ADDRESS, ask_sign_in
from archetypes_app.actions.change_role import lower_role
from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.actions.decide_sign_in import approve_sign_in, deny_sign_in
from archetypes_app.models import AgentSignIn, ApiKey, Golem, Heartbeat, ServiceAccess
from archetypes_app.models.agent_sign_in import SignInState
from archetypes_app.roles import Role
from golem_project import wiring
from golem_project.a2a.notifications import get_config
from golem_project.coding.ssh_keys import SshKeys
from golem_project.coding.workspaces import GolemWorkspaces
from golem_project.demo.seed import seed_demo
from golem_project.heartbeat.strategy_backtest import try_strategies
from golem_project.outside.access import switch_on
from golem_project.runtime.local_faucet import LocalFaucet
from golem_project.stream import sealed_secrets, webhook_secret_rotation, webhooks
from golem_project.stream.models import WebhookEndpoint
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import PasskeysNotSetUp
from permits_app.approvals.passkey_site import find_site
from permits_app.doors.decide_change import cancel_change
from permits_app.models import ChangeRequest
from tests import factories
from tests.told_reader import refusal_of
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret
from tools_app.subsystems.intel.services import FUTURES
from tools_app.toolkit.faucets import Gift

pytestmark = pytest.mark.django_db
ADDRESS = "203.0.113.7"
RECEIVER = "http://127.0.0.1:8000/hook"
NODE_OF_NOBODY = "http://127.0.0.1:9"


def refuse(act: Callable[..., object], *given: Any, **named: Any) -> str:
    """The code that an act is refused with."""
    refused: GolemError = refusal_of(lambda: act(*given, **named), GolemError)
    assert refused.detail
    return refused.code


@pytest.fixture
def golem() -> Golem:
    return factories.make_golem(owner=factories.make_owner(name="ana"))


def ask(*scopes: str) -> AgentSignIn:
    return ask_sign_in(agent="trader", scopes=scopes, asked_from=ADDRESS, now=clock.now()).row


def approve(row: AgentSignIn, golem: Golem, *scopes: str, later: timedelta = timedelta(0)) -> None:
    now = clock.now() + later
    approve_sign_in(row=row, golem=golem, scopes=scopes, lifetime_days=30, decided_by=golem.owner, now=now)


def test_a_scope_that_there_is_not_is_neither_asked_for_nor_given(golem: Golem) -> None:
    asked = {"golem": golem, "label": "", "created_by": golem.owner, "now": clock.now(), "most_tools": None}
    assert refuse(create_api_key, scopes=["read", "rule"], **asked) == "UNKNOWN_SCOPE"
    assert refuse(ask, "read", "rule") == "UNKNOWN_SCOPE"
    assert (ApiKey.objects.count(), AgentSignIn.objects.count()) == (0, 0)


@pytest.mark.parametrize("scopes", [(), ("read", "commit")])
def test_an_agent_is_given_what_it_asked_for_or_less_and_never_nothing(golem: Golem, scopes: tuple[str, ...]) -> None:
    row = ask("read")
    assert refuse(approve, row, golem, *scopes) == "UNKNOWN_SCOPE"
    row.refresh_from_db()
    assert row.state == SignInState.WAITING


def test_a_sign_in_is_decided_once_and_in_its_minutes(golem: Golem) -> None:
    row, late = ask("read"), ask("read")
    approve(row, golem, "read")
    assert refuse(deny_sign_in, row=row, decided_by=golem.owner, now=clock.now()) == "SIGN_IN_OVER"
    assert refuse(approve, late, golem, "read", later=timedelta(minutes=MINUTES)) == "SIGN_IN_OVER"
    row.refresh_from_db()
    late.refresh_from_db()
    assert (row.state, late.state) == (SignInState.APPROVED, SignInState.WAITING)


def test_an_address_that_asks_too_often_is_told_when_to_ask_again() -> None:
    for _ in range(MOST_OF_AN_ADDRESS):
        ask("read")
    refused = refusal_of(lambda: ask("read"), GolemError)
    assert (refused.code, refused.data["retry_after_seconds"]) == ("TOO_MANY_SIGN_INS", MINUTES * 60)


def test_who_decides_about_a_golem_loses_that_by_no_single_owner(golem: Golem) -> None:
    other = factories.make_owner(name="bo")
    golem.co_owners.add(other)
    for to in (None, Role.VIEWER):
        asked = {"golem": golem, "person": other, "to": to, "by": golem.owner, "now": clock.now()}
        assert refuse(lower_role, **asked) == "ROLE_NEEDS_APPROVAL"
    assert golem.co_owners.filter(pk=other.pk).exists()


@pytest.mark.parametrize(
    ("name", "origins", "says"),
    [
        ("", None, "GOLEM_PASSKEY_RP_ID"),
        ("golem.example", (), "GOLEM_PASSKEY_ORIGINS"),
        ("golem.example", None, "open this page at https://golem.example:8443"),
        ("golem.example", ("https://pages.golem.example",), "open this page at https://pages.golem.example"),
    ],
)
def test_a_passkey_counts_at_no_page_that_its_server_does_not_name(
    settings: Any, name: str, origins: tuple[str, ...] | None, says: str
) -> None:
    settings.GOLEM_PASSKEY_RP_ID, settings.GOLEM_PASSKEY_ORIGINS = name, origins
    refused = refusal_of(lambda: find_site(scheme="https", host="elsewhere.example:8443"), PasskeysNotSetUp)
    assert says in refused.detail


def test_an_address_that_a_task_does_not_tell_is_not_shown(golem: Golem) -> None:
    told = factories.make_a2a_notification(golem=golem, url=RECEIVER).config
    assert get_config(task=told.task, name=told.name) == told
    for task, name in ((told.task, "two"), (factories.make_a2a_task(golem=golem), told.name)):
        assert refuse(get_config, task=task, name=name) == "A2A_PUSH_UNKNOWN"


def test_an_operation_that_there_is_not_is_not_asked_of_owners(golem: Golem) -> None:
    asked = {"golem": golem, "arguments": {}, "owner": golem.owner, "reason": "why not", "now": clock.now()}
    assert refuse(request_operation, name="give_everything_away", **asked) == "UNKNOWN_OPERATION"
    assert not ChangeRequest.objects.exists()


def test_a_request_that_there_is_not_is_not_cancelled(golem: Golem) -> None:
    asked = {"request_id": uuid4(), "owner": golem.owner, "reason": "why not", "now": clock.now()}
    assert refuse(cancel_change, **asked) == "CHANGE_NOT_FOUND"


def hook(golem: Golem) -> WebhookEndpoint:
    made, _ = webhooks.create_endpoint(
        owner=golem.owner, golem=None, label="hook", url=RECEIVER, types=(), now=clock.now()
    )
    return made


def test_an_owner_has_so_many_webhooks_and_none_that_leads_inside(golem: Golem, settings: Any) -> None:
    settings.GOLEM_WEBHOOK_MOST_ENDPOINTS_PER_OWNER = 1
    hook(golem)
    assert refuse(hook, golem) == "WEBHOOK_REFUSED"
    settings.GOLEM_WEBHOOK_MOST_ENDPOINTS_PER_OWNER = 2
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = False
    assert refuse(hook, golem) == "WEBHOOK_REFUSED"
    assert WebhookEndpoint.objects.count() == 1


def test_a_secret_is_rotated_again_once_the_oldest_that_signs_along_ended(golem: Golem) -> None:
    endpoint, now = hook(golem), clock.now()
    for _ in range(webhook_secret_rotation.MOST_OLD_SECRETS):
        webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=now)
    kept = bytes(endpoint.sealed_secret)
    again = {"endpoint": endpoint, "now": now + webhook_secret_rotation.OLD_SECRET_LIVES - timedelta(seconds=1)}
    assert refuse(webhook_secret_rotation.rotate_secret, **again) == "WEBHOOK_ROTATED_TOO_OFTEN"
    endpoint.refresh_from_db()
    assert bytes(endpoint.sealed_secret) == kept
    webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=now + webhook_secret_rotation.OLD_SECRET_LIVES)


def test_a_sealed_secret_opens_in_its_own_row_alone() -> None:
    row, other = uuid4().bytes, uuid4().bytes
    sealed = sealed_secrets.seal(b"words", bound_to=row)
    assert sealed_secrets.unseal(sealed, bound_to=row) == b"words"
    for text, bound_to in ((sealed, other), (sealed[:-1], row), (b"", row)):
        assert refuse(sealed_secrets.unseal, text, bound_to=bound_to) == "SEAL_BROKEN"


@pytest.mark.parametrize(
    ("name", "key", "an_hour"),
    [("oracle", "", None), (FUTURES.name, "", 0), (FUTURES.name, "", 10**9), (FUTURES.name, "k-3f9d2c77aa51", None)],
)
def test_a_service_is_not_switched_on_otherwise_than_it_is(
    golem: Golem, name: str, key: str, an_hour: int | None
) -> None:
    asked = {"person": golem.owner, "name": name, "key": key, "questions_an_hour": an_hour, "now": clock.now()}
    assert refuse(switch_on, **asked) == "SERVICE_ACCESS_REFUSED"
    assert not ServiceAccess.objects.exists()


def test_a_golem_that_keeps_no_strategy_has_none_to_try(golem: Golem) -> None:
    heartbeat = Heartbeat.objects.create(golem=golem)
    assert refuse(try_strategies, heartbeat=heartbeat, days=30, now=clock.now()) == "NOTHING_TO_TRY"


def make_workspaces(folder: Path) -> GolemWorkspaces:
    return GolemWorkspaces(
        folder,
        key_folder=folder / "keys",
        passphrase=Secret("words"),
        allows_private=False,
        allows_network=False,
        allows_commands=False,
        memory_bytes=10**8,
        kept=(),
    )


def test_of_two_that_write_at_once_in_a_workspace_the_second_is_told_that_it_is_busy(
    golem: Golem, tmp_path: Path
) -> None:
    workspaces, another = make_workspaces(tmp_path), factories.make_golem(owner=golem.owner, name="Another")

    def hold(held: Golem) -> None:
        with make_workspaces(tmp_path).hold(golem_id=held.pk, deadline=Deadline.after_ms(50)):
            """Written."""

    with workspaces.hold(golem_id=golem.pk, deadline=Deadline.after_ms(5_000)):
        assert refuse(hold, golem) == "WORKSPACE_BUSY"
        hold(another)
    hold(golem)


def test_a_key_for_ssh_opens_with_its_own_passphrase_alone_and_is_not_made_anew(golem: Golem, tmp_path: Path) -> None:
    public = SshKeys(tmp_path, passphrase=Secret("words")).spell_public(golem.pk)
    others = SshKeys(tmp_path, passphrase=Secret("other words"))
    assert refuse(others.spell_public, golem.pk) == "SSH_KEY_BROKEN"
    assert SshKeys(tmp_path, passphrase=Secret("words")).spell_public(golem.pk) == public


def test_a_faucet_whose_node_does_not_answer_gives_nothing(settings: Any) -> None:
    settings.GOLEM_RPC_URLS = {31337: (NODE_OF_NOBODY,)}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    try:
        asked = {"chain_id": 31337, "account": "0x" + "11" * 20, "gift": Gift("ETH", True, 1)}
        assert refuse(LocalFaucet().give, **asked) == "FAUCET_REFUSED"
    finally:
        wiring.configure_networks({})


def test_the_demo_without_a_chain_is_not_begun(settings: Any) -> None:
    settings.GOLEM_RPC_URLS = {}
    assert refuse(seed_demo, now=clock.now(), with_token=False) == "DEMO_CHAIN_MISSING"
    with pytest.raises(CommandError, match="make run"):
        call_command("seed_demo")
    assert not Golem.objects.exists()
