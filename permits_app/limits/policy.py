"""The effective policy of a golem and its hash: cage, limits, allowlist, phase and toolset.

Ledger sums and the mirror's block stay out, so that the hash moves only when a rule does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from archetypes_app.models import DefinitionApproval, Golem, ServiceAccess, ToolOverride, ToolProfile
from archetypes_app.toolset import hash_toolset, resolve_toolset
from archetypes_app.toolset_rows import ToolsetRows
from permits_app.errors import PolicyChanged
from permits_app.models import ActionPermit, AllowlistEntry, DeclaredPeg, PolicyCage, SpendingLimits, VenueTrust
from tools_app.chain.public_pegs import PegUnit
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.hashing import hash_canonical
from tools_app.core.prepared_statements import Prepared, fetch_together
from tools_app.portfolio.pegs import MOST_DECLARED, Peg
from tools_app.toolkit.golem_toolset import Toolset

GOLEM_ROWS = ("archetype", "policy_cage__mirror", "spending_limits", "warden", "wallet")
"""What `select_related` fetches with a golem for a decision."""
_DISTRUSTED = "DISTRUSTED"
_PEG = "PEG"
_NOBODY = UUID(int=0)
_GOLEM: CompiledQuery[Golem] = CompiledQuery(
    lambda golem_id: Golem.objects.select_related(*GOLEM_ROWS).filter(pk=golem_id), _NOBODY
)
# What a toolset is made of, and no more: their times and texts were most of the work of reading them.
_OF_PROFILE = ("name", "categories", "is_read_only", "is_conservative")
_OF_OVERRIDE = ("archetype", "golem", "tool_name", "mode")
_GOLEM_PROFILES: CompiledQuery[ToolProfile] = CompiledQuery(
    lambda golem_id: ToolProfile.objects.filter(golems=golem_id).only(*_OF_PROFILE), _NOBODY
)
_ARCHETYPE_PROFILES: CompiledQuery[ToolProfile] = CompiledQuery(
    lambda archetype_id: ToolProfile.objects.filter(archetypes=archetype_id).only(*_OF_PROFILE), -1
)
_BROUGHT: CompiledQuery[DefinitionApproval] = CompiledQuery(
    lambda golem_id: DefinitionApproval.objects.select_related("definition").filter(
        golem=golem_id, revoked_at__isnull=True
    ),
    _NOBODY,
)
_OVERRIDES: CompiledQuery[ToolOverride] = CompiledQuery(
    lambda golem_id: ToolOverride.objects.only(*_OF_OVERRIDE).filter(
        # One value and not a set: behind a set PostgreSQL reads the overrides of everybody.
        Q(golem=golem_id) | Q(archetype=Golem.objects.filter(pk=golem_id).values("archetype")[:1])
    ),
    _NOBODY,
)
# One statement for all of them, because every preview and every commit reads them.
_ADDRESSES = Prepared(
    "read_addresses",
    f"""
SELECT chain_id, kind, address FROM {AllowlistEntry._meta.db_table} WHERE golem_id = %(golem)s
 UNION ALL
SELECT chain_id, '{_DISTRUSTED}', venue FROM {VenueTrust._meta.db_table}
 WHERE golem_id = %(golem)s AND is_low
 UNION ALL
(SELECT chain_id, '{_PEG}', jsonb_build_array(token, name, stands_for, most_apart_bps, source)::text
   FROM {DeclaredPeg._meta.db_table} WHERE golem_id = %(golem)s ORDER BY id LIMIT {MOST_DECLARED})""",  # noqa: S608  (the tables' own names)
)
_SERVICES = Prepared(
    "read_services",
    f"""
SELECT service FROM {ServiceAccess._meta.db_table} a JOIN {Golem._meta.db_table} g ON g.owner_id = a.person_id
 WHERE g.id = %(golem)s""",  # noqa: S608  (the tables' own names)
)
Addresses = list[tuple[Any, ...]]  # Any: columns of SQL, typed by their place
"""(chain id, kind, address), (chain id, DISTRUSTED, venue), and (chain id, PEG, what was declared as JSON)."""
_UNHASHED = frozenset({"id", "golem", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that may refuse a call of one golem. `allowlist` holds (chain id, kind, address).

    `distrusted` holds (chain id, venue) where outcomes were other than simulated; it is not hashed, because it changes
    a call's risk tier and no limit. `declared_pegs` are not hashed either: they are looked at in previews alone.
    """

    cage: PolicyCage
    limits: SpendingLimits
    allowlist: frozenset[tuple[int, str, str]]
    hash: str
    distrusted: frozenset[tuple[int, str]] = frozenset()
    declared_pegs: tuple[Peg, ...] = ()

    def trusts(self, *, chain_id: int, venue: str) -> bool:
        """Whether outcomes at a venue were as they were simulated."""
        return (chain_id, venue) not in self.distrusted

    def allowlist_on(self, chain_id: int) -> frozenset[tuple[str, str]]:
        """(kind, address) pairs of one chain."""
        return frozenset((kind, address) for chain, kind, address in self.allowlist if chain == chain_id)


def load_golem(golem_id: UUID) -> Golem:
    """The golem with every row its toolset and policy are made of, so that neither asks again. Raises DoesNotExist."""
    return load_for_decision(golem_id)[0]


def load_for_decision(golem_id: UUID) -> tuple[Golem, Addresses]:
    """The same with the addresses of its policy, in the same round trip."""
    queries = (_GOLEM, _OVERRIDES, _GOLEM_PROFILES, _BROUGHT)
    besides = (_ADDRESSES.fill(golem=golem_id), _SERVICES.fill(golem=golem_id))
    asked = fetch_together(*(query.fill(golem_id) for query in queries), *besides)
    golems, overrides, profiles = _GOLEM.read(asked[0]), _OVERRIDES.read(asked[1]), _GOLEM_PROFILES.read(asked[2])
    if not golems:
        raise Golem.DoesNotExist(f"there is no golem {golem_id}")
    (golem,) = golems
    # As prefetches of golem and archetype these were a quarter of a preview's processor time.
    golem.toolset_rows = ToolsetRows(
        profiles=profiles,
        overrides=[row for row in overrides if row.golem_id is not None],
        archetype_profiles=[] if profiles else _ARCHETYPE_PROFILES.fetch(golem.archetype_id),
        archetype_overrides=[row for row in overrides if row.golem_id is None],
        approvals=_BROUGHT.read(asked[3]),
        services=[name for (name,) in asked[5]],
    )
    return golem, asked[4]


def read_policy(*, golem: Golem, toolset: Toolset, addresses: Addresses | None = None) -> Policy:
    """The policy as it stands now; a golem without rows gets the defaults, which are strict.

    `addresses` are those that `load_for_decision` has just read.
    """
    cage = getattr(golem, "policy_cage", None) or PolicyCage.objects.get_or_create(golem=golem)[0]
    limits = getattr(golem, "spending_limits", None) or SpendingLimits.objects.get_or_create(golem=golem)[0]
    rows = _ADDRESSES.fetch(golem=golem.pk) if addresses is None else addresses
    allowlist = frozenset(row for row in rows if row[1] not in (_DISTRUSTED, _PEG))
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
    declared = tuple(_read_peg(chain, told) for chain, kind, told in rows if kind == _PEG)
    return Policy(
        cage=cage, limits=limits, allowlist=allowlist, hash=digest, distrusted=distrusted, declared_pegs=declared
    )


def _read_peg(chain_id: int, told: str) -> Peg:
    token, name, stands_for, most_apart_bps, source = json.loads(told)
    return Peg(chain_id, token, name, PegUnit(stands_for), most_apart_bps, source)


def check_policy_stands(permit: ActionPermit) -> None:
    """That nothing the permit was judged by changed since, read anew; under the golem's lock nothing can any more.

    Raises PolicyChanged. A halt's own permits were judged by no policy.
    """
    if not permit.policy_hash:
        return
    golem, addresses = load_for_decision(permit.golem_id)
    now_hash = read_policy(golem=golem, toolset=resolve_toolset(golem), addresses=addresses).hash
    if now_hash != permit.policy_hash:
        raise PolicyChanged("limits, cage, phase or tools changed since the preview", permit_id=str(permit.pk))


def describe_contract(cage: PolicyCage) -> dict[str, str]:
    """The contract behind a cage and its rules; nothing for a local one. The mirror's block stays out."""
    mirror = getattr(cage, "mirror", None)
    if mirror is None:
        return {}
    return {"contract": f"{mirror.chain_id}:{mirror.contract}:{mirror.is_enforced}:{mirror.rules_hash}"}


def _columns(row: PolicyCage | SpendingLimits) -> dict[str, str]:
    return {f.name: str(f.value_from_object(row)) for f in row._meta.concrete_fields if f.name not in _UNHASHED}
