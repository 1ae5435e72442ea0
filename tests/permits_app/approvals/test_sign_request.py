"""`manage.py sign_request`: checks the file itself, shows what is signed, asks, and prints what the page accepts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from eth_account import Account

from permits_app.actions.execute_change import execute_change
from permits_app.approvals.request_digest import export_request
from permits_app.models import ChangeRequest
from permits_app.policy_cage.contract import Limit
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tools_app.core import clock


@pytest.fixture
def asked(two_owners: tuple[LiveGolem, Any, Any], settings: Any) -> tuple[OwnedSafe, Any, ChangeRequest]:
    live, owner, _ = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    return safe, owner, ask(safe, owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))


@pytest.fixture
def exported(asked: tuple[OwnedSafe, Any, ChangeRequest], tmp_path: Path) -> Path:
    path = tmp_path / "change.json"
    path.write_text(json.dumps(export_request(asked[2])))
    return path


@pytest.fixture
def key_file(asked: tuple[OwnedSafe, Any, ChangeRequest], tmp_path: Path) -> Path:
    path = tmp_path / "owner.key"
    path.write_text("0x" + bytes(asked[0].owners[0].key).hex())
    return path


def run_command(*arguments: Any, **options: Any) -> str:
    out = io.StringIO()
    call_command("sign_request", *arguments, stdout=out, **options)
    return out.getvalue()


def test_what_it_prints_is_accepted_by_the_page_and_reaches_the_contract(
    asked: tuple[OwnedSafe, Any, ChangeRequest], exported: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe, owner, request = asked
    wanted = owner_transaction(request).safe_tx_hash
    questions: list[str] = []

    def answer(question: str) -> str:
        questions.append(question)
        return wanted

    monkeypatch.setattr("builtins.input", answer)
    out = run_command(str(exported), key_file=key_file)
    assert wanted in questions[0]
    for shown in ("Drawdown at most: 13.00% -> 9.00%", f"Safe: {safe.address}", "Nonce of the Safe: 1", "propose on"):
        assert shown in out
    assert bytes(safe.owners[0].key).hex() not in out
    approve(request, owner, signature=out.splitlines()[-1], code="")
    execute_change(request_id=request.pk, now=clock.now())
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900


def test_a_keystore_file_signs_the_same_bytes(
    asked: tuple[OwnedSafe, Any, ChangeRequest], exported: Path, key_file: Path, tmp_path: Path
) -> None:
    safe, _, request = asked
    keystore, passphrase = tmp_path / "keystore.json", tmp_path / "passphrase"
    keystore.write_text(json.dumps(Account.encrypt(safe.owners[0].key, "a passphrase", iterations=2)))
    passphrase.write_text("a passphrase\n")
    wanted = owner_transaction(request).safe_tx_hash
    one = run_command(str(exported), keystore=keystore, passphrase_file=passphrase, confirm=wanted)
    assert one.splitlines()[-1] == run_command(str(exported), key_file=key_file, confirm=wanted).splitlines()[-1]
    passphrase.write_text("another")
    with pytest.raises(CommandError, match="does not open"):
        run_command(str(exported), keystore=keystore, passphrase_file=passphrase, confirm=wanted)


def test_a_forged_file_is_not_signed(exported: Path, key_file: Path) -> None:
    document = json.loads(exported.read_text())
    fields = document["binding"]["change"]["safe_tx"]
    fields["to"] = "0x" + "11" * 20
    exported.write_text(json.dumps(document))
    with pytest.raises(CommandError, match="do not sign it"):
        run_command(str(exported), key_file=key_file, confirm=fields["safe_tx_hash"])


def test_without_confirmation_nothing_is_signed(
    exported: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "yes")
    with pytest.raises(CommandError, match="nothing was signed"):
        run_command(str(exported), key_file=key_file)
