"""REM: run an episode's action again on the local engine, as it was asked and with one parameter changed.

The plan is built at the block the preview saw and run on the state the transaction really met, so that the price that
moved in between decides. Nothing is sent: the tool returns a plan, the engine in process runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from typing_extensions import TypeIs

from memory_app.memory_adjustments import LONGEST_DEADLINE_SECONDS
from memory_app.models import Episode
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.revm_screening.screening import screen_candidates
from tools_app.simulation.select import EngineSetting, run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import GolemView

WIDEST_SLIPPAGE_BPS = 100
MOST_ROUTES = 8
_BUDGET_MS = 10_000


@dataclass(frozen=True, slots=True)
class Imagined:
    """What one run would have done. `changed` is empty for the action as it was; deltas are base units as text.

    `promised` is what its plan expected of each token it receives, at the block the preview saw.
    """

    changed: Mapping[str, int | str]
    succeeded: bool
    reason: str
    gas_used: int
    deltas: Mapping[str, str]
    fidelity: str
    block_number: int
    promised: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """JSON-ready form."""
        return {
            "changed": dict(self.changed),
            "succeeded": self.succeeded,
            "reason": self.reason,
            "gas_used": self.gas_used,
            "deltas": dict(self.deltas),
            "promised": dict(self.promised),
            "fidelity": self.fidelity,
            "block_number": self.block_number,
        }


def can_imagine(episode: Episode) -> bool:
    """Whether the episode keeps what a run needs: a write tool that exists, its parameters and its chain."""
    if not episode.params or episode.chain_id is None or episode.tool_name not in REGISTRY:
        return False
    return isinstance(REGISTRY.get(episode.tool_name), WriteTool)


def list_variations(params: Mapping[str, object], other_routes: Sequence[str] = ()) -> list[dict[str, int | str]]:
    """One change each: half and twice the slippage, twice the deadline, half the amount, the next best route.

    Only of what was asked; `other_routes` are those that were not taken, best first.
    """
    found: list[dict[str, int | str]] = []
    slippage, deadline, amount = params.get("slippage_bps"), params.get("deadline"), params.get("amount")
    if _is_count(slippage):
        found.append({"slippage_bps": max(1, slippage // 2)})
        if slippage * 2 <= WIDEST_SLIPPAGE_BPS:
            found.append({"slippage_bps": slippage * 2})
    if _is_count(deadline) and deadline * 2 <= LONGEST_DEADLINE_SECONDS:
        found.append({"deadline": deadline * 2})
    if isinstance(amount, int | str) and str(amount).isdigit() and int(amount) > 1:
        found.append({"amount": str(int(amount) // 2)})
    if "route" in params and other_routes:
        found.append({"route": str(other_routes[0])})
    return found


def other_routes_of(prediction: Mapping[str, object]) -> Sequence[str]:
    """The routes that were quoted at the preview and not taken; empty for what takes none."""
    details = prediction.get("details")
    routes = details.get("other_routes") if isinstance(details, Mapping) else None
    return routes if isinstance(routes, list) else ()


def imagine(*, episode: Episode, golem: GolemView, now: datetime) -> Iterator[Imagined]:
    """The action as it was, then each variation. Raises the error of the first run; a later failure is an outcome.

    The state is that before the block of the outcome, where the node still has it, else the newest. Of the routes that
    were not taken the one that would have done best there is run.
    """
    yield _run(episode, golem, {}, now)
    routes = other_routes_of(episode.prediction)
    if "route" in episode.params and len(routes) > 1:
        routes = _rank_routes(episode, golem, routes[:MOST_ROUTES], now)
    for changed in list_variations(episode.params, routes):
        try:
            yield _run(episode, golem, changed, now)
        except GolemError as error:
            yield Imagined(changed, False, f"{error.code}: {error.detail}"[:300], 0, {}, "not run", 0)


def _rank_routes(episode: Episode, golem: GolemView, routes: Sequence[str], now: datetime) -> Sequence[str]:
    """Those that can be planned and succeed, by what comes in and then by what stays, best first.

    As quoted where they cannot be screened: an order, and no answer about any of them.
    """
    planned: dict[str, tuple[TxPlan, SimulationRequest]] = {}
    for route in routes:
        with suppress(GolemError):
            planned[route] = _plan(episode, golem, {"route": route}, now)
    if not planned:
        return routes
    request = next(iter(planned.values()))[1]
    try:
        screened = screen_candidates(
            request, [plan.calls for plan, _ in planned.values()], deadline=Deadline.after_ms(_BUDGET_MS)
        )
    except GolemError:
        return routes
    done = {route: one for route, one in zip(planned, screened, strict=True) if one.succeeded}

    def rank(route: str) -> tuple[int, int]:
        plan, deltas = planned[route][0], done[route].deltas
        came, went = (
            sum(deltas.get((request.sender, flow.token.address), 0) for flow in flows)
            for flows in (plan.receives, plan.spends)
        )
        return came, went

    return sorted(done, key=rank, reverse=True)


def _run(episode: Episode, golem: GolemView, changed: Mapping[str, int | str], now: datetime) -> Imagined:
    plan, request = _plan(episode, golem, changed, now)
    result = run_simulation(request, deadline=Deadline.after_ms(_BUDGET_MS), setting=EngineSetting.PYEVM)
    return _describe(changed, plan, result)


def _plan(
    episode: Episode, golem: GolemView, changed: Mapping[str, int | str], now: datetime
) -> tuple[TxPlan, SimulationRequest]:
    tool = REGISTRY.get(episode.tool_name)
    if not isinstance(tool, WriteTool) or episode.chain_id is None:
        raise TypeError(f"{episode.tool_name} returns no plan")
    params = runner.check_params(tool=tool, params={**episode.params, **changed})
    asked_at, ran_at = _open_blocks(episode, now)
    when = datetime.fromtimestamp(asked_at.block.timestamp, UTC)
    plan = runner.build_plan(tool=tool, params=params, golem=golem, now=when, chain=asked_at)
    return plan, _make_request(plan, episode, golem, ran_at)


def _open_blocks(episode: Episode, now: datetime) -> tuple[ChainReader, ChainReader]:
    chain_id = int(episode.chain_id or 0)
    newest = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    seen, mined = episode.prediction.get("block_number"), episode.block_number
    if not _is_count(seen) or not mined or mined - 1 > newest.block.number:
        return newest, newest
    before, at = newest.block_at(int(seen)), newest.block_at(mined - 1)
    return (
        runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS), block=before),
        runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS), block=at),
    )


def _make_request(plan: TxPlan, episode: Episode, golem: GolemView, ran_at: ChainReader) -> SimulationRequest:
    sender = str(episode.calls[0].get("sender") if episode.calls else "") or golem.address or ""
    return SimulationRequest(
        chain_id=plan.chain_id,
        sender=sender,
        calls=plan.calls,
        watch=tuple((sender, token.address) for token in plan.tokens),
        block=ran_at.block,
    )


def _describe(changed: Mapping[str, int | str], plan: TxPlan, result: SimulationResult) -> Imagined:
    return Imagined(
        changed=dict(changed),
        succeeded=result.succeeded,
        reason=(result.failure or "")[:300],
        gas_used=result.gas_used,
        deltas={token: str(delta) for token, delta in result.deltas.items() if delta},
        fidelity=result.fidelity,
        block_number=result.block.number,
        promised={flow.token.address: str(flow.expected) for flow in plan.receives},
    )


def _is_count(value: object) -> TypeIs[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
