"""Carries out what a cage's session key does for itself, simulated, stored and sent like everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.custody.signing_route import plain_route
from permits_app.errors import SimulationFailed
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.models import ActionPermit, CageMirror, SigningKey, Wallet
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.contract import decode_cage_error
from permits_app.policy_cage.mirror import is_behind
from permits_app.policy_cage.state import CageState
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call, TxPlan

_BUDGET_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class OwnSession:
    """A golem's cage whose session key is in this server's hands and whose session goes on."""

    golem: Golem
    mirror: CageMirror
    state: CageState

    def open_chain(self, *, now: datetime) -> ChainReader:
        """The cage's chain at its newest block. Raises what a node raises."""
        return runner.open_reader(self.mirror.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))


@dataclass(frozen=True, slots=True)
class SessionAct:
    """One call of the session key to its cage. `params` make it one action of its own, the log keeps `facts`."""

    tool_name: str
    data: bytes
    label: str
    params: Mapping[str, object]
    event: str
    facts: Mapping[str, object]


def list_caged() -> list[UUID]:
    """Golems behind a cage that may act, the first made first."""
    caged = Wallet.objects.filter(kind=WalletKind.POLICY_CAGE, golem__halted_at__isnull=True).order_by("pk")
    return list(caged.values_list("golem_id", flat=True))


def find_own_session(*, golem_id: UUID, now: datetime) -> OwnSession | None:
    """None without a cage, behind a stale mirror, halted, or where no session of this server's key is there to act."""
    golem = Golem.objects.select_related("policy_cage__mirror", "wallet").get(pk=golem_id)
    mirror: CageMirror | None = getattr(getattr(golem, "policy_cage", None), "mirror", None)
    if mirror is None or golem.is_halted or is_behind(mirror, now=now):
        return None
    state = CageState.from_dict(mirror.state)
    is_ours = SigningKey.objects.filter(golem=golem, address=state.session.key).exists()
    if not is_ours or now.timestamp() >= state.session.expires_at:
        return None
    return OwnSession(golem, mirror, state)


def is_under_way(own: OwnSession, *, tool_name: str, **params: object) -> bool:
    """Whether another worker does it now, or did and the mirror has not seen it yet."""
    named = {f"params__{name}": value for name, value in params.items()}
    same = ActionPermit.objects.filter(golem=own.golem, tool_name=tool_name, halt_epoch=own.golem.halt_epoch, **named)
    waiting = Q(status__in=[str(status) for status in UNFINISHED])
    return same.filter(waiting | Q(status=PermitStatus.COMMITTED, finished_at__gt=own.mirror.synced_at)).exists()


def send_act(own: OwnSession, act: SessionAct, *, chain: ChainReader, actor: str, now: datetime) -> ActionPermit:
    """The permit as it ended.

    Raises the node's errors, SimulationFailed, SameActionPending, SignerUnavailable, GolemHalted.
    """
    call = Call(to=own.mirror.contract, data=act.data, value=0, label=act.label)
    wanted = HaltPlan(
        plan=TxPlan(chain_id=own.mirror.chain_id, calls=(call,)),
        action_type=act.tool_name,
        params=act.params,
        event=act.event,
        facts={**act.facts, "contract": own.mirror.contract},
        check=_check,
        tool_name=act.tool_name,
        route=plain_route(own.state.session.key),
    )
    return execute_halt_plan(
        golem=own.golem, epoch=own.golem.halt_epoch, chain=chain, wanted=wanted, actor=actor, now=now
    )


def _check(simulation: SimulationResult, calls: Sequence[Call]) -> None:
    """The contract lets the key do it. Raises SimulationFailed."""
    failed = next((outcome for outcome in simulation.calls if not outcome.succeeded), None)
    if failed is not None:
        raise SimulationFailed(f"the cage would refuse: {decode_cage_error(failed.output).text}")
