"""An exported request is checked without database or node, and a forged one is caught."""

from __future__ import annotations

import copy
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.models import ChangeRequest
from tests import factories
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(two_owners: tuple[LiveGolem, Any, Any], critical_swap: None) -> dict[str, Any]:
    permit = two_owners[0].preview()
    request = ChangeRequest.objects.select_related("permit").get(permit_id=permit["permit_id"])
    exported: dict[str, Any] = json.loads(json.dumps(export_request(request)))
    return exported


def _failed(document: dict[str, Any]) -> set[str]:
    return {finding.what for finding in verify_export(document) if not finding.holds}


def test_an_exported_request_holds(document: dict[str, Any]) -> None:
    findings = verify_export(document)
    assert len(findings) >= 4
    assert all(finding.holds for finding in findings)


def test_a_forged_file_is_caught_wherever_it_was_touched(document: dict[str, Any]) -> None:
    shown, signed, allowance = copy.deepcopy(document), copy.deepcopy(document), copy.deepcopy(document)
    shown["binding"]["shown"]["value_at_stake"] = "$1.00"
    signed["plan"]["calls"][1]["to"] = "0x" + "66" * 20
    allowance["plan"]["bounds"]["allowances"][0]["left"] = "500000000"
    assert _failed(shown) == {"the digest covers what is shown"}
    assert "the plan hash covers the calls that are signed" in _failed(signed)
    assert "the calls shown are those of the plan" in _failed(signed)
    assert "the amounts and allowances shown are those of the plan" in _failed(allowance)


def test_the_command_checks_a_file_and_shows_what_would_be_signed(document: dict[str, Any], tmp_path: Path) -> None:
    path, out = tmp_path / "change.json", StringIO()
    path.write_text(json.dumps(document))
    call_command("verify_request", file=path, stdout=out)
    assert "multicall on Uniswap V3 swap router 02" in out.getvalue()
    assert "leaves at most 500 USDC" in out.getvalue()
    document["binding"]["reason"] = "another"
    path.write_text(json.dumps(document))
    with pytest.raises(CommandError, match="do not approve it"):
        call_command("verify_request", file=path, stdout=StringIO())


def test_the_command_checks_an_owner_s_operation_by_its_id() -> None:
    owner = factories.make_owner()
    request = factories.make_change_request(golem=factories.make_golem(owner=owner))
    out = StringIO()
    call_command("verify_request", str(request.pk), stdout=out)
    assert "Phase: thriving -> cautious" in out.getvalue()
    assert out.getvalue().count("holds") == 2


def test_the_command_refuses_what_is_no_request(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    for arguments in ({"file": path}, {"file": tmp_path / "missing.json"}, {}):
        with pytest.raises(CommandError):
            call_command("verify_request", stdout=StringIO(), **arguments)
