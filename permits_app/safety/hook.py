"""What a safety hook sees and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.custody.signing_route import SigningRoute, plain_route
from permits_app.hook_rejection import Reject
from permits_app.limits.valuation import PlanValue
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.safety.call_records import RecordSource
from permits_app.safety.gas_budget import GasBudget, Promised
from tools_app.chain.running_code import RunningCode
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.plan import Call, LocalEffect, TxPlan
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool
from tools_app.toolkit.views import GolemView


class HookStage(StrEnum):
    """Where in a permit's life the chain runs."""

    PREVIEW = "PREVIEW"
    COMMIT = "COMMIT"


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call under judgement. `plan` is None for a local write; `simulation` is None before hook 5.

    `own_permit_id` is set at commit, so that a hook does not count the permit's own reservation twice.
    `allowlist` holds (kind, EIP-55 address) of the plan's chain. `records` is set by the chain for the time of one run.
    `route` says who signs and what carries the plan; None is an account that signs for itself. `promised` is how a
    permit says its calls are signed, and `bound` the code it was permitted on, None while there is none. `action_hash`
    names what was asked for, `alike_hash` what it shares with what differs in numbers only. `wait_seconds` is how much
    of a deadline is there for owners and the Warden.
    """

    stage: HookStage
    golem: Golem
    view: GolemView
    toolset: Toolset
    tool: WriteTool | LocalWriteTool
    params: Mapping[str, object]
    plan: TxPlan | None
    effect: LocalEffect | None
    action_class: ActionClass
    value: PlanValue
    chain: ChainReader | None
    limits: SpendingLimits
    cage: PolicyCage
    allowlist: frozenset[tuple[str, str]]
    api_key_id: UUID | None
    now: datetime
    own_permit_id: UUID | None = None
    is_venue_trusted: bool = True
    simulation: SimulationResult | None = None
    records: RecordSource | None = None
    route: SigningRoute | None = None
    promised: Promised | None = None
    bound: RunningCode | None = None
    action_hash: str = ""
    alike_hash: str = ""
    wait_seconds: int = 0

    @property
    def sent_by(self) -> SigningRoute:
        """How the plan reaches the chain."""
        return self.route or plain_route(self.view.address or "")

    @property
    def sent_calls(self) -> tuple[Call, ...]:
        """What is simulated and signed; empty for a local write."""
        return self.sent_by.carry(self.plan.calls) if self.plan is not None else ()


@dataclass(frozen=True, slots=True)
class Allow:
    """The hook agrees. `note` is kept in the permit; `simulation` and `gas` are set by hook 5 alone, `bound` by 6."""

    note: str = ""
    simulation: SimulationResult | None = None
    gas: GasBudget | None = None
    bound: RunningCode | None = None


@dataclass(frozen=True, slots=True)
class AllowModified:
    """The hook agrees with other parameters: the call goes back to the plan, once."""

    params: Mapping[str, object]
    note: str


Verdict = Allow | AllowModified | Reject


class SafetyHook(Protocol):
    """One hook. It decides from the call alone and from rows; it writes nothing but records of what it saw."""

    name: str

    def check(self, call: HookCall) -> Verdict: ...
