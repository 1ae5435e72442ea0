"""The wizard begins with what the environment gives new golems; the person in front of it may change it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from eth_account import Account

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, ToolProfile
from golem_project import wiring
from tests.factories import make_golem, make_owner

pytestmark = pytest.mark.django_db
ADD = reverse("admin:archetypes_app_golem_add")


@pytest.fixture
def owner_client(client: Client) -> Client:
    sync_builtins()
    client.force_login(make_owner())
    return client


def read_ticked(client: Client) -> set[str]:
    form = client.get(ADD).context["form"]
    return set(ToolProfile.objects.filter(pk__in=form["profiles"].value() or []).values_list("name", flat=True))


def test_profiles_of_the_environment_are_ticked_and_nothing_is_without(owner_client: Client, settings: Any) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = ""
    assert read_ticked(owner_client) == set()
    settings.GOLEM_NEW_GOLEM_PROFILES = "trader,vault"
    assert read_ticked(owner_client) == {"trader", "vault"}
    page = owner_client.get(ADD).content.decode()
    assert page.count(" checked") == 3, "two bundles, and what it is for"


def test_the_wizard_names_its_five_pages_in_their_order_and_begins_at_the_name(owner_client: Client) -> None:
    answer = owner_client.get(ADD)
    told = [(step["title"], step["state"]) for step in answer.context["steps"]]
    assert told == [
        ("Who it is", "now"),
        ("Wallet", "todo"),
        ("Limits", "todo"),
        ("Funds", "todo"),
        ("API key", "todo"),
    ]
    assert [name for name, field in answer.context["form"].fields.items() if field.widget.attrs.get("autofocus")] == [
        "name"
    ]


def test_what_the_owner_unticks_stays_unticked(owner_client: Client, settings: Any) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = "trader,vault"
    lp = ToolProfile.objects.get(name="lp")
    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    answer = owner_client.post(
        ADD,
        {
            "name": "Mine",
            "archetype": Archetype.objects.get(name="trade-executor").pk,
            "profiles": [lp.pk],
            "home_chain_id": "31337",
            "base_asset": "USDC",
        },
    )
    wiring.configure_networks({})
    assert answer.status_code == 302, answer.context["form"].errors
    golem = Golem.objects.get(name="Mine")
    assert [profile.name for profile in golem.profiles.all()] == ["lp"]
    assert golem.address == ""  # the next page asks for it


def test_a_profile_of_the_environment_that_does_not_exist_is_a_warning_and_not_a_failure(
    owner_client: Client, settings: Any
) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = "trdaer"
    answer = owner_client.get(ADD)
    assert answer.status_code == 200
    assert "no tool profile is called" in " ".join(str(message) for message in answer.context["messages"])


def open_wallet_page(client: Client, name: str = "g") -> tuple[Golem, str, Any]:
    owner = client.get(ADD).context["user"]
    golem = make_golem(owner=owner, name=name)
    url = reverse("admin:archetypes_app_golem_set_up_wallet", args=[golem.pk])
    return golem, url, client.get(url)


@pytest.mark.parametrize(
    ("word", "chosen"), [("", "create"), ("create", "create"), ("none", "none"), ("odd", "create")]
)
def test_the_wallet_page_begins_with_the_source_of_the_environment(
    owner_client: Client, settings: Any, word: str, chosen: str
) -> None:
    settings.GOLEM_WALLET_SOURCE = word
    _, _, page = open_wallet_page(owner_client)
    assert page.context["form"]["source"].value() == chosen
    assert "keystore file this server was set up with" not in page.content.decode()


def test_the_servers_keystore_file_is_a_source_and_serves_one_golem(
    owner_client: Client, settings: Any, tmp_path: Path
) -> None:
    account = Account.create()
    path = tmp_path / "key.json"
    path.write_text(json.dumps(account.encrypt("opens it", kdf="scrypt", iterations=2)))
    settings.GOLEM_WALLET_SOURCE = "import"
    settings.GOLEM_WALLET_KEYSTORE_FILE = str(path)
    settings.GOLEM_WALLET_PASSPHRASE = "opens it"
    golem, url, page = open_wallet_page(owner_client)
    assert page.context["form"]["source"].value() == "CONFIGURED"
    assert owner_client.post(url, {"source": "CONFIGURED"}).status_code == 302
    golem.refresh_from_db()
    assert golem.address == account.address
    second, url, _ = open_wallet_page(owner_client, "h")
    refused = owner_client.post(url, {"source": "CONFIGURED"})
    assert "serves another golem already" in refused.content.decode()
    assert "opens it" not in refused.content.decode()
