"""The two rows that a halt, a commit and an owner's change wait for each other on: the golem first, then its permit."""

from __future__ import annotations

from uuid import UUID

from archetypes_app.models import Golem
from permits_app.models import ActionPermit
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.prepared import fetch_together

_NOBODY, _NOTHING = UUID(int=0), UUID(int=1)
_GOLEM: CompiledQuery[Golem] = CompiledQuery(
    lambda golem_id: Golem.objects.select_for_update().filter(pk=golem_id), _NOBODY
)
_PERMIT: CompiledQuery[ActionPermit] = CompiledQuery(
    lambda permit_id, golem_id: ActionPermit.objects.select_for_update().filter(pk=permit_id, golem=golem_id),
    _NOTHING, _NOBODY,
)  # fmt: skip


def lock_golem_and_permit(*, golem_id: UUID, permit_id: UUID) -> tuple[Golem, ActionPermit | None]:
    """Both rows, locked until the transaction ends, in one round trip; None for a permit of another golem or of none.

    The permit is read after the golem's lock was given. Raises Golem.DoesNotExist.
    """
    golems, permits = fetch_together(_GOLEM.fill(golem_id), _PERMIT.fill(permit_id, golem_id))
    if not golems:
        raise Golem.DoesNotExist(f"there is no golem {golem_id}")
    (golem,) = _GOLEM.read(golems)
    for permit in _PERMIT.read(permits):
        permit.golem = golem
        return golem, permit
    return golem, None
