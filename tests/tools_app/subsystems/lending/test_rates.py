"""What every lender of the shelf asks and pays stands in one table, the best first."""

from __future__ import annotations

import pytest

import tools_app.subsystems.lending.read_tools  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context

LENDERS = ("aave_v3", "spark", "morpho", "moonwell", "maker")


@pytest.mark.protocols(*LENDERS)
@pytest.mark.parametrize(("kind", "lenders"), [("borrow", LENDERS), ("supply", LENDERS[:4])])
def test_the_rates_of_all_lenders_are_compared(chain: World, kind: str, lenders: tuple[str, ...]) -> None:
    rows = answer_of(make_context(chain), "lending_compare_rates", asset="DAI", rate_type=kind)["rates"]
    assert {row["protocol"] for row in rows} == set(lenders)
    rates = [float(row["apy"]) for row in rows]
    assert rates == sorted(rates, reverse=kind == "supply")
