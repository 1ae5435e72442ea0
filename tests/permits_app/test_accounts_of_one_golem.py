"""An account or key that another golem has or had is taken by none, whatever it is taken as; each choice is audited."""

from __future__ import annotations

import pytest
from eth_account import Account

from archetypes_app.models import Golem
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.errors import WalletExists
from permits_app.models import SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from tests import factories
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db
ACTED_WITH, KEY, SMART_ACCOUNT = (Account.create().address for _ in range(3))
"""Of the other golem: its account now, a key of it, and the smart account that this key owns and it left."""


def new_address() -> str:
    return str(Account.create().address)


def choose(golem: Golem, *, address: str, key: str, kind: WalletKind = WalletKind.ZERODEV) -> Wallet:
    choice = WalletChoice(kind=kind, address=address, key=key)
    return choose_wallet(golem=golem, choice=choice, actor="user:7", reason="a test", now=clock.now())


@pytest.fixture
def golem(db: None) -> Golem:
    """One of two golems of one owner; the other one has an account, and had a smart account before."""
    owner = factories.make_owner()
    other = factories.make_golem(owner=owner, name="Other")
    factories.make_wallet(golem=other, address=ACTED_WITH)
    SigningKey.objects.update_or_create(
        address=KEY, defaults={"golem": other, "account": SMART_ACCOUNT, "state": KeyState.DROPPED}
    )
    return factories.make_golem(owner=owner, name="Mine")


@pytest.mark.parametrize("kind", [WalletKind.ZERODEV, WalletKind.LOCAL_KEYSTORE, WalletKind.GNOSIS_SAFE])
@pytest.mark.parametrize(
    ("address", "key"),
    [(ACTED_WITH, ""), (KEY, ""), (SMART_ACCOUNT, ""), ("", KEY)],
    ids=["its-account", "its-key-as-account", "the-smart-account-it-left", "its-key"],
)
def test_what_another_golem_has_or_had_is_not_taken(golem: Golem, kind: WalletKind, address: str, key: str) -> None:
    with pytest.raises(WalletExists):
        choose(golem, address=address or new_address(), key=key or new_address(), kind=kind)
    assert not Wallet.objects.filter(golem=golem).exists()
    assert not AuditEntry.objects.filter(golem_id=golem.pk, event="WalletChosen").exists()


def test_each_choice_is_audited_with_who_why_and_from_where_to_where(golem: Golem) -> None:
    first, second, key = new_address(), new_address(), new_address()
    choose(golem, address=first, key=key)
    choose(golem, address=second, key=second, kind=WalletKind.LOCAL_KEYSTORE)
    told = AuditEntry.objects.filter(golem_id=golem.pk, event="WalletChosen").order_by("pk")
    assert [(entry.actor, entry.data) for entry in told] == [
        ("user:7", {"from": None, "to": {"kind": "ZERODEV", "address": first, "key": key}, "reason": "a test"}),
        (
            "user:7",
            {
                "from": {"kind": "ZERODEV", "address": first},
                "to": {"kind": "LOCAL_KEYSTORE", "address": second, "key": second},
                "reason": "a test",
            },
        ),
    ]
