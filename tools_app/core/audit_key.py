"""The server's Ed25519 key for checkpoints of the audit log and for archives of memory.

It is derived from the keystore's passphrase: every machine that has the passphrase has the same one and none is stored.
A server that has a file of its own, as all had once, signs with that. Two machines that would sign with different keys
would each call the other's checkpoints forged, so one that is not of the server's key signs none and says so.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from django.conf import settings

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.models import AuditCheckpoint
from tools_app.core.taint import Secret

if TYPE_CHECKING:
    from Crypto.PublicKey import ECC

_INFO: Final = b"golem audit log v1"
_seed: bytes | None = None


class AuditKeyDiffers(
    GolemError,
    status=503,
    recovery=Recovery.ASK_OWNER,
    title="This machine has another key for the audit log than the server",
    cleared_by="an operator, who gives this machine the server's passphrase, or its file of the key",
):
    """What was signed so far was signed with another key. `data` has signed_with and would_sign_with, in hex."""


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    # Slow to load, and few processes sign.
    from Crypto.Hash import SHA256
    from Crypto.Protocol.KDF import HKDF

    global _seed
    _seed = cast("bytes", HKDF(passphrase.reveal().encode(), 32, b"", SHA256, context=_INFO))


def load() -> ECC.EccKey:
    """The key that this machine signs with."""
    from Crypto.PublicKey import ECC

    path = Path(settings.GOLEM_AUDIT_KEY_FILE)
    if path.exists():
        return ECC.import_key(path.read_text(encoding="utf-8"))
    if _seed is None:
        raise RuntimeError("tools_app.core.audit_key was not configured; golem_project.wiring does it at start-up")
    seed: Any = _seed  # Any: the stubs name text where the library takes bytes
    return ECC.construct(curve="Ed25519", seed=seed)


def name(key: ECC.EccKey) -> str:
    """Its public half, raw, in hex."""
    return str(key.public_key().export_key(format="raw").hex())


def find_other() -> tuple[str, datetime] | None:
    """The key that signed last and when, where it is not this machine's; None where it is, or nobody signed yet."""
    last = AuditCheckpoint.objects.order_by("-pk").values_list("public_key", "signed_at_ms").first()
    if last is None or last[0] == name(load()):
        return None
    return last[0], datetime.fromtimestamp(last[1] / 1000, tz=UTC)


def load_to_sign() -> ECC.EccKey:
    """The key, for a checkpoint. Raises AuditKeyDiffers."""
    key, other = load(), find_other()
    if other is not None:
        raise AuditKeyDiffers(
            "this machine would sign the audit log with another key than the one that signed it so far; give it the"
            " passphrase of the keystore that other machines have, or the file that GOLEM_AUDIT_KEY_FILE names there",
            signed_with=other[0],
            would_sign_with=name(key),
        )
    return key
