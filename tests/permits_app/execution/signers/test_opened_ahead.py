"""A key that signed lately is open before the first commit waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from permits_app.custody.signers import choose_signer, local
from permits_app.custody.signers.keystore import Keystore
from permits_app.custody.signers.local import LocalSigner
from permits_app.execution.key_warmup import open_recent_keys
from permits_app.models import OutboundTransaction
from tests import factories
from tools_app.core import clock
from tools_app.core.taint import Secret

CHEAP = 2
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


class CountingKeystore(Keystore):
    """One that counts how often each key is read, and can be told to take its time over one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=folder, passphrase=Secret("open sesame"), scrypt_n=CHEAP)
        self.read: list[str] = []
        self.before_reading: Callable[[str], None] = lambda _address: None

    def read_key(self, address: str) -> Secret:
        self.read.append(address)
        self.before_reading(address)
        return super().read_key(address)


@pytest.fixture
def keystore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountingKeystore:
    keystore = CountingKeystore(tmp_path)
    monkeypatch.setattr(choose_signer, "_keystore", keystore)
    monkeypatch.setattr(local, "_opened", {})
    return keystore


def make_signer(keystore: Keystore, *, signed_ago: timedelta | None, state: str = "ACTIVE") -> str:
    """The address of a golem's key that signed then, or never."""
    address = keystore.create()
    golem = factories.make_golem(owner=factories.make_owner(name=address), name=address)
    factories.make_signing_key(golem=golem, address=address, state=state)
    if signed_ago is not None:
        sent = factories.make_transaction(permit=factories.make_permit(golem=golem, signer=address))
        at = clock.now() - signed_ago
        OutboundTransaction.objects.filter(pk=sent.pk).update(created_at=at)
    return address


@pytest.mark.django_db
def test_active_keys_that_signed_within_a_day_are_opened_once_the_latest_first(keystore: CountingKeystore) -> None:
    earlier = make_signer(keystore, signed_ago=DAY - MINUTE)
    latest = make_signer(keystore, signed_ago=1 * MINUTE)
    make_signer(keystore, signed_ago=DAY + MINUTE)
    make_signer(keystore, signed_ago=None)
    make_signer(keystore, signed_ago=1 * MINUTE, state="DROPPED")
    assert open_recent_keys(clock.now()) == [latest, earlier]
    LocalSigner(keystore=keystore, address=latest).open()
    assert keystore.read == [latest, earlier]


@pytest.mark.django_db
def test_a_key_that_does_not_open_keeps_no_other_closed(keystore: CountingKeystore, tmp_path: Path) -> None:
    sound = make_signer(keystore, signed_ago=2 * MINUTE)
    broken = make_signer(keystore, signed_ago=1 * MINUTE)
    (tmp_path / f"{broken}.json").write_text("{}")
    assert open_recent_keys(clock.now()) == [sound]


@pytest.mark.django_db
def test_eight_keys_are_opened_at_most(keystore: CountingKeystore) -> None:
    for hours in range(9):
        make_signer(keystore, signed_ago=hours * 60 * MINUTE)
    assert len(open_recent_keys(clock.now())) == 8


def test_who_signs_with_another_key_does_not_wait_for_one_that_is_being_opened(keystore: CountingKeystore) -> None:
    slow, quick = keystore.create(), keystore.create()
    reading, go_on = threading.Event(), threading.Event()

    def wait(address: str) -> None:
        if address == slow:
            reading.set()
            assert go_on.wait(10)

    keystore.before_reading = wait
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(LocalSigner(keystore=keystore, address=slow).open) for _ in range(2)]
        assert reading.wait(10)
        LocalSigner(keystore=keystore, address=quick).open()
        go_on.set()
        for one in waiting:
            one.result(10)
    assert sorted(keystore.read) == sorted([slow, quick])
