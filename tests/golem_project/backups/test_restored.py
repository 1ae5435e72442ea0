"""A deployment that is lost and restored from an old backup goes on: nothing acts before its owner says so, nothing is
spent twice, no nonce is used twice, and whoever reads its events knows that they are others.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from archetypes_app.models import Golem
from golem_project.backups import manifest, restore_backup
from golem_project.backups.errors import BackupFailed, RestoreRefused
from golem_project.backups.make_backup import list_keys, make_backup
from golem_project.runtime import process_name
from golem_project.runtime.start_conditions import check_before_serving
from permits_app.actions import hold_restored
from permits_app.errors import SpendingLimitExceeded
from permits_app.halts.resume import resume_golem
from permits_app.limits.ledger import read_usage
from permits_app.models import ActionPermit, HaltRecord, SpendingLimits
from tests.live_golem import LiveGolem
from tools_app.core import clock, event_log
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.broker import open_client
from tools_app.core.errors import GolemError

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def lost(
    shared_golem: LiveGolem, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LiveGolem]:
    """A golem that traded once, was backed up, traded twice more, and whose database is gone then."""
    settings.REDIS_URL = settings.REDIS_URL.rpartition("/")[0] + "/7"
    # Servers of tests before live in this process; what they open again is not a server of the deployment.
    monkeypatch.setattr(process_name, "_name", "golem restore")
    shared_golem.commit(shared_golem.preview()["permit_id"])
    settings.GOLEM_CODING_DIR = str(tmp_path / "coding")
    workspace = tmp_path / "coding" / "golem"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "run.sh").write_text("echo hello\n")
    (workspace / "src" / "run.sh").chmod(0o755)
    (workspace / "run").symlink_to("src/run.sh")
    make_backup(folder=tmp_path / "backup", keys=tmp_path / "keys", now=clock.now())
    for amount in ("100000000", "110000000"):
        shared_golem.commit(shared_golem.preview(amount=amount)["permit_id"])
    wipe()
    shutil.rmtree(workspace.parent)
    yield shared_golem
    # Whatever a failing test left behind, the next one finds the tables of a migrated database.
    start_anew()
    if Golem._meta.db_table not in connection.introspection.table_names():
        wipe()
        call_command("migrate", verbosity=0)


def wipe() -> None:
    """What is left of a database server that was lost: another one, empty, to which nobody is connected."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
    start_anew()


def start_anew() -> None:
    """Sessions end with their processes, and what they prepared with them."""
    wrapper: Any = connection
    connections.close_all()
    wrapper.close_pool()


def restore(tmp_path: Path) -> restore_backup.Restored:
    restored = restore_backup.restore_backup(folder=tmp_path / "backup", keys=None, now=clock.now())
    start_anew()
    return restored


def test_a_lost_deployment_is_restored_from_an_old_backup_and_goes_on(lost: LiveGolem, tmp_path: Path) -> None:
    mined = lost.mined_nonce()
    open_client().rpush("simulation", "a task of the lost time")
    (held,) = restore(tmp_path).held

    # What was mined since is known by its number, counted at the worst, and its nonces are behind us.
    limits = SpendingLimits.objects.get(golem=lost.golem)
    (gap,) = held.gaps
    assert gap.first + gap.count == mined and gap.count >= 2
    assert held.counted_micro_usd == min(gap.count * limits.per_transaction_micro_usd, limits.per_day_micro_usd)
    usage = read_usage(golem_id=lost.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now())
    assert usage.day_micro_usd >= held.counted_micro_usd
    assert not open_client().exists("simulation")

    # What golems kept in files is back, with its rights and its links.
    script = tmp_path / "coding" / "golem" / "run"
    assert script.is_symlink() and script.read_text() == "echo hello\n"
    assert script.stat().st_mode & 0o777 == 0o755

    # Nothing acts, and the choice for a halt is not carried out on what is out of date.
    golem = Golem.objects.get(pk=lost.golem.pk)
    assert golem.is_halted and f"{gap.count} transactions of it are not known here" in golem.halt_reason
    assert HaltRecord.objects.get(golem=golem).completed_at is not None
    with pytest.raises(GolemError, match="(?i)halt"):
        lost.commit(lost.preview()["permit_id"])
    assert verify_stored_chain(golem.pk).broken is None
    check_before_serving()

    # Its owner has looked. A day that is used up by what nobody knows stays so; with room it goes on behind them.
    SpendingLimits.objects.filter(golem=golem).update(per_day_micro_usd=held.counted_micro_usd)
    resume_golem(golem=golem, reason="looked at", actor="owner:test", now=clock.now())
    lost.golem.refresh_from_db()
    with pytest.raises(SpendingLimitExceeded):
        lost.preview()
    SpendingLimits.objects.filter(golem=golem).update(per_day_micro_usd=held.counted_micro_usd + 2_000_000_000)
    done = lost.commit(lost.preview(amount="120000000")["permit_id"])
    assert done["status"] == "COMMITTED"
    assert lost.mined_nonce() > mined


def test_a_chain_that_does_not_answer_keeps_every_process_from_starting_until_it_was_compared(
    lost: LiveGolem, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from golem_project import wiring
    from tests.evm.world import CHAIN_ID

    wiring.configure_networks({CHAIN_ID: ("http://127.0.0.1:1",)})
    with pytest.raises(CommandError, match="restore --finish"):
        call_command("restore", str(tmp_path / "backup"))
    start_anew()
    assert Golem.objects.get(pk=lost.golem.pk).is_halted
    with pytest.raises(Exception, match="BOOT_RESTORE_UNFINISHED"):
        check_before_serving()
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    call_command("restore", "--finish")
    check_before_serving()
    counted = ActionPermit.objects.filter(golem=lost.golem, tool_name=hold_restored.TOOL)
    assert counted.count() == 1
    with pytest.raises(CommandError, match="no restore is unfinished"):
        call_command("restore", "--finish")
    assert counted.count() == 1


def test_readers_of_events_are_told_that_the_log_is_another(shared_golem: LiveGolem, tmp_path: Path) -> None:
    before = event_log.read_head()
    event_log.begin_new_log(log_id=uuid.uuid4())
    with pytest.raises(event_log.CursorUnknown):
        event_log.read_head().parse_cursor(before.cursor())


def test_a_database_that_is_in_use_is_not_restored_into(shared_golem: LiveGolem, tmp_path: Path) -> None:
    make_backup(folder=tmp_path / "backup", keys=None, now=clock.now())
    with pytest.raises(RestoreRefused, match="is not empty: .* tables. Fix: .*CREATE DATABASE"):
        restore_backup.restore_backup(folder=tmp_path / "backup", keys=None, now=clock.now())
    assert not Golem.objects.get(pk=shared_golem.golem.pk).is_halted


def test_a_backup_that_was_changed_is_refused_before_anything_is_touched(db: None, tmp_path: Path) -> None:
    make_backup(folder=tmp_path / "backup", keys=None, now=clock.now())
    with (tmp_path / "backup" / manifest.DATABASE).open("ab") as handle:
        handle.write(b"x")
    with pytest.raises(RestoreRefused, match="is not what was written"):
        restore_backup.restore_backup(folder=tmp_path / "backup", keys=None, now=clock.now())


def test_keys_lie_apart_and_no_key_is_in_the_backup(db: None, tmp_path: Path, settings: Any) -> None:
    settings.GOLEM_KEYSTORE_DIR = tmp_path / "keystore"
    settings.GOLEM_KEYSTORE_DIR.mkdir()
    (settings.GOLEM_KEYSTORE_DIR / "one.json").write_text(json.dumps({"crypto": "sealed"}))
    make_backup(folder=tmp_path / "backup", keys=tmp_path / "keys", now=clock.now())
    with tarfile.open(tmp_path / "keys" / manifest.KEYS) as tar:
        assert "keystore/one.json" in tar.getnames()
    with tarfile.open(tmp_path / "backup" / manifest.ARCHIVES) as tar:
        assert not {path.name for path in list_keys()} & {name.partition("/")[0] for name in tar.getnames()}
    for folder in (tmp_path / "backup", tmp_path / "keys"):
        assert folder.stat().st_mode & 0o077 == 0
        assert [path for path in folder.iterdir() if path.stat().st_mode & 0o077] == []
    for place in (tmp_path / "backup", tmp_path / "backup" / "within"):
        with pytest.raises(BackupFailed, match="opens? everything|open everything"):
            make_backup(folder=tmp_path / "backup", keys=place, now=clock.now())


def test_a_backup_is_never_written_over_another(db: None, tmp_path: Path) -> None:
    make_backup(folder=tmp_path / "backup", keys=None, now=clock.now())
    with pytest.raises(CommandError, match="BACKUP_FAILED: .* is not empty"):
        call_command("backup", str(tmp_path / "backup"))


def test_a_key_of_this_server_is_never_written_over_by_another(db: None, tmp_path: Path, settings: Any) -> None:
    settings.GOLEM_AUDIT_KEY_FILE = str(tmp_path / "audit_key.pem")
    Path(settings.GOLEM_AUDIT_KEY_FILE).write_text("one")
    make_backup(folder=tmp_path / "backup", keys=tmp_path / "keys", now=clock.now())
    Path(settings.GOLEM_AUDIT_KEY_FILE).write_text("another")
    with pytest.raises(RestoreRefused, match="audit_key.pem is there already and differs"):
        restore_backup.restore_backup(folder=tmp_path / "backup", keys=tmp_path / "keys", now=clock.now())
    assert Path(settings.GOLEM_AUDIT_KEY_FILE).read_text() == "another"


@pytest.mark.parametrize(
    ("name", "leads_to", "is_refused"),
    [
        ("coding/../../x", "", True),
        ("coding/a/..", "", True),
        ("coding/way", "/etc", False),
        ("coding/way", "../x", False),
    ],
)
def test_nothing_is_unpacked_that_leads_out_of_its_folder(
    tmp_path: Path, name: str, leads_to: str, is_refused: bool
) -> None:
    packed, inner = tmp_path / "archives.tar", tmp_path / "inner"
    inner.mkdir()
    with tarfile.open(packed, "w") as tar:
        member = tarfile.TarInfo(name)
        if leads_to:
            member.type, member.linkname = tarfile.SYMTYPE, leads_to
        tar.addfile(member, io.BytesIO(b""))
    with pytest.raises(RestoreRefused, match="leads out of") if is_refused else nullcontext():
        restore_backup._unpack(packed, [inner / "coding"])
    assert sorted(tmp_path.iterdir()) == [packed, inner] and not list(inner.glob("coding/*"))
