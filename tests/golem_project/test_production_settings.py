"""Production settings pass Django's own check of a deployment: cookies, redirects and headers are as they must be."""

from __future__ import annotations

import re
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from golem_project import wiring
from tests.golem_project.test_pooler import run_by_hand

PRODUCTION = {"DJANGO_SETTINGS_MODULE": "golem_project.settings.production"}


def test_djangos_check_of_a_deployment_warns_of_nothing_but_other_hosts_of_the_same_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(secrets.token_urlsafe(64))
    words = ["check", "--deploy", "--fail-level", "WARNING", "--tag", "security"]
    done = run_by_hand(words, **PRODUCTION, GOLEM_SECRET_KEY_FILE=str(secret), GOLEM_ALLOWED_HOSTS="golem.example")
    # Whether other hosts under the same name speak TLS alone is their owner's to say.
    assert set(re.findall(r"security\.W\d+", done.stdout + done.stderr)) == {"security.W005", "security.W021"}


def test_a_secret_that_is_missing_is_said_in_one_line_with_where_it_lies_after_a_loss(tmp_path: Path) -> None:
    done = run_by_hand(["doctor"], **PRODUCTION, GOLEM_SECRET_KEY_FILE=str(tmp_path / "secret_key"))
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0 and line.startswith("manage.py: GOLEM_SECRET_KEY_FILE names ")
    assert "which is not a file. Fix: " in line and "keys.tar" in line


def test_a_passphrase_that_is_named_and_missing_is_never_made_anew(tmp_path: Path) -> None:
    named, secret = tmp_path / "keystore_passphrase", tmp_path / "secret"
    secret.write_text(secrets.token_urlsafe(64))
    secrets_of_it = {"GOLEM_SECRET_KEY_FILE": str(secret), "GOLEM_KEYSTORE_PASSPHRASE_FILE": str(named)}
    done = run_by_hand(["doctor"], **PRODUCTION, **secrets_of_it)
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0 and line.startswith("manage.py: GOLEM_KEYSTORE_PASSPHRASE_FILE names ")
    assert "Fix: " in line and "keys.tar" in line and not named.exists()


@pytest.fixture
def kept(tmp_path: Path, settings: Any) -> Path:
    """The file of the passphrase, which is not there yet, beside an empty keystore."""
    settings.GOLEM_KEYSTORE_PASSPHRASE = ""
    settings.GOLEM_KEYSTORE_DIR = tmp_path / "keystore"
    settings.GOLEM_KEYSTORE_PASSPHRASE_FILE = str(tmp_path / "passphrase")
    return tmp_path / "passphrase"


def test_a_first_start_makes_a_passphrase_for_its_user_alone_and_keeps_it(kept: Path) -> None:
    made = wiring._read_passphrase().reveal()
    assert len(made) == 48 and kept.read_text() == made and kept.stat().st_mode & 0o777 == 0o600
    assert wiring._read_passphrase().reveal() == made and list(kept.parent.iterdir()) == [kept]


def test_processes_that_start_at_once_agree_on_one_passphrase(kept: Path) -> None:
    begins = threading.Barrier(8)

    def read() -> str:
        begins.wait()
        return wiring._read_passphrase().reveal()

    with ThreadPoolExecutor(8) as pool:
        told = {each.result() for each in [pool.submit(read) for _ in range(8)]}
    assert told == {kept.read_text()}


def test_a_passphrase_is_not_made_anew_beside_keys_that_the_lost_one_opens(kept: Path) -> None:
    folder = kept.parent / "keystore"
    folder.mkdir()
    (folder / "0xAA.json").write_text("{}")
    with pytest.raises(ImproperlyConfigured, match="1 keys in .* open with its passphrase alone. Fix: .*keys.tar"):
        wiring._read_passphrase()
    assert not kept.exists()


def test_an_empty_passphrase_is_refused(kept: Path) -> None:
    kept.write_text("\n")
    with pytest.raises(ImproperlyConfigured, match="is empty. Fix: "):
        wiring._read_passphrase()
