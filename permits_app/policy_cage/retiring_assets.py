"""Lists assets that a golem's cage lets only fall in its account."""

from __future__ import annotations

from uuid import UUID

from permits_app.models import CageMirror
from permits_app.policy_cage.contract import AssetState
from permits_app.policy_cage.state import CageState


def list_retiring(*, golem_id: UUID, chain_id: int) -> frozenset[str]:
    """The assets that retire; none without a cage."""
    mirror = CageMirror.objects.filter(cage__golem_id=golem_id, chain_id=chain_id).first()
    if mirror is None:
        return frozenset()
    state = CageState.from_dict(mirror.state)
    rules = {asset: state.asset(asset) for asset in state.assets}
    return frozenset(asset for asset, rule in rules.items() if rule is not None and rule.state is AssetState.RETIRING)
