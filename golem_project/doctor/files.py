"""Looks at files of this machine: keys that are there and closed to others, room on the disk, how old a backup is."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings

from golem_project.backups import manifest
from golem_project.backups.errors import RestoreRefused
from golem_project.backups.make_backup import list_keys
from golem_project.doctor.findings import Finding, bad, doubtful, good
from golem_project.settings.environment import VAR_DIR
from golem_project.status import LEAST_FREE_BYTES
from permits_app.models import Wallet
from permits_app.models.wallet import WalletKind
from tools_app.core import audit_key

OLD_BACKUP: Final = timedelta(hours=25)
"""Made once a day, with an hour to make it."""


def examine_files(*, now: datetime, backups: str | None) -> Iterator[Finding]:
    """Raises DatabaseError where the wallets cannot be read."""
    yield _look_at_rights()
    yield _look_at_keystore()
    yield _look_at_audit_key()
    free = shutil.disk_usage(VAR_DIR).free
    if free < LEAST_FREE_BYTES:
        yield bad("disk", f"{free // 1024**2} MiB free", "make room")
    else:
        yield good("disk", f"{free // 1024**2} MiB free")
    yield (
        _look_at_backups(Path(backups), now)
        if backups
        else doubtful(
            "backups", "no folder was named", "run `manage.py backup` every day, and name its folder by --backups"
        )
    )


def _look_at_rights() -> Finding:
    opened = [path for path in list_keys() if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    if opened:
        return bad("keys", f"others may read {', '.join(map(str, opened))}", "chmod go= each of them")
    return good("keys", "closed to others")


def _look_at_keystore() -> Finding:
    folder = Path(settings.GOLEM_KEYSTORE_DIR)
    here = {path.stem.lower().removeprefix("0x") for path in folder.glob("*.json")} if folder.is_dir() else set()
    wanted = {
        address.lower().removeprefix("0x")
        for address in Wallet.objects.filter(kind=WalletKind.LOCAL_KEYSTORE).values_list("address", flat=True)
    }
    missing = wanted - here
    if missing:
        return bad(
            "wallets",
            f"{len(missing)} of {len(wanted)} keys are not in the keystore of this machine: commits here are refused",
            "restore the keystore, or let no worker of the queue commit run here",
        )
    return good("wallets", f"{len(wanted)} keys of this server are here")


def _look_at_audit_key() -> Finding:
    other = audit_key.find_other()
    if other is not None:
        return bad(
            "audit key",
            f"this machine has another key for the audit log than the one of {other[1]:%Y-%m-%d}: it signs nothing",
            "give it the keystore's passphrase, or the file of GOLEM_AUDIT_KEY_FILE, of a machine that signs",
        )
    return good("audit key", f"{audit_key.name(audit_key.load())[:16]}…, as what was signed so far")


def _look_at_backups(folder: Path, now: datetime) -> Finding:
    newest = max((made for made in map(_read_time, folder.glob("*/" + manifest.NAME)) if made), default=None)
    if newest is None:
        return bad("backups", f"none that is whole in {folder}", "make one: `manage.py backup`")
    if now - newest > OLD_BACKUP:
        return bad("backups", f"the newest is of {newest.isoformat()}", "see why the last one was not made")
    return good("backups", f"the newest is of {newest.isoformat()}")


def _read_time(path: Path) -> datetime | None:
    try:
        return manifest.read(path.parent).made
    except RestoreRefused:
        return None
