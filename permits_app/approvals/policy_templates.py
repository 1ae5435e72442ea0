"""Policies that have a name: what an agent may ask its owners for without naming every address and limit.

They are made of what this server knows: its default limits,
and the contracts its trading tools call.

See docs/decisions/0026-safe-owners-sign-in-their-wallets-the-server.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from permits_app.approvals.policy_state import LIMIT_COLUMNS, name_entry
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import SpendingLimits
from permits_app.models.spending import AllowlistMode

PolicyTemplate = Literal["read-only", "defi-trading"]
_LIMITS: Final = tuple(name for name in LIMIT_COLUMNS if name.endswith("_micro_usd"))


def list_template_changes(template: PolicyTemplate, *, chain_id: int) -> Iterator[dict[str, object]]:
    """What the template sets, as changes of a policy; limits in micro-USD.

    `read-only`: nothing may be written and nothing spent, not even to get out; its owners loosen it again.
    `defi-trading`: the limits a new golem has, and a strict list with the chain's tokens and trading contracts.
    """
    if template == "read-only":
        for name in (*_LIMITS, "writes_per_hour"):
            yield {"row": "limits", "name": name, "after": "0"}
        return
    fresh = SpendingLimits()
    for name in LIMIT_COLUMNS:
        if name != "allowlist_mode":
            yield {"row": "limits", "name": name, "after": str(getattr(fresh, name))}
    yield {"row": "limits", "name": "allowlist_mode", "after": str(AllowlistMode.STRICT)}
    for choice in suggest_allowlist(chain_id):
        key = name_entry(choice.chain_id, str(choice.kind), choice.address)
        yield {"row": "allowlist", "name": key, "after": choice.label}


def limit_of_template(template: PolicyTemplate) -> int:
    """What one transaction may spend under it, micro-USD."""
    return 0 if template == "read-only" else int(SpendingLimits().per_transaction_micro_usd)
