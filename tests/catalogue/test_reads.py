"""Every read of the shelf tells what is worked out another way, refuses what it says, and is short and quick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.catalogue.looking import find_at, find_wrong_told, is_same
from tests.catalogue.orders import ORDERS, find_out_of_order
from tests.catalogue.said_steps import SaidSteps
from tests.catalogue.shelf import FiledReads, load_cases, load_reads
from tests.catalogue.stage import Stage, open_stage
from tests.live_golem import LiveGolem
from tools_app.toolkit.case import About, Case, ReadCase
from tools_app.toolkit.enums import ActionClass

READS = load_reads()
STEPS = SaidSteps({folder: [case.tool for case in filed.cases] for folder, filed in READS.items()})


def in_turn(filed: FiledReads) -> Iterator[ReadCase]:
    """Those that need nothing first, and those that others changed the world for last."""
    yield from sorted(filed.cases, key=lambda case: (bool(case.given), len(case.after)))


def look_at(stage: Stage, case: ReadCase, protocol: str) -> list[str]:
    earlier = Case(case.tool, {}, ActionClass.REBALANCE, after=case.after, given=case.given)
    if not case.given:
        stage.prepare(earlier)
        return find_wrong_told(stage, case, protocol)
    done = set(stage.done)
    with stage.apart():
        stage.prepare(earlier)
        wrong = find_wrong_told(stage, case, protocol)
    stage.done = done
    return wrong


@pytest.mark.parametrize(
    "folder", [pytest.param(name, marks=pytest.mark.protocols(*filed.worlds)) for name, filed in READS.items()]
)
def test_every_read_of_a_folder_tells_what_is_worked_out_another_way(folder: str, live_golem: LiveGolem) -> None:
    stage, filed = open_stage(live_golem, load_cases()), READS[folder]
    with STEPS.heard(folder):
        wrong = [each for case in in_turn(filed) for each in look_at(stage, case, filed.protocol)]
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tells": {"balance": 1}}, "balance is"),
        ({"tells": {"balance": lambda look: look.balance("WETH")}}, "worked out another way"),
        ({"tells": {"owner.name": "somebody"}}, "owner.name is nothing"),
        ({"tells": {"sufficient": 0}}, "sufficient is False"),
        ({"refuses": (({"token": "WETH"}, "TOKEN_NOT_FOUND"),)}, "passes"),
        ({"refuses": (({"token": "NOTOKEN"}, "INVALID_PARAMS"),)}, "is refused with TOKEN_NOT_FOUND"),
        ({"most_exchanges": 0}, "exchanges with the node"),
        ({"most_characters": 10}, "characters"),
        ({"params": {"token": "USDC", "amount": 5}}, "its own schema"),
    ],
)
def test_what_a_read_case_says_and_is_not_so_is_found(
    changes: dict[str, Any], says: str, live_golem: LiveGolem
) -> None:
    case = next(each for each in READS["uniswap"].cases if each.tool == "uniswap_check_allowance")
    stage = open_stage(live_golem, load_cases())
    wrong = find_wrong_told(stage, replace(case, **changes), READS["uniswap"].protocol)
    assert any(says in each for each in wrong), wrong


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("12", 12, True),
        ("12.5", 12, False),
        (True, 1, False),
        ("3.000001", About(3_000_000, 1), True),
        ("3.01", About(3_000_000, 1), False),
        ("12.5%", About(12_500_000, 1), True),
        ("about 3", About(3, 10_000), False),
        (None, About(0, 0), False),
        ([1, "2"], (1, 2), True),
        ([1], (1, 2), False),
    ],
)
def test_digits_as_text_are_the_number_and_nothing_else_is(found: Any, wanted: Any, same: bool) -> None:
    assert is_same(found, wanted) is same


def test_a_path_finds_members_of_lists_by_what_they_say() -> None:
    told = {"rows": [{"name": "a", "in": {"n": 1}}, {"name": "b", "in": {"n": 2}}]}
    assert find_at(told, "rows[name=b].in.n") == 2
    assert find_at(told, "rows.0.name") == "a"
    assert find_at(told, "rows.#") == 2
    nothing = find_at(told, "rows[name=c].in.n")
    assert nothing is find_at(told, "rows.7") and nothing is find_at(told, "nowhere")


def test_every_order_that_is_written_down_is_of_a_read_with_a_case() -> None:
    asked = {case.tool for filed in READS.values() for case in filed.cases}
    assert sorted({line.partition(" ")[0] for line in ORDERS} - asked) == []


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"pools": [{"tvl_usd": "5.0"}, {"tvl_usd": "12.0"}]}, "another order"),
        ({"pools": [{"tvl_usd": None}, {"tvl_usd": "5.0"}]}, "another order"),
        ({"pools": [{"tvl_usd": "12.0"}, {"tvl_usd": "5.0"}, {"tvl_usd": None}]}, ""),
        ({"pools": [{"tvl_usd": "5.0"}], "more": {"names": ["a", "b"]}}, "more.names has several members, and no line"),
        ({"pools": [{"tvl_usd": "5.0"}], "more": {"names": ["a"]}}, ""),
    ],
)
def test_a_list_in_another_order_and_one_without_a_line_are_found(told: dict[str, Any], says: str) -> None:
    found = " ".join(find_out_of_order("data_get_pools_by_token", told))
    assert says in found and bool(found) is bool(says)
