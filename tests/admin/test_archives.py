"""An owner writes an archive of a golem's memory in the browser and downloads it; nobody else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memory_app.archive_file import check_archive
from tests import factories
from tests.memory_app.factories import remember

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folders(settings: Any, tmp_path: Path) -> None:
    settings.GOLEM_GRIMOIRE_DIR = tmp_path / "grimoire"
    settings.GOLEM_AUDIT_KEY_FILE = tmp_path / "audit.pem"


def _log_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_an_archive_is_written_and_downloaded_by_its_owner_alone(tmp_path: Path) -> None:
    ana, ben = factories.make_owner(name="ana"), factories.make_owner(name="ben")
    golem, other = factories.make_golem(owner=ana), factories.make_golem(owner=ben)
    remember(golem, "Swapped 500 USDC for WETH")
    browser = _log_in(ana)
    write = reverse("admin:memory_app_episode_write", args=[golem.pk])
    assert browser.get(write).status_code == 405
    assert _log_in(ben).post(write).status_code == 404
    shown = browser.post(write, follow=True).content.decode()
    (archive,) = (tmp_path / "grimoire" / str(golem.pk)).iterdir()
    url = reverse("admin:memory_app_episode_archive", args=[golem.pk, archive.name])
    assert f'href="{url}"' in shown
    answer = browser.get(url)
    taken = tmp_path / archive.name
    taken.write_bytes(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    assert check_archive(taken).rows == 1
    assert answer["Content-Disposition"] == f'attachment; filename="{archive.name}"'
    assert _log_in(ben).get(url).status_code == 404
    elsewhere = reverse("admin:memory_app_episode_archive", args=[other.pk, archive.name])
    assert _log_in(ben).get(elsewhere).status_code == 404
    assert browser.get(reverse("admin:memory_app_episode_archive", args=[golem.pk, "audit.pem"])).status_code == 404
