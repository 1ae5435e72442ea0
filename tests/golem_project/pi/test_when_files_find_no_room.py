"""The disk of our own files is really full: refused with a code, nothing is half written, and it goes on by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from permits_app.custody.signers import choose_signer
from permits_app.custody.signers.keystore import Keystore
from permits_app.models import SigningKey
from permits_app.models.signing_key import KeyState
from tests.full_disk import SmallDisk, small_disk
from tests.live_golem import LiveGolem


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, live_golem: LiveGolem) -> Iterator[SmallDisk]:
    """The keystore lies on it, with the golem's own key alone: other tests may have left more than it has room for."""
    with small_disk() as found:
        for file in Path(settings.GOLEM_KEYSTORE_DIR).glob(f"{live_golem.golem.address}*"):
            shutil.copy(file, found.folder)
        kept: Any = choose_signer.open_keystore()
        keystore = Keystore(folder=found.folder, passphrase=kept._passphrase, scrypt_n=kept._scrypt_n)
        with monkeypatch.context() as patched:
            patched.setattr(choose_signer, "_keystore", keystore)
            yield found


def list_files(disk: SmallDisk) -> set[str]:
    return {each.name for each in disk.folder.iterdir()} - {"filler"}


def test_a_key_that_the_keystore_has_no_room_for_is_refused_on_its_page_and_made_once_there_is(
    live_golem: LiveGolem, disk: SmallDisk
) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(live_golem.owner)
    address, asked = reverse("cage_set_up", args=[live_golem.golem.pk]), {"do": "key"}
    files = list_files(disk)
    disk.fill()
    answer = browser.post(address, asked)
    text = answer.content.decode()
    assert answer.status_code == 503 and "STORAGE_FULL" in text and "makes room" in text
    assert list_files(disk) == files
    staged = SigningKey.objects.filter(golem=live_golem.golem, state=KeyState.STAGED)
    assert not staged.exists()
    disk.free()
    assert browser.post(address, asked).status_code == 302
    assert choose_signer.open_keystore().holds(staged.get().address)
