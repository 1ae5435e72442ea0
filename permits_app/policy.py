"""The effective policy of a golem and its hash: cage, limits, allowlist, phase and toolset.

Ledger sums and the mirror's block stay out, so that the hash moves only when a rule does.
Seed: decisions, "Permits" (policy_hash).
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from archetypes_app.models import Golem
from archetypes_app.toolset import hash_toolset
from permits_app.models import AllowlistEntry, PolicyCage, SpendingLimits
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.toolset import Toolset

GOLEM_ROWS = ("archetype", "policy_cage", "spending_limits")
"""What `select_related` fetches with a golem for a decision."""
GOLEM_LISTS = ("profiles", "archetype__profiles", "tool_overrides", "archetype__tool_overrides")
"""What `prefetch_related` fetches with it."""
_UNHASHED = frozenset({"id", "golem", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that may refuse a call of one golem. `allowlist` holds (chain id, kind, address)."""

    cage: PolicyCage
    limits: SpendingLimits
    allowlist: frozenset[tuple[int, str, str]]
    hash: str

    def allowlist_on(self, chain_id: int) -> frozenset[tuple[str, str]]:
        """(kind, address) pairs of one chain."""
        return frozenset((kind, address) for chain, kind, address in self.allowlist if chain == chain_id)


def load_golem(golem_id: UUID) -> Golem:
    """The golem with every row its toolset and policy are made of, so that neither asks again."""
    return Golem.objects.select_related(*GOLEM_ROWS).prefetch_related(*GOLEM_LISTS).get(pk=golem_id)


def read_policy(*, golem: Golem, toolset: Toolset) -> Policy:
    """The policy as it stands now; a golem without rows gets the defaults, which are strict."""
    cage = getattr(golem, "policy_cage", None) or PolicyCage.objects.get_or_create(golem=golem)[0]
    limits = getattr(golem, "spending_limits", None) or SpendingLimits.objects.get_or_create(golem=golem)[0]
    allowlist = frozenset(AllowlistEntry.objects.filter(golem=golem).values_list("chain_id", "kind", "address"))
    digest = hash_canonical(
        {
            "cage": _columns(cage),
            "limits": _columns(limits),
            "allowlist": sorted(f"{chain}:{kind}:{address}" for chain, kind, address in allowlist),
            "phase": golem.phase,
            "toolset": hash_toolset(toolset),
        }
    )
    return Policy(cage=cage, limits=limits, allowlist=allowlist, hash=digest)


def _columns(row: PolicyCage | SpendingLimits) -> dict[str, str]:
    return {f.name: str(f.value_from_object(row)) for f in row._meta.concrete_fields if f.name not in _UNHASHED}
