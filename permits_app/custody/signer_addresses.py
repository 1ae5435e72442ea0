"""Lists every account and key a golem ever acted with, by address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from archetypes_app.models import Golem
from permits_app.models import CageMirror, SigningKey, Wallet
from permits_app.models.wallet import WalletKind
from tools_app.core.csv_text import write_rows

COLUMNS: Final = ("golem", "golem_id", "role", "address", "kind", "state", "chain_id", "since", "until")


def list_addresses(golems: Iterable[Golem]) -> list[dict[str, str]]:
    """One row per account, cage and key, oldest first within a golem; times in RFC 3339.

    A smart account stays listed with the key that owns it, also when the golem acts with another account by now.
    """
    rows: list[dict[str, str]] = []
    for golem in golems:
        common = {"golem": golem.name, "golem_id": str(golem.pk)}
        wallet = Wallet.objects.filter(golem=golem).first()
        if wallet is not None:
            rows.append(_row(common, "account", wallet.address, wallet.kind, "ACTIVE", golem.home_chain_id))
        mirror = CageMirror.objects.filter(cage__golem=golem).first()
        if mirror is not None:
            state = "ENFORCED" if mirror.is_enforced else "NOT_ENFORCED"
            rows.append(_row(common, "cage", mirror.contract, "POLICY_CAGE", state, mirror.chain_id))
        for key in SigningKey.objects.filter(golem=golem).order_by("created_at"):
            row = _row(common, "key", key.address, key.holder, key.state, golem.home_chain_id)
            row["since"] = key.created_at.isoformat()
            row["until"] = key.dropped_at.isoformat() if key.dropped_at is not None else ""
            rows.append(row)
            if key.account and (wallet is None or key.account != wallet.address):
                rows.append({**row, "role": "account", "address": key.account, "kind": WalletKind.ZERODEV.value})
    return rows


def write_csv(rows: Sequence[dict[str, str]]) -> str:
    """The rows as CSV with a header. A golem's name that a spreadsheet would run is quoted as text."""
    return "".join(write_rows(COLUMNS, rows))


def _row(common: dict[str, str], role: str, address: str, kind: str, state: str, chain_id: int) -> dict[str, str]:
    facts = {"role": role, "address": address, "kind": kind, "state": state, "chain_id": str(chain_id)}
    return {**common, **facts, "since": "", "until": ""}
