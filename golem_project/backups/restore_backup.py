"""Restores a backup into an empty database, and holds every golem before any process may start on it.

What happened between the backup and its restore is on the chain and not in the rows: limits would be open again, and
nonces and orders of that time are nobody's. So nothing acts until somebody has looked.
"""

from __future__ import annotations

import logging
import os
import shutil
import tarfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import redis
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection

from golem_project.backups import manifest, postgres_programs
from golem_project.backups.errors import BackupFailed, RestoreRefused
from golem_project.backups.make_backup import list_archives, list_keys
from golem_project.runtime.start_conditions import UNFINISHED_RESTORE
from permits_app.actions.hold_restored import HeldGolem, hold_restored
from tools_app.core import broker
from tools_app.core.event_log import begin_new_log

logger = logging.getLogger(__name__)

_ALONE: Final = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'golem w%'
"""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and what each golem's accounts say of the time since."""

    made_at: datetime
    version: str
    held: tuple[HeldGolem, ...]


def restore_backup(*, folder: Path, keys: Path | None, now: datetime) -> Restored:
    """Restore `folder`, and the keys from `keys` where they are given. Raises RestoreRefused, BackupFailed.

    What it needs is looked at before anything is changed. Interrupted behind that, no process starts on the database
    until `finish_restore` came to its end.
    """
    made = manifest.read(folder)
    postgres_programs.refuse_shared_sessions()
    if keys is not None:
        manifest.read(keys)
        _refuse_other_files(keys / manifest.KEYS, list_keys())
    _refuse_other_files(folder / manifest.ARCHIVES, list_archives())
    _refuse_used_database()
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {UNFINISHED_RESTORE} (made_at timestamptz NOT NULL)")
        cursor.execute(f"INSERT INTO {UNFINISHED_RESTORE} VALUES (%s)", [made.made])  # noqa: S608  (our own name)
    try:
        postgres_programs.restore_dump(folder / manifest.DATABASE)
    except BackupFailed:
        # It is one transaction: nothing of it is there.
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {UNFINISHED_RESTORE}")
        raise
    if keys is not None:
        _unpack(keys / manifest.KEYS, list_keys())
    _unpack(folder / manifest.ARCHIVES, list_archives())
    call_command("migrate", verbosity=0, interactive=False)
    return Restored(made.made, made.version, finish_restore(now=now))


def finish_restore(*, now: datetime) -> tuple[HeldGolem, ...]:
    """Hold all golems and compare their accounts with the chain; safe to repeat. Raises RestoreRefused."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [UNFINISHED_RESTORE])
        if cursor.fetchone() == (None,):
            raise RestoreRefused("no restore is unfinished here")
        cursor.execute(f"SELECT made_at FROM {UNFINISHED_RESTORE}")  # noqa: S608  (our own name)
        (made_at,) = cursor.fetchone()
    _forget_what_was_meant_for_the_lost_time()
    held = hold_restored(made_at=made_at, now=now)
    if all(each.is_compared for each in held):
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {UNFINISHED_RESTORE}")
    return held


def _forget_what_was_meant_for_the_lost_time() -> None:
    # Readers of events hold places in the log that went on without these rows: to them it is another log.
    begin_new_log(log_id=uuid.uuid4())
    Session.objects.all().delete()
    client = broker.open_client(silence_seconds=3, connect_seconds=3)
    try:
        # Queues, caches and rings of the time that is gone.
        client.flushdb()
    except redis.RedisError:
        raise RestoreRefused("the broker does not answer; what waits there is of the lost time and must go") from None
    finally:
        client.close()


def _refuse_used_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        (tables,) = cursor.fetchone()
        cursor.execute(_ALONE)
        (others,) = cursor.fetchone()
    if tables:
        raise RestoreRefused(
            f"the database {connection.settings_dict['NAME']} is not empty: {tables} tables. Fix: as a superuser "
            "rename or drop it, then CREATE DATABASE with this role as its owner, and in it CREATE EXTENSION vector"
        )
    if others:
        raise RestoreRefused(f"{others} processes of the product are connected to this database; stop them first")


def _refuse_other_files(packed: Path, places: Sequence[Path]) -> None:
    """What is packed is either not there, or there as it is: a file of ours is never written over."""
    by_name = {place.name: place for place in places}
    with tarfile.open(packed) as tar:
        for member in tar.getmembers():
            top, _, rest = member.name.partition("/")
            if top not in by_name:
                raise RestoreRefused(f"{packed} holds {member.name}, which belongs nowhere here")
            target = by_name[top] / rest if rest else by_name[top]
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None and target.exists() and target.read_bytes() != content.read():
                raise RestoreRefused(f"{target} is there already and differs; move it away first")


def _unpack(packed: Path, places: Sequence[Path]) -> None:
    """Files, folders and links. Raises RestoreRefused for a name that leads out of its folder; a link that does is left
    out and logged, as that of a virtual environment to its interpreter.

    Python 3.11.4 has a filter for this, and 3.11.2 is what Debian 12 runs.
    """
    by_name = {place.name: place for place in places}
    with tarfile.open(packed) as tar:
        for member in tar.getmembers():
            top, _, rest = member.name.partition("/")
            folder = by_name[top]
            target = folder / rest if rest else folder
            if ".." in Path(rest).parts or not target.parent.resolve().is_relative_to(folder.parent.resolve()):
                raise RestoreRefused(f"{packed} holds {member.name}, which leads out of {folder}")
            _write(tar, member, target, folder)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, folder: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if member.isdir():
        target.mkdir(mode=member.mode & 0o755 | 0o700, exist_ok=True)
    elif member.issym():
        if not Path(os.path.normpath(target.parent / member.linkname)).is_relative_to(os.path.normpath(folder)):
            logger.warning("%s leads out of %s and was left out", member.name, folder)
            return
        target.unlink(missing_ok=True)
        target.symlink_to(member.linkname)
    elif (content := tar.extractfile(member)) is not None:
        # What stands there is as it was packed; a link is not written through.
        if not target.is_symlink():
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, member.mode & 0o755 | 0o600)
            with os.fdopen(descriptor, "wb") as handle:
                shutil.copyfileobj(content, handle)
