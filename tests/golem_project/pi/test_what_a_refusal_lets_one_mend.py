"""Which parameter a tool's figures are about, and what it may be: put beside its name, and never chosen."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.pi.repair_from_refusal import find_fill, tell_figures
from tools_app.toolkit.views import NATIVE


@pytest.mark.parametrize(
    ("key", "said", "name"),
    [
        ("markets", {"market": "a"}, "market"),
        ("markets", {"pt": "a", "asset": "b"}, "pt"),
        ("markets", {"asset": "b"}, "asset"),
        ("vaults", {"vault": "a", "vault_id": 1}, "vault"),
        ("vaults", {"vault_id": 1}, "vault_id"),
        ("pools", {"pool": "a"}, "pool"),
        ("tokens", {"token": "a"}, "token"),
        ("request_ids", {"request_id": "1"}, "request_id"),
        ("waiting", {"withdrawal_root": "0x"}, "withdrawal_root"),
        ("supported_chain_ids", {"chain_id": 5}, "chain_id"),
    ],
)
def test_a_list_of_what_there_is_belongs_to_the_parameter_that_names_one_of_it(
    key: str, said: dict[str, Any], name: str
) -> None:
    assert find_fill({key: ["x", "y"]}, said) == {name: {"one_of": ["x", "y"]}}
    nothing: Any
    for nothing in ([], "x", None):
        assert find_fill({key: nothing}, said) == {}
    assert find_fill({key: ["x"]}, {"other": "a"}) == {}


@pytest.mark.parametrize("key", ["most", "held", "room"])
@pytest.mark.parametrize("name", ["amount", "shares", "lp_amount", "dai_amount"])
def test_the_most_that_passes_is_said_of_the_amount_that_was_too_much(key: str, name: str) -> None:
    fill = {name: {"most": "7", "unit": "base units"}}
    assert find_fill({key: "7"}, {name: "8"}) == fill
    assert find_fill({key: "7"}, {name: 8}) == fill
    assert find_fill({key: "7"}, {name: "max"}) == fill
    # It was no more than that: something else is wrong.
    assert find_fill({key: "7"}, {name: "7"}) == find_fill({key: "7"}, {name: 6}) == {}
    assert find_fill({key: "7"}, {name: ["8"]}) == find_fill({key: "7"}, {}) == {}
    for nothing in ("0", "x", 7, None):
        assert find_fill({key: nothing}, {name: "8"}) == {}


def test_the_first_amount_that_was_said_is_meant_and_the_first_figure_that_is_one() -> None:
    assert list(find_fill({"most": "7"}, {"shares": "9", "amount": "8"})) == ["amount"]
    told = {"room": "5", "held": "6", "most": "0"}
    assert find_fill(told, {"amount": "8"}) == {"amount": {"most": "6", "unit": "base units"}}


def test_what_is_available_is_of_the_shares_asked_for_only_where_shares_are_missing() -> None:
    told = {"available": "5"}
    assert find_fill(told, {"shares": "8"}) == {}
    fill = {"shares": {"most": "5", "unit": "base units"}}
    assert find_fill({**told, "code": "VAULT_SHARES_MISSING"}, {"shares": "8"}) == fill
    assert find_fill({**told, "needed": "8"}, {"shares": "8"}) == fill


def test_what_was_needed_is_found_among_what_was_said_also_in_a_list() -> None:
    told = {"needed": "8", "held": "5"}
    assert find_fill(told, {"other": "9", "sell": 8}) == {"sell": {"most": "5", "unit": "base units"}}
    assert find_fill(told, {"amounts": ["3", "8"]}) == {"amounts": {"most": ["3", "5"], "unit": "base units"}}
    # Of what pays for gas some has to stay: what is held is no figure that passes.
    assert find_fill({**told, "token": NATIVE}, {"sell": "8"}) == {"sell": {"held": "5", "unit": "base units"}}
    assert find_fill(told, {"amount": "9"}) == {}
    assert find_fill({"needed": "8"}, {"sell": "8"}) == {}


def test_what_a_tool_says_itself_goes_before_what_is_worked_out() -> None:
    told = {"fill": {"slippage_bps": {"least": "50"}}, "most": "7", "pools": ["x"]}
    assert find_fill(told, {"amount": "8", "pool": "y"}) == {"slippage_bps": {"least": "50"}}


def test_the_call_is_told_without_what_has_to_be_said_anew() -> None:
    body = {"action_type": "swap", "venue": None, "params": {"amount": "8", "token": "a"}, "token": "b"}
    assert tell_figures({"most": "7"}, body, queries=()) == {
        "unfinished_call": {"tool": "preview_action", "arguments": {"action_type": "swap", "token": "b"}},
        "fill": {"amount": {"most": "7", "unit": "base units"}},
    }
    flat = {"amount": "8", "params": "text"}
    assert tell_figures({"most": "7"}, flat, queries=())["unfinished_call"]["arguments"] == {}
    assert tell_figures({}, body, queries=()) == {}


def test_what_to_do_instead_is_a_read_the_golem_has_or_an_action_that_is_whole() -> None:
    read = {"query": "vault_list", "chain_id": 1}
    told = tell_figures({"next": read, "most": "7"}, {"amount": "8"}, queries=["vault_list"])
    assert told == {"or_call": {"tool": "query_state", "arguments": read}}
    assert tell_figures({"next": read}, {"amount": "8"}, queries=["other"]) == {}
    action = {"action_type": "wrap", "venue": "weth", "amount": "8"}
    assert tell_figures({"next": action}, {}, queries=()) == {
        "first_call": {"tool": "preview_action", "arguments": action}
    }
    assert tell_figures({"next": {"action_type": "wrap", "venue": "weth"}}, {}, queries=()) == {}
