"""The effective policy of a golem and its hash: cage, limits, allowlist, phase and toolset.

Ledger sums and the mirror's block stay out, so that the hash moves only when a rule does.
Seed: decisions, "Permits" (policy_hash).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Value

from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.toolset import hash_toolset
from permits_app.models import AllowlistEntry, PolicyCage, SpendingLimits, VenueTrust
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.toolset import Toolset

GOLEM_ROWS = ("archetype", "policy_cage__mirror", "spending_limits", "warden")
"""What `select_related` fetches with a golem for a decision."""
GOLEM_LISTS = ("profiles", "archetype__profiles", "tool_overrides", "archetype__tool_overrides")
"""What `prefetch_related` fetches with it."""
_DISTRUSTED = "DISTRUSTED"
_PROFILES_SQL = f"""
SELECT profile.*, TRUE AS is_own FROM {ToolProfile._meta.db_table} AS profile
  JOIN {Golem.profiles.through._meta.db_table} AS of_golem ON of_golem.toolprofile_id = profile.id
 WHERE of_golem.golem_id = %(golem)s
 UNION ALL
SELECT profile.*, FALSE FROM {ToolProfile._meta.db_table} AS profile
  JOIN {Archetype.profiles.through._meta.db_table} AS of_archetype ON of_archetype.toolprofile_id = profile.id
 WHERE of_archetype.archetype_id = %(archetype)s
 ORDER BY name"""  # noqa: S608  (the tables' own names)
_OVERRIDES_SQL = f"""
SELECT * FROM {ToolOverride._meta.db_table}
 WHERE golem_id = %(golem)s OR archetype_id = %(archetype)s ORDER BY tool_name"""  # noqa: S608
_UNHASHED = frozenset({"id", "golem", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that may refuse a call of one golem. `allowlist` holds (chain id, kind, address).

    `distrusted` holds (chain id, venue) where outcomes were other than simulated; it is not hashed, because it changes
    a call's risk tier and no limit.
    """

    cage: PolicyCage
    limits: SpendingLimits
    allowlist: frozenset[tuple[int, str, str]]
    hash: str
    distrusted: frozenset[tuple[int, str]] = frozenset()

    def trusts(self, *, chain_id: int, venue: str) -> bool:
        """Whether outcomes at a venue were as they were simulated."""
        return (chain_id, venue) not in self.distrusted

    def allowlist_on(self, chain_id: int) -> frozenset[tuple[str, str]]:
        """(kind, address) pairs of one chain."""
        return frozenset((kind, address) for chain, kind, address in self.allowlist if chain == chain_id)


def load_golem(golem_id: UUID) -> Golem:
    """The golem with every row its toolset and policy are made of, so that neither asks again."""
    golem = Golem.objects.select_related(*GOLEM_ROWS).get(pk=golem_id)
    _fetch_lists(golem)
    return golem


def _fetch_lists(golem: Golem) -> None:
    """GOLEM_LISTS in two plain statements: as four prefetches they were a quarter of a preview's processor time."""
    archetype: Archetype = golem.archetype
    both = {"golem": golem.pk, "archetype": archetype.pk}
    profiles: dict[bool, list[ToolProfile]] = {True: [], False: []}
    for profile in ToolProfile.objects.raw(_PROFILES_SQL, both):
        profiles[bool(vars(profile)["is_own"])].append(profile)
    overrides: dict[bool, list[ToolOverride]] = {True: [], False: []}
    for override in ToolOverride.objects.raw(_OVERRIDES_SQL, both):
        overrides[override.golem_id is not None].append(override)
    row: Any
    for row, is_own in ((golem, True), (archetype, False)):
        row._prefetched_objects_cache = {
            "profiles": _filled(row.profiles.all(), profiles[is_own]),
            "tool_overrides": _filled(row.tool_overrides.all(), overrides[is_own]),
        }


def _filled(query: Any, rows: list[Any]) -> Any:
    # What Django itself keeps for a prefetched relation: the query with its answer.
    query._result_cache = rows
    query._prefetch_done = True
    return query


def read_policy(*, golem: Golem, toolset: Toolset) -> Policy:
    """The policy as it stands now; a golem without rows gets the defaults, which are strict."""
    cage = getattr(golem, "policy_cage", None) or PolicyCage.objects.get_or_create(golem=golem)[0]
    limits = getattr(golem, "spending_limits", None) or SpendingLimits.objects.get_or_create(golem=golem)[0]
    # One statement for both, because every preview and every commit reads them.
    venues = VenueTrust.objects.filter(golem=golem, is_low=True).values_list("chain_id", Value(_DISTRUSTED), "venue")
    entries = AllowlistEntry.objects.filter(golem=golem).values_list("chain_id", "kind", "address")
    rows = [(int(chain), str(kind), str(name)) for chain, kind, name in entries.union(venues, all=True)]
    allowlist = frozenset(row for row in rows if row[1] != _DISTRUSTED)
    digest = hash_canonical(
        {
            "cage": _columns(cage),
            **describe_contract(cage),
            "limits": _columns(limits),
            "allowlist": sorted(f"{chain}:{kind}:{address}" for chain, kind, address in allowlist),
            "phase": golem.phase,
            "toolset": hash_toolset(toolset),
        }
    )
    distrusted = frozenset((chain, venue) for chain, kind, venue in rows if kind == _DISTRUSTED)
    return Policy(cage=cage, limits=limits, allowlist=allowlist, hash=digest, distrusted=distrusted)


def describe_contract(cage: PolicyCage) -> dict[str, str]:
    """The contract behind a cage and its rules; nothing for a local one. The mirror's block stays out."""
    mirror = getattr(cage, "mirror", None)
    if mirror is None:
        return {}
    return {"contract": f"{mirror.chain_id}:{mirror.contract}:{mirror.is_enforced}:{mirror.rules_hash}"}


def _columns(row: PolicyCage | SpendingLimits) -> dict[str, str]:
    return {f.name: str(f.value_from_object(row)) for f in row._meta.concrete_fields if f.name not in _UNHASHED}
