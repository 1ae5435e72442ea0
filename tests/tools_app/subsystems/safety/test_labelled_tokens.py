"""Thirty hostile tokens are told as dangerous before they are bought, and none of thirty fair ones is accused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.subsystems.safety.labelled_tokens import FAIR, REGISTERED, TRAPS, UNSEEN, list_in_a_pool


def check(chain: World, token: str) -> Any:
    return answer_of(make_context(chain), "safety_validate_token", token=token)


@pytest.mark.parametrize("name", TRAPS)
def test_a_token_that_cannot_be_sold_as_it_was_bought_is_dangerous(chain: World, name: str) -> None:
    told = check(chain, list_in_a_pool(chain, *TRAPS[name]))
    assert told["risk_level"] == "Dangerous", told
    # What the local node does not show in a simulation is told by the code, and no trial shows it.
    assert told["is_honeypot"] is (name != "behaves without a base fee")


@pytest.mark.parametrize("name", UNSEEN)
def test_a_trap_that_was_written_after_the_trial_is_dangerous_too(chain: World, name: str) -> None:
    told = check(chain, list_in_a_pool(chain, *UNSEEN[name]))
    assert told["risk_level"] == "Dangerous", told


@pytest.mark.parametrize("name", FAIR)
def test_a_fair_token_with_a_habit_is_not_accused(chain: World, name: str) -> None:
    told = check(chain, list_in_a_pool(chain, *FAIR[name]))
    assert told["risk_level"] == "Caution" and told["is_honeypot"] is False, told
    assert told["has_liquidity"] and told["transfer_tax_buy_bps"] is not None


@pytest.mark.parametrize("symbol", REGISTERED)
def test_a_registered_token_is_not_accused(chain: World, symbol: str) -> None:
    told = check(chain, symbol)
    assert told["risk_level"] in {"Safe", "Caution"} and told["is_honeypot"] is False, told
