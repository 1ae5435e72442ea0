"""The seven in their order; one that raises rejects; the first refusal ends the chain; AllowModified goes back once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.errors import GolemHalted
from archetypes_app.toolset import view_golem
from permits_app.errors import PhaseBlocked, PolicyRejected, SpendingLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.safety import hook_chain
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import Allow, AllowModified, HookCall, Verdict
from tests.factories.golems import make_golem, make_owner
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, NOW, ROUTER, plain_call, swap_call
from tools_app.chain.running_code import RunningCode
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.views import BlockRef

HOOKS = ("POLICY_CAGE", "ALLOWLIST_GUARD", "SPENDING_LIMITER", "RATE_LIMITER", "SIMULATOR", "HALLUCINATION_DETECTOR")


class Recorder:
    """Stands in for a hook: notes that it was asked, and answers what it was told to."""

    def __init__(self, name: str, asked: list[str], answer: Verdict | Exception | None = None) -> None:
        self.name = name
        self._asked = asked
        self._answer = answer or Allow(note=name)

    def check(self, call: HookCall) -> Verdict:
        self._asked.append(self.name)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    order: list[str] = []
    replace_hooks(monkeypatch, order, {})
    return order


def replace_hooks(monkeypatch: pytest.MonkeyPatch, asked: list[str], answers: dict[str, Any]) -> None:
    before = []
    for constant in HOOKS:
        name = constant.lower()
        recorder = Recorder(name, asked, answers.get(name))
        monkeypatch.setattr(hook_chain, constant, recorder)
        if constant not in ("SIMULATOR", "HALLUCINATION_DETECTOR"):
            before.append(recorder)
    monkeypatch.setattr(hook_chain, "_BEFORE_SIMULATION", tuple(before))


def test_the_seven_are_these_in_this_order() -> None:
    assert hook_chain.SAFETY_HOOKS == (
        "policy_cage",
        "allowlist_guard",
        "spending_limiter",
        "rate_limiter",
        "simulator",
        "hallucination_detector",
        "result_filter",
    )


def test_a_preview_asks_one_to_six(asked: list[str]) -> None:
    report = hook_chain.run(plain_call(None))
    assert tuple(asked) == hook_chain.SAFETY_HOOKS[:6]
    assert [decision["hook"] for decision in report.decisions] == asked


def test_what_the_simulation_and_the_look_at_the_code_found_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = SimulationResult("rpc", "", BlockRef(1, "0x", 1, 1), ACCOUNT, (), {}, {}, {}, {})
    budget, bound = GasBudget(limits=(2,), max_fee_per_gas=5), RunningCode(roots=(ROUTER,))
    answers = {"simulator": Allow("ran", ran, budget), "hallucination_detector": Allow("looked", bound=bound)}
    replace_hooks(monkeypatch, [], answers)
    report = hook_chain.run(plain_call(None))
    assert (report.simulation, report.gas, report.bound) == (ran, budget, bound)


def test_the_six_themselves_are_asked_of_a_local_write_and_read_its_past_once(db: None) -> None:
    golem = make_golem(owner=make_owner())
    call = plain_call(None, golem=golem, view=view_golem(golem))
    with CaptureQueriesContext(connection) as asked:
        report = hook_chain.run(call)
    assert tuple(decision["hook"] for decision in report.decisions) == hook_chain.SAFETY_HOOKS[:6]
    assert sum("read_records" in query["sql"] for query in asked) == 1, [query["sql"][:60] for query in asked]
    with CaptureQueriesContext(connection) as asked:
        report = hook_chain.recheck(call, simulate=False)
    decided = tuple(decision["hook"] for decision in report.decisions)
    assert decided == (*hook_chain.SAFETY_HOOKS[:4], "hallucination_detector")


@pytest.mark.parametrize("simulate", [True, False])
def test_a_commit_simulates_only_when_the_block_moved(asked: list[str], simulate: bool) -> None:
    hook_chain.recheck(plain_call(None), simulate=simulate)
    expected = [name for name in hook_chain.SAFETY_HOOKS[:6] if simulate or name != "simulator"]
    assert asked == expected


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
def test_a_hook_that_raises_rejects_and_nothing_after_it_is_asked(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked: list[str] = []
    replace_hooks(monkeypatch, asked, {name: ZeroDivisionError("chaos with a secret")})
    with pytest.raises(PolicyRejected) as refused:
        hook_chain.run(plain_call(None))
    assert refused.value.data == {"hook": name, "rule": f"{name}.failed"}
    assert "secret" not in refused.value.detail
    assert asked[-1] == name


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
def test_the_first_refusal_ends_the_chain_with_its_figures(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked: list[str] = []
    refusal = Reject(rule=f"{name}.x", reason="no", observed="2", limit="1", remaining="0", error=PhaseBlocked)
    replace_hooks(monkeypatch, asked, {name: refusal})
    with pytest.raises(PhaseBlocked) as refused:
        hook_chain.run(plain_call(None))
    assert asked == list(hook_chain.SAFETY_HOOKS[: hook_chain.SAFETY_HOOKS.index(name) + 1])
    assert refused.value.data == {
        "hook": name,
        "rule": f"{name}.x",
        "observed": "2",
        "limit": "1",
        "remaining": "0",
        "resets_at": None,
        "would_pass": None,
    }


def test_a_rule_may_say_what_to_do_next(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Reject(rule="r", reason="no", error=SpendingLimitExceeded, data={"recovery": Recovery.WAIT})
    replace_hooks(monkeypatch, [], {"spending_limiter": refusal})
    with pytest.raises(SpendingLimitExceeded) as refused:
        hook_chain.run(plain_call(None))
    assert refused.value.as_problem()["recovery"] == "WAIT"
    assert refused.value.as_problem()["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED"


def test_an_error_of_ours_passes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_hooks(monkeypatch, [], {"simulator": GolemError("the node is gone")})
    with pytest.raises(GolemError, match="the node is gone"):
        hook_chain.run(plain_call(None))


def test_changed_parameters_stop_the_chain_and_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    changed = AllowModified(params={"slippage_bps": 50}, note="less slippage")
    replace_hooks(monkeypatch, asked, {"allowlist_guard": changed})
    report = hook_chain.run(plain_call(None))
    assert report.modified_params == {"slippage_bps": 50}
    assert asked == ["policy_cage", "allowlist_guard"]
    with pytest.raises(PolicyRejected):
        hook_chain.recheck(plain_call(None), simulate=False)


# ---- chaos: whatever a hook does but agree, nothing passes ----


class Bent:
    """A hook that answers what no hook may answer, or far too late."""

    def __init__(self, name: str, answer: Any = None, takes_ms: float = 0, spent: list[float] | None = None) -> None:
        self.name, self._answer, self._takes_ms, self._spent = name, answer, takes_ms, spent

    def check(self, call: HookCall) -> Any:
        if self._spent is not None:
            self._spent[0] += self._takes_ms
        return self._answer


def put(monkeypatch: pytest.MonkeyPatch, asked: list[str], name: str, hook: Any) -> None:
    replace_hooks(monkeypatch, asked, {})
    constant = name.upper()
    before = [hook if each.name == name else each for each in hook_chain._BEFORE_SIMULATION]
    monkeypatch.setattr(hook_chain, constant, hook)
    monkeypatch.setattr(hook_chain, "_BEFORE_SIMULATION", tuple(before))


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
@pytest.mark.parametrize("garbage", [None, True, "ALLOW", {"decision": "Allow"}, Allow, object()])
def test_a_hook_that_answers_garbage_refuses(monkeypatch: pytest.MonkeyPatch, name: str, garbage: Any) -> None:
    asked: list[str] = []
    put(monkeypatch, asked, name, Bent(name, garbage))
    for attempt in (
        lambda: hook_chain.run(plain_call(None)),
        lambda: hook_chain.recheck(plain_call(None), simulate=True),
    ):
        with pytest.raises(PolicyRejected) as refused:
            attempt()
        assert refused.value.data["rule"] == f"{name}.no_verdict"


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
@pytest.mark.parametrize(
    "error", [TimeoutError("late"), RuntimeError("x"), KeyError("x"), RecursionError(), MemoryError()]
)
def test_a_hook_that_fails_or_times_out_refuses(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    replace_hooks(monkeypatch, [], {name: error})
    with pytest.raises(PolicyRejected) as refused:
        hook_chain.recheck(plain_call(None), simulate=True)
    assert refused.value.data["rule"] == f"{name}.failed"


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
@pytest.mark.parametrize(("late_ms", "passes"), [(-1, True), (0, True), (1, False)])
def test_a_hook_that_answers_too_late_refuses(
    monkeypatch: pytest.MonkeyPatch, name: str, late_ms: float, passes: bool
) -> None:
    spent = [0.0]
    monkeypatch.setattr(clock, "monotonic_ms", lambda: spent[0])
    put(monkeypatch, [], name, Bent(name, Allow(note="late"), 15_000 + late_ms, spent))
    if passes:
        took = [decision["ms"] for decision in hook_chain.run(plain_call(None)).decisions]
        assert sorted(took) == [0, 0, 0, 0, 0, 15_000 + late_ms]
        return
    with pytest.raises(PolicyRejected) as refused:
        hook_chain.run(plain_call(None))
    assert refused.value.data["rule"] == f"{name}.too_slow"


@pytest.mark.parametrize("name", [constant.lower() for constant in HOOKS])
def test_a_call_goes_back_to_the_plan_once_and_never_twice(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    replace_hooks(monkeypatch, [], {name: AllowModified({"slippage_bps": 10}, "less")})
    assert hook_chain.run(plain_call(None)).modified_params == {"slippage_bps": 10}
    for attempt in (
        lambda: hook_chain.run(plain_call(None), may_modify=False),
        lambda: hook_chain.recheck(plain_call(None), simulate=False if name != "simulator" else True),
    ):
        with pytest.raises(PolicyRejected) as refused:
            attempt()
        assert refused.value.data["rule"] == f"{name}.modified_twice"


def test_a_decision_tells_its_time_in_tenths_of_a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = [0.0]
    monkeypatch.setattr(clock, "monotonic_ms", lambda: spent[0])
    put(monkeypatch, [], "rate_limiter", Bent("rate_limiter", Allow(), 0.17, spent))
    took = {decision["hook"]: decision["ms"] for decision in hook_chain.run(plain_call(None)).decisions}
    assert took["rate_limiter"] == 0.2


# ---- the rules on what was loaded beforehand, as the bench measures them ----

SITUATIONS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "nothing in the way": (None, {}),
    "halt": ("policy_cage.halted", {"golem": {"halt_reason": "x", "halted_at": NOW}}),
    "cage": ("policy_cage.max_concentration", {"cage": {"max_concentration_bps": 1}}),
    "allowlist": ("allowlist_guard.contract", {"unlisted": "CONTRACT"}),
    "limits": ("spending_limiter.per_transaction", {"limits": {"per_transaction_micro_usd": 1}}),
    "rate": ("rate_limiter.per_hour", {"limits": {"writes_per_hour": 0}}),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_hooks_1_to_4_decide_the_same_on_loaded_rules(live_golem: LiveGolem, situation: str) -> None:
    expected, changes = SITUATIONS[situation]
    call = swap_call(live_golem)
    for row in ("golem", "cage", "limits"):
        for column, value in changes.get(row, {}).items():
            setattr(getattr(call, row), column, value)
    kept = frozenset(entry for entry in call.allowlist if entry[0] != changes.get("unlisted"))
    call = replace(call, allowlist=kept)
    verdict = hook_chain.decide(call, hook_chain.load_rules(call))
    assert (verdict.rule if isinstance(verdict, Reject) else None) == expected
    try:
        hook_chain.run(call)
        refused = None
    except (PolicyRejected, GolemHalted) as error:
        refused = error.data["rule"]
    assert refused == expected


def test_without_what_the_golem_holds_nothing_larger_is_decided(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    verdict = hook_chain.decide(call, replace(hook_chain.load_rules(call), holdings=None))
    assert isinstance(verdict, Reject) and verdict.rule == "policy_cage.unknown"
