"""The likeliest mistakes where a yield is earned, each over HTTP: refused with figures, and mended by the answer alone.

An agent knows what it means (the case as it stands beside its tool) and says it wrongly. It then does what the answer
says and nothing else: it makes the call that is named, with what `fill` asks for taken from what `fill` tells. That
call is accepted, and says everything that was said and not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from tests.catalogue.door import CASES, Door
from tests.catalogue.shelf import find_write, symbols
from tools_app.toolkit.case import Case
from tools_app.toolkit.tooldef import WriteTool

TEN = 10
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "pendle": ("pendle_",),
    "yearn": ("yearn_",),
    "ethena": ("ethena_",),
    "spark": ("spark_",),
    "maker": ("maker_",),
    "curve": ("curve_", "convex_"),
    "eigenlayer": ("eigenlayer_",),
    "liquid_restaking": ("lrt_",),
    "erc4626": ("vault_", "savings_"),
    "compound_v3": ("compound_v3_",),
    "moonwell": ("moonwell_",),
}
"""By the protocol on whose code they are tried, how the names of its cases begin."""
SLIPS: tuple[tuple[str, Any], ...] = (("chain_id", 10), ("chain_id", "mainnet"))
"""What may be said wrongly in any call."""
OF_AMOUNTS: tuple[Any, ...] = ("1.5", "1,000", "-1", "0x10", "everything")
AMOUNTS = ("amount", "shares", "lp_amount", "dai_amount", "amounts")
"""Names of parameters that say how much."""
OF_HOW_MUCH = {*AMOUNTS, "slippage_bps", "min_lp_tokens", "max_loss_bps"}


@dataclass(frozen=True)
class Mistake:
    """A case with some of its parameters said wrongly, and the code it is refused with."""

    case: str
    changes: Mapping[str, Any]
    code: str

    def __str__(self) -> str:
        return f"{self.case} with {dict(self.changes)}"


def list_mistakes(folder: str) -> Iterator[Mistake]:
    """Those that stand beside the cases, and slips of the pen in each way in."""
    seen: set[str] = set()
    for name, filed in CASES.items():
        if not name.startswith(FOLDERS[folder]):
            continue
        yield from (Mistake(name, changes, code) for changes, code in filed.case.refuses)
        if filed.case.tool in seen:
            continue
        seen.add(filed.case.tool)
        for parameter, value in SLIPS:
            tool = find_write(filed.case)
            if parameter in tool.schema["properties"] and 10 not in (tool.supported_chains or (10,)):
                code = "CHAIN_NOT_SUPPORTED" if isinstance(value, int) else "INVALID_PARAMS"
                yield Mistake(name, {parameter: value}, code)
        amount = next((each for each in AMOUNTS if isinstance(filed.case.params.get(each), str)), None)
        if amount is not None:
            yield from (Mistake(name, {amount: value}, "INVALID_PARAMS") for value in OF_AMOUNTS)


def post_what_is_told(
    door: Door,
    tool: WriteTool,
    problem: Mapping[str, Any],
    meant: Mapping[str, Any],
    accepted: list[dict[str, Any]],
) -> str:
    """Make the call that the answer names; what is wrong with it, empty where it is accepted."""
    for name in ("first_call", "or_call"):
        if name in problem:
            return _post(door, problem[name]["tool"], problem[name]["arguments"], accepted)
    call = problem.get("unfinished_call") or problem.get("next_call")
    if call is None:
        return "nothing is told"
    told = {name: _choose(allowed, meant.get(name)) for name, allowed in problem.get("fill", {}).items()}
    if None in told.values():
        return f"asks for {sorted(told)}, of which something was never meant"
    said = {"action_type": tool.key, "venue": tool.venue, **meant}
    other = {
        name: value for name, value in call["arguments"].items() if name not in told and said.get(name, value) != value
    }
    if other:
        return f"says {other}"
    return _post(door, call["tool"], {**call["arguments"], **told}, accepted)


def _choose(allowed: Mapping[str, Any], meant: Any) -> Any:
    """What was meant where that is one of what there is; a figure that is told as it is told."""
    if "one_of" in allowed:
        names = (meant, symbols().get(meant) if isinstance(meant, str) else None)
        return next((each for each in names if each in allowed["one_of"]), allowed["one_of"][0])
    return allowed.get("most", allowed.get("least", meant))


def _post(door: Door, tool: str, arguments: dict[str, Any], accepted: list[dict[str, Any]]) -> str:
    same = {name: symbols().get(str(value), value) for name, value in arguments.items() if name != "chain_id"}
    if same in accepted:
        # The same again would ask owners the same again.
        return ""
    answer = door.post(tool, arguments)
    if answer["http"] != 200:
        return f"{arguments} is refused with {answer['code']}: {answer['detail']}"
    if "permit_id" in answer:
        door.post("cancel_action", {"permit_id": answer["permit_id"], "reason": "only a lesson"})
    accepted.append(same)
    return ""


def find_wrong(door: Door, mistake: Mistake, accepted: list[dict[str, Any]]) -> str:
    """What is wrong with the answer to a mistake; empty where it is refused as it should and mended by it."""
    case = CASES[mistake.case].case
    meant, before = door.stage.params(case), door.stage.wallet()
    problem = door.preview(case, **mistake.changes)
    if problem.get("code") != mistake.code:
        return f"is answered with {problem.get('code')}: {problem.get('detail')}"
    if not (400 <= problem["http"] < 500 and problem["detail"] and problem["recovery"] and problem["title"]):
        return f"is refused without words: {problem}"
    if "permit_id" in problem or door.stage.wallet() != before:
        return "something happened"
    if set(mistake.changes) & OF_HOW_MUCH and not any(map(str.isdigit, f"{problem['detail']}{problem.get('fill')}")):
        return f"is refused without a figure: {problem['detail']}"
    if problem["recovery"] not in ("FIX_PARAMS", "CHECK_STATE"):
        return "" if problem.get("cleared_by") else "nobody says what ends it"
    if _has_nothing(problem):
        return ""
    fields = find_write(case).schema["properties"]
    usual = {name: fields[name].get("default") for name in mistake.changes}
    meant = {**usual, "chain_id": door.agent.golem.home_chain_id, **meant}
    wrong = post_what_is_told(door, find_write(case), problem, meant, accepted)
    return wrong and f"{problem['code']} is not mended: {wrong}"


def _has_nothing(problem: Mapping[str, Any]) -> bool:
    """No amount is right where there is none of it."""
    return "0" in (problem.get("most"), problem.get("available"), problem.get("pending"), problem.get("staked"))


@pytest.mark.parametrize(
    "folder", [pytest.param(each, marks=[pytest.mark.protocols(each), pytest.mark.one_of_many]) for each in FOLDERS]
)
def test_what_is_said_wrongly_is_refused_with_figures_and_mended_by_the_answer_alone(door: Door, folder: str) -> None:
    listing = "eigenlayer_get_operators"
    ToolOverride.objects.create(golem=door.agent.golem, tool_name=listing, mode=OverrideMode.INCLUDE)
    wrong, done = [], set(door.stage.done)
    tried = list(list_mistakes(folder))
    for name in dict.fromkeys(each.case for each in tried):
        case = CASES[name].case
        with door.stage.apart():
            door.stage.prepare(Case(case.tool, {}, case.is_a, after=case.after, given=case.given))
            accepted: list[dict[str, Any]] = []
            found = {str(each): find_wrong(door, each, accepted) for each in tried if each.case == name}
        door.stage.done = set(done)
        wrong += [f"{mistake} {words}" for mistake, words in found.items() if words]
    assert len(tried) >= TEN and not wrong, "\n".join(wrong)
