"""A new golem starts with what the environment says, unless its maker says otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from eth_account import Account

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, ToolProfile
from permits_app.actions.create_golem import create_golem
from permits_app.errors import SignerUnavailable
from permits_app.models import Wallet
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry


@pytest.mark.parametrize(
    ("chosen", "expected"), [(None, ["trader", "vault"]), ([], []), (["lp"], ["lp"])], ids=["none said", "none", "one"]
)
@pytest.mark.django_db
def test_profiles_come_from_the_maker_or_else_from_the_environment(
    settings: Any, chosen: list[str] | None, expected: list[str]
) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = "trader,vault"
    sync_builtins()
    golem = create_golem(
        owner=get_user_model().objects.create(username="ana"),
        name="g",
        archetype=Archetype.objects.get(name="trade-executor"),
        profiles=None if chosen is None else ToolProfile.objects.filter(name__in=chosen),
        home_chain_id=31337,
        base_asset="USDC",
        actor="owner:1",
        now=clock.now(),
    )
    assert sorted(Golem.objects.get(pk=golem.pk).profiles.values_list("name", flat=True)) == expected


def make(name: str = "g", **more: Any) -> Golem:
    """A golem as a script would make it."""
    sync_builtins()
    owner, _ = get_user_model().objects.get_or_create(username="ana")
    return create_golem(
        owner=owner,
        name=name,
        archetype=Archetype.objects.get(name="trade-executor"),
        profiles=None,
        home_chain_id=31337,
        base_asset="USDC",
        actor="owner:1",
        now=clock.now(),
        **more,
    )


@pytest.fixture
def keystore_file(tmp_path: Path, settings: Any) -> str:
    """A keystore file this server was set up with; the address of its key."""
    account = Account.create()
    path = tmp_path / "key.json"
    path.write_text(json.dumps(account.encrypt("opens it", kdf="scrypt", iterations=2)))
    settings.GOLEM_WALLET_SOURCE = "import"
    settings.GOLEM_WALLET_KEYSTORE_FILE = str(path)
    settings.GOLEM_WALLET_PASSPHRASE = "opens it"
    return str(account.address)


@pytest.mark.parametrize("word", ["", "none"])
@pytest.mark.django_db
def test_without_a_word_of_the_environment_a_golem_has_no_wallet(settings: Any, word: str) -> None:
    settings.GOLEM_WALLET_SOURCE = word
    assert make().address == ""
    assert not Wallet.objects.exists()


@pytest.mark.django_db
def test_the_environment_gives_a_new_key_to_each_new_golem(settings: Any) -> None:
    settings.GOLEM_WALLET_SOURCE = "create"
    first, second = make("one"), make("two")
    assert len({first.address, second.address, ""}) == 3
    assert AuditEntry.objects.filter(event="WalletCreated").count() == 2


@pytest.mark.django_db
def test_the_configured_file_serves_one_golem_and_the_next_starts_without(keystore_file: str) -> None:
    first, second = make("one"), make("two")
    assert (first.address, second.address) == (keystore_file, "")


@pytest.mark.parametrize(
    "changes",
    [
        {"GOLEM_WALLET_PASSPHRASE": "another"},
        {"GOLEM_WALLET_KEYSTORE_FILE": "/no/such/file"},
        {"GOLEM_WALLET_KEYSTORE_FILE": "/dev/null"},
    ],
)
@pytest.mark.django_db
def test_a_file_that_does_not_open_is_an_error_without_its_passphrase(
    keystore_file: str, settings: Any, changes: dict[str, str]
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    with pytest.raises(GolemError) as refused:
        make()
    assert "opens it" not in refused.value.detail and "another" not in refused.value.detail
    assert not Wallet.objects.exists()


@pytest.mark.django_db
def test_an_unknown_word_is_refused_before_a_golem_is_made(settings: Any) -> None:
    settings.GOLEM_WALLET_SOURCE = "metamask"
    with pytest.raises(SignerUnavailable, match="GOLEM_WALLET_SOURCE"):
        make()
    assert not Golem.objects.exists()


@pytest.mark.django_db
def test_the_caller_may_keep_the_wallet_to_itself(settings: Any) -> None:
    settings.GOLEM_WALLET_SOURCE = "create"
    assert make(gives_wallet=False).address == ""


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.django_db
def test_memory_is_as_the_environment_says(settings: Any, enabled: bool) -> None:
    settings.GOLEM_MEMORY_ENABLED = enabled
    assert make().is_memory_enabled is enabled
