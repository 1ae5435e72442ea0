"""The concrete one-shot token and the only function that mints one.

Its interface is `tools_app/toolkit/capability.py`. Python has no move semantics; fences replace them: a
module-private seal refuses construction elsewhere, copying, pickling and subclassing are refused, the
token works once in memory and once in the database. That stops mistakes and smuggled handles, not
hostile code in our own process.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NoReturn, final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from archetypes_app.models import Golem
from permits_app.errors import CapabilityError, CapabilityExpired, CapabilityValueExceeded
from permits_app.models import ActionPermit, CapabilityGrant
from permits_app.models.permit import PermitStatus
from permits_app.permits.plan_store import read_effect_bound
from tools_app.core import clock
from tools_app.core.prepared_statements import Prepared
from tools_app.core.units import apply_bps_up, format_micro_usd

_SEAL = object()


@final
class MintedCapability:
    """Proof that the safety chain agreed to one plan of one tool. Consumed once."""

    __slots__ = (
        "_bound",
        "_expires_at",
        "_expires_at_tick",
        "_is_used",
        "_lock",
        "_permit_id",
        "_plan_hash",
        "_policy_hash",
        "_tool_name",
        "_used_in",
        "_value_limit",
    )

    def __init__(self, seal: object, grant: CapabilityGrant, bound: Mapping[str, object]) -> None:
        if seal is not _SEAL:
            raise CapabilityError("a capability comes from the mint only")
        self._permit_id: UUID = grant.permit_id
        self._tool_name = grant.tool_name
        self._plan_hash = grant.plan_hash
        self._policy_hash = grant.policy_hash
        self._value_limit = grant.value_limit_micro_usd
        self._expires_at = grant.expires_at
        self._expires_at_tick = grant.expires_at_tick
        self._bound = MappingProxyType(dict(bound))
        self._is_used = False
        self._used_in: object = None
        self._lock = threading.Lock()

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("MintedCapability cannot be subclassed")

    @property
    def permit_id(self) -> UUID:
        return self._permit_id

    @property
    def tool_name(self) -> str:
        return self._tool_name

    @property
    def plan_hash(self) -> str:
        return self._plan_hash

    @property
    def value_limit_micro_usd(self) -> int:
        return self._value_limit

    @property
    def bound(self) -> Mapping[str, object]:
        return self._bound

    def check_value(self, micro_usd: int) -> None:
        """Raises CapabilityValueExceeded when the call is worth more than was granted, at the prices of now."""
        if micro_usd > self._value_limit:
            raise CapabilityValueExceeded(
                f"what would be signed is worth {format_micro_usd(micro_usd)} by now, the capability allows"
                f" {format_micro_usd(self._value_limit)}: prices rose since the preview",
                permit_id=str(self._permit_id),
                worth_micro_usd=str(micro_usd),
                value_limit_micro_usd=str(self._value_limit),
            )

    def consume(self, *, tool_name: str, plan_hash: str) -> None:
        """Use the token up, in memory and in the database; the caller's transaction holds both together.

        Raises CapabilityError on a second use, another tool, another plan or a permit whose policy is another one,
        CapabilityExpired after expiry, by the clock or by the golem's ticks.
        """
        now = clock.now()
        with self._lock:
            # One use inside a transaction that PostgreSQL gave up was none: the whole of it is done again, in another.
            block = connection.atomic_blocks[0] if connection.in_atomic_block else None
            if self._is_used or (self._used_in is not None and self._used_in is block):
                raise CapabilityError("the capability was used before")
            if (tool_name, plan_hash) != (self._tool_name, self._plan_hash):
                raise CapabilityError("the capability was minted for another call")
            if now >= self._expires_at:
                raise CapabilityExpired()
            asked = {"permit": self._permit_id, "plan": plan_hash, "tool": tool_name, "policy": self._policy_hash}
            if not _CONSUME.fetch(**asked, tick=self._expires_at_tick, now=now):
                self._refuse_use()
            self._used_in = block
            transaction.on_commit(self._note_used)

    def _refuse_use(self) -> NoReturn:
        ticks = ActionPermit.objects.filter(pk=self._permit_id).values_list("golem__heartbeat_tick", flat=True)
        tick = ticks.first()
        if tick is not None and tick >= self._expires_at_tick:
            raise CapabilityExpired()
        raise CapabilityError("the capability was used before")

    def _note_used(self) -> None:
        self._is_used = True

    def __repr__(self) -> str:
        return f"<Capability {self._tool_name} of permit {self._permit_id}>"

    def __copy__(self) -> NoReturn:
        raise CapabilityError("a capability cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise CapabilityError("a capability cannot be copied")

    def __reduce__(self) -> NoReturn:
        raise CapabilityError("a capability cannot be pickled")


def check_minted(capability: object) -> None:
    """Raises CapabilityError unless `capability` is exactly what the mint makes; its interface alone is not enough."""
    if type(capability) is not MintedCapability:
        raise CapabilityError("this is no capability of the mint", found=type(capability).__name__)


def mint(*, permit: ActionPermit, expires_at: datetime, now: datetime) -> MintedCapability:
    """The capability of a permit that is COMMITTING; after a crash before its use, the same grant again.

    Raises CapabilityError when the permit is in another state or its grant was consumed.
    """
    if permit.status != PermitStatus.COMMITTING:
        raise CapabilityError("a capability is minted for a permit that is being committed")
    granted = _GRANT.fetch(
        permit=permit.pk,
        tool=permit.tool_name,
        plan=permit.plan_hash,
        policy=permit.policy_hash,
        limit=apply_bps_up(permit.value_micro_usd, settings.GOLEM_VALUE_DRIFT_BPS),
        minted_at=now,
        expires_at=expires_at,
        tick=permit.expires_at_tick,
    )
    if not granted:
        raise CapabilityError("the capability of this permit was used before")
    tool_name, plan_hash, policy_hash, limit, until, tick = granted[0]
    grant = CapabilityGrant(
        permit_id=permit.pk,
        tool_name=tool_name,
        plan_hash=plan_hash,
        policy_hash=policy_hash,
        value_limit_micro_usd=limit,
        expires_at=until,
        expires_at_tick=tick,
    )
    return MintedCapability(_SEAL, grant, read_effect_bound(permit))


# One that is there and unused is held longer and gives what it said before; a used one gives no row.
_GRANT = Prepared(
    "mint",
    f"""
INSERT INTO {CapabilityGrant._meta.db_table} AS known
    (permit_id, tool_name, plan_hash, policy_hash, value_limit_micro_usd, minted_at, expires_at, expires_at_tick)
VALUES (%(permit)s, %(tool)s, %(plan)s, %(policy)s, %(limit)s, %(minted_at)s, %(expires_at)s, %(tick)s)
ON CONFLICT (permit_id) DO UPDATE SET expires_at = GREATEST(known.expires_at, excluded.expires_at)
 WHERE known.consumed_at IS NULL
RETURNING tool_name, plan_hash, policy_hash, value_limit_micro_usd, expires_at, expires_at_tick""",  # noqa: S608
)
_CONSUME = Prepared(
    "consume",
    f"""
UPDATE {CapabilityGrant._meta.db_table} AS grant_row SET consumed_at = %(now)s
  FROM {ActionPermit._meta.db_table} AS permit JOIN {Golem._meta.db_table} AS golem ON golem.id = permit.golem_id
 WHERE grant_row.permit_id = %(permit)s AND grant_row.consumed_at IS NULL
   AND grant_row.plan_hash = %(plan)s AND grant_row.tool_name = %(tool)s AND grant_row.policy_hash = %(policy)s
   AND permit.id = grant_row.permit_id AND permit.policy_hash = grant_row.policy_hash
   AND golem.heartbeat_tick < %(tick)s AND golem.heartbeat_tick < grant_row.expires_at_tick
RETURNING 1""",  # noqa: S608  (the tables' own names)
)
