"""follow_phase: a golem whose phase got worse tells its cage, so that the contract enforces it too.

The session key may make the phase worse and never better; it sends that itself, simulated, stored and then sent like
everything else. Better phases are the owners' to propose. Appends CagePhaseWorsened. Seed: 001, phase x action class.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.errors import SimulationFailed
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.models import ActionPermit, CageMirror, SigningKey, Wallet
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.contract import Limit, decode_cage_error, encode_worsen_phase
from permits_app.policy_cage.mirror import is_behind
from permits_app.policy_cage.state import CageState
from permits_app.signing_route import plain_route
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.one_by_one import one_by_one
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.plan import Call, TxPlan

logger = logging.getLogger(__name__)

TOOL_NAME: Final = "worsen_phase"
_ACTOR: Final = "system:phase"
_BUDGET_MS: Final = 10_000


def follow_phases(*, now: datetime) -> int:
    """Every golem behind a cage; how many cages were told. One that fails stops nobody else's."""
    caged = Wallet.objects.filter(kind=WalletKind.POLICY_CAGE, golem__halted_at__isnull=True).order_by("pk")
    golems = list(caged.values_list("golem_id", flat=True))
    told = one_by_one(golems, lambda pk: follow_phase(golem_id=pk, now=now), what="the phase in the cage of golem")
    return sum(permit is not None for permit in told)


def follow_phase(*, golem_id: UUID, now: datetime) -> ActionPermit | None:
    """Tell one cage; the permit as it ended, None where nothing has to be told or no session is there to tell it.

    Raises the node's errors, SimulationFailed, SameActionPending, SignerUnavailable, GolemHalted.
    """
    golem = Golem.objects.select_related("policy_cage__mirror", "wallet").get(pk=golem_id)
    mirror: CageMirror | None = getattr(getattr(golem, "policy_cage", None), "mirror", None)
    if mirror is None or golem.is_halted or is_behind(mirror, now=now):
        return None
    state = CageState.from_dict(mirror.state)
    index, session = tuple(Phase).index(Phase(golem.phase)), state.session
    is_ours = SigningKey.objects.filter(golem=golem, address=session.key).exists()
    if index <= state.limit(Limit.PHASE) or not is_ours or now.timestamp() >= session.expires_at:
        return None
    if _is_told(golem, mirror):
        return None
    chain = runner.open_reader(mirror.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    label = f"make the phase {golem.phase.lower()} in the cage"
    call = Call(to=mirror.contract, data=encode_worsen_phase(index), value=0, label=label)
    wanted = HaltPlan(
        plan=TxPlan(chain_id=mirror.chain_id, calls=(call,)),
        action_type=TOOL_NAME,
        params={"phase": golem.phase},
        event="CagePhaseWorsened",
        facts={"phase": golem.phase, "contract": mirror.contract},
        check=_check,
        tool_name=TOOL_NAME,
        route=plain_route(session.key),
    )
    return execute_halt_plan(golem=golem, epoch=golem.halt_epoch, chain=chain, wanted=wanted, actor=_ACTOR, now=now)


def _is_told(golem: Golem, mirror: CageMirror) -> bool:
    """Whether another worker tells the cage now, or did and the mirror has not seen it yet."""
    same = ActionPermit.objects.filter(
        golem=golem, tool_name=TOOL_NAME, halt_epoch=golem.halt_epoch, params__phase=golem.phase
    )
    waiting = Q(status__in=[str(status) for status in UNFINISHED])
    return same.filter(waiting | Q(status=PermitStatus.COMMITTED, finished_at__gt=mirror.synced_at)).exists()


def _check(simulation: SimulationResult, calls: Sequence[Call]) -> None:
    """The contract lets the key do it. Raises SimulationFailed."""
    failed = next((outcome for outcome in simulation.calls if not outcome.succeeded), None)
    if failed is not None:
        raise SimulationFailed(f"the cage would refuse: {decode_cage_error(failed.output).text}")
