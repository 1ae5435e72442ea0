"""The disk of our own files is really full: refused with a code, nothing is half written, and it goes on by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from permits_app.actions.sweep import list_unfinished
from permits_app.custody.signers import choose
from permits_app.custody.signers.keystore import Keystore
from permits_app.models import ActionPermit, OutboundTransaction, SigningKey
from permits_app.models.signing_key import KeyState
from permits_app.tasks import commit_permit_task
from tests.full_disk import SmallDisk, small_disk
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tools_app.core import clock


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    """The keystore lies on it."""
    with small_disk() as found:
        shutil.copytree(settings.GOLEM_KEYSTORE_DIR, found.folder, dirs_exist_ok=True)
        kept: Any = choose.open_keystore()
        keystore = Keystore(folder=found.folder, passphrase=kept._passphrase, scrypt_n=kept._scrypt_n)
        with monkeypatch.context() as patched:
            patched.setattr(choose, "_keystore", keystore)
            yield found


def list_files(disk: SmallDisk) -> set[str]:
    return {each.name for each in disk.folder.iterdir()} - {"filler"}


@pytest.mark.usefixtures("tasks_here")
def test_a_first_signature_that_the_keystore_has_no_room_to_note_is_not_made_and_the_commit_goes_on_by_itself(
    live_golem: LiveGolem, disk: SmallDisk
) -> None:
    for each in disk.folder.glob("*.chains"):
        each.unlink()
    permit_id = live_golem.preview()["permit_id"]
    files = list_files(disk)
    disk.fill()
    answer = Agent(golem=live_golem.golem, key=live_golem.key, client=Client()).post(
        "commit_action", {"permit_id": permit_id}
    )
    assert (answer.status_code, answer.json()["code"]) == (503, "STORAGE_FULL"), answer.json()
    assert not OutboundTransaction.objects.exists() and list_files(disk) == files
    disk.free()
    past = clock.now() - timedelta(minutes=1)
    ActionPermit.objects.filter(pk=permit_id).update(lease_expires_at=past, committing_at=past, updated_at=past)
    for left in list_unfinished(now=clock.now()):
        commit_permit_task(permit_id=str(left))
    assert live_golem.permit(permit_id).status == "COMMITTED"
    assert live_golem.mined_nonce() == OutboundTransaction.objects.count() == 2


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
    assert choose.open_keystore().holds(staged.get().address)
