"""What a halt sells: what the wallet has enough of, else the loan's cover, else a part where nothing is left."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from permits_app.execution import halt_debt_sales
from permits_app.execution.halt_debt_sales import _Sold, plan_sale
from tools_app.core import clock

ENOUGH, PART = _Sold("WETH", 7, is_enough=True), _Sold("WETH", 7, is_enough=False)


@pytest.mark.parametrize(
    ("sold", "cover", "is_needed", "planned"),
    [
        (ENOUGH, "cover", False, "holdings"),
        (ENOUGH, None, False, "holdings"),
        (PART, "cover", True, "cover"),
        (PART, None, True, "holdings"),
        (PART, None, False, None),
        (None, "cover", False, "cover"),
        (None, None, True, None),
    ],
)
def test_a_part_is_sold_only_where_nothing_pays_all_and_no_other_step_is_left(
    sold: _Sold | None, cover: str | None, is_needed: bool, planned: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []

    def sell(*, token: str, amount: int, **_: Any) -> str:
        asked.append((token, amount))
        return "holdings"

    monkeypatch.setattr(halt_debt_sales, "measure_holdings", lambda **_: None)
    monkeypatch.setattr(halt_debt_sales, "_choose_sold", lambda *_: sold)
    monkeypatch.setattr(halt_debt_sales, "find_best_sale", sell)
    monkeypatch.setattr(halt_debt_sales, "_sell_cover", lambda *_: cover)
    found = plan_sale(
        golem=SimpleNamespace(address="0x"),  # type: ignore[arg-type]
        position=None,  # type: ignore[arg-type]
        step=SimpleNamespace(token="USDC", raw=9),  # type: ignore[arg-type]
        is_needed=is_needed,
        chain=SimpleNamespace(token=lambda name: name),
        now=clock.now(),
        may_sign=lambda _: True,
    )
    assert found == planned
    assert asked == ([("WETH", 7)] if planned == "holdings" else [])


@pytest.mark.parametrize(("signable", "taken"), [({"best"}, "best"), ({"second", "third"}, "third"), (set(), None)])
def test_the_best_way_that_a_halt_may_not_sign_gives_way_to_the_best_that_it_may(
    signable: set[str], taken: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    brings = {"best": 9, "second": 7, "third": 8}

    def plan(tool: Any, asked: dict[str, Any], *_: Any) -> Any:
        name = asked.get("route", "best")
        flow = SimpleNamespace(expected=brings[name])
        return SimpleNamespace(name=name, receives=(flow,), details={"other_routes": ["second", "third"]})

    monkeypatch.setattr(halt_debt_sales, "_plan", plan)
    found = halt_debt_sales._plan_signable(
        None,  # type: ignore[arg-type]
        {},
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        clock.now(),
        lambda each: each.name in signable,  # type: ignore[attr-defined]
    )
    assert getattr(found, "name", None) == taken
