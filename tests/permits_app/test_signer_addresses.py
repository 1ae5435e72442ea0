"""Addresses that can be taken away: every account, cage and key, and nothing that opens one."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from permits_app import gas_relayer
from permits_app.approval_errors import RelayerRefuses
from permits_app.custody.signer_addresses import list_addresses, write_csv
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.models import SigningKey
from tests import factories
from tools_app.core import clock
from tools_app.core.csv_text import quote_cell, write_rows

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_every_key_a_golem_ever_had_is_exported_with_its_state() -> None:
    golem = factories.make_golem(owner=factories.make_owner(), name="Exported")
    wallet = factories.make_wallet(golem=golem)
    mirror = factories.make_cage_mirror(golem=golem)
    active = factories.make_signing_key(golem=golem)
    dropped = factories.make_signing_key(golem=golem, state="DROPPED", dropped_at=active.activated_at)
    rows = list_addresses([golem])
    assert [(row["role"], row["address"]) for row in rows] == [
        ("account", wallet.address),
        ("cage", mirror.contract),
        ("key", active.address),
        ("key", dropped.address),
    ]
    assert [row["state"] for row in rows][2:] == ["ACTIVE", "DROPPED"]
    assert rows[-1]["until"]


def test_the_command_writes_csv_and_json_of_one_golem_or_all() -> None:
    owner = factories.make_owner()
    golem, other = factories.make_golem(owner=owner, name="One"), factories.make_golem(owner=owner, name="Two")
    for each in (golem, other):
        factories.make_wallet(golem=each)
    assert {row["golem"] for row in csv.DictReader(io.StringIO(run("export_addresses")))} == {"One", "Two"}
    [only] = json.loads(run("export_addresses", "One", "--json"))
    assert only["golem_id"] == str(golem.pk)
    with pytest.raises(CommandError, match="no golem"):
        run("export_addresses", "Three")


def test_a_name_that_a_spreadsheet_would_run_stays_text() -> None:
    golem = factories.make_golem(owner=factories.make_owner(), name="=cmd()")
    factories.make_wallet(golem=golem)
    assert "'=cmd()" in write_csv(list_addresses([golem]))


def test_a_key_staged_on_the_command_line_is_made_once_and_never_shown() -> None:
    golem = factories.make_golem(owner=factories.make_owner(), name="Staged")
    address = run("stage_session_key", "Staged").strip()
    assert run("stage_session_key", str(golem.pk)).strip() == address
    key = SigningKey.objects.get(golem=golem)
    assert (key.address, key.state) == (address, "STAGED")
    assert open_keystore().read_key(address).reveal() not in run("export_addresses")
    with pytest.raises(CommandError, match="0 golems"):
        run("stage_session_key", "Nobody")


def test_a_key_that_a_golem_has_or_had_is_no_relayer(settings: Any) -> None:
    golem = factories.make_golem(owner=factories.make_owner(), name="Relayed")
    factories.make_signing_key(golem=golem)
    dropped = factories.make_signing_key(golem=golem, state="DROPPED", dropped_at=clock.now())
    settings.GOLEM_RELAYER_ADDRESS = dropped.address
    with pytest.raises(RelayerRefuses):
        gas_relayer.open_relayer()


@pytest.mark.parametrize(
    "cell",
    [
        "=1",
        "+1",
        "-1",
        "@a",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\uff1d1",
        "\uff0b1",
        "\uff0d1",
        "\uff20a",
        "\u200b=1",
        "\u3000=1",
    ],
)
def test_a_cell_that_a_spreadsheet_would_run_is_quoted(cell: str) -> None:
    assert quote_cell(cell) == f"'{cell}"
    [row] = csv.DictReader(io.StringIO("".join(write_rows(["a"], [{"a": cell}])), newline=""))
    assert row == {"a": f"'{cell}"}


def test_other_cells_stay_as_they_are() -> None:
    for cell in ("a=1", "5-3", "", "Atlas", -5, None):
        assert quote_cell(cell) == cell
