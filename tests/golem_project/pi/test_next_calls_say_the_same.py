"""A `next_call` says what was said, to the letter of its meaning, and is accepted itself; else the answer asks.

Mistakes are drawn: what was meant, with up to three slips in it. A slip either leaves the meaning plain (another
spelling of a name, a number in quotes) or makes it doubtful (a slippage in an unknown unit, an amount in words, a
recipient that the action does not take). Where all of them are plain the call that is taught is the one that was
meant; where one is doubtful none is taught.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from golem_project.pi.suggest_next_call import teach
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.pi.test_add_next_call import EVERYTHING, WRONG
from tools_app.toolkit.enums import PiTool

pytestmark = pytest.mark.django_db(transaction=True)

Body = dict[str, Any]
Slip = Callable[[Body], bool]
"""Changes a body in place; whether the meaning stays plain. Raises KeyError where there is nothing to slip on."""

MEANT: list[tuple[str, Body]] = [
    (
        "preview_action",
        {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "5"},
    ),
    (
        "preview_action",
        {
            "action_type": "swap",
            "venue": "uniswap",
            "token_in": "DAI",
            "token_out": "WETH",
            "amount": "10000000000000000",
            "exact_output": True,
            "chain_id": 8453,
            "slippage_bps": 30,
        },
    ),
    (
        "query_state",
        {
            "query": "quote",
            "venue": "uniswap",
            "token_in": "DAI",
            "token_out": "WETH",
            "amount": "10000000000000000",
            "exact_output": True,
            "chain_id": 1,
        },
    ),
    ("preview_action", {"action_type": "supply", "venue": "aave", "asset": "USDC", "amount": "7000000", "chain_id": 1}),
    ("preview_action", {"action_type": "borrow", "venue": "aave", "asset": "USDC", "amount": "7000000"}),
]


def _rename(old: str, new: str, *, is_plain: bool = True) -> Slip:
    def slip(body: Body) -> bool:
        body[new] = body.pop(old)
        return is_plain

    return slip


def _write(name: str, write: Callable[[Any], Any], *, is_plain: bool) -> Slip:
    def slip(body: Body) -> bool:
        body[name] = write(body[name])
        return is_plain

    return slip


def _add(name: str, value: Any, *, is_plain: bool) -> Slip:
    def slip(body: Body) -> bool:
        body[name] = value
        return is_plain

    return slip


def _replace(old: str, new: str, value: Any) -> Slip:
    def slip(body: Body) -> bool:
        body.pop(old)
        body[new] = value
        return False

    return slip


def _amount_in(body: Body) -> bool:
    body["amountIn"] = body.pop("amount")
    return not body.get("exact_output", False)


def _nest(body: Body) -> bool:
    inner = {name: body.pop(name) for name in ("token_in", "token_out")}
    body["params"] = json.dumps(inner)
    return True


NAMES = {8453: "Base", 1: "ethereum"}
SLIPS: list[Slip] = [
    _rename("token_in", "tokenIn"),
    _rename("token_in", "from"),
    _rename("token_out", "to"),
    _rename("token_out", "buy_token"),
    _rename("amount", "Amount"),
    _rename("amount", "quantity"),
    _rename("exact_output", "exactOutput"),
    _rename("slippage_bps", "slippageBps"),
    _rename("asset", "token"),
    _amount_in,
    _nest,
    _write("slippage_bps", str, is_plain=True),
    _write("slippage_bps", lambda bps: [bps], is_plain=True),
    _write("slippage_bps", lambda bps: bps / 100, is_plain=False),
    _write("slippage_bps", lambda bps: f"{bps / 100}%", is_plain=False),
    _write("slippage_bps", lambda _: 20_000, is_plain=False),
    _replace("slippage_bps", "slippage", 0.5),
    _replace("slippage_bps", "slippage", 1),
    _replace("slippage_bps", "max_slippage", "1"),
    _write("chain_id", NAMES.__getitem__, is_plain=True),
    _write("chain_id", str, is_plain=True),
    _write("chain_id", lambda _: "the usual one", is_plain=False),
    _replace("chain_id", "chain", "moonbase"),
    _write("exact_output", lambda _: "true", is_plain=True),
    _write("exact_output", lambda _: "yes", is_plain=False),
    _write("exact_output", lambda _: 2, is_plain=False),
    _write("amount", lambda _: "1.5", is_plain=False),
    _write("amount", lambda _: "max", is_plain=False),
    _write("amount", lambda _: "1,000", is_plain=False),
    _write("amount", lambda _: -5, is_plain=False),
    _write("amount", lambda amount: [amount], is_plain=True),
    _add("recipient", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", is_plain=False),
    _add("min_amount_out", "5", is_plain=False),
    _add("side", "sell", is_plain=False),
    _add("network", "moonbase", is_plain=False),
    _add("urgent", True, is_plain=True),
    _add("idempotency_key", "x", is_plain=True),
]
DRAWS = 250


def _draw(rng: random.Random) -> tuple[str, Body, Body, bool] | None:
    """The tool, what was meant, what was said, and whether it is plain; None where two slips met in one place."""
    tool, meant = rng.choice(MEANT)
    said, is_plain = dict(meant), True
    for slip in rng.sample(SLIPS, rng.choice((1, 1, 2, 3))):
        try:
            is_plain = slip(said) and is_plain
        except (KeyError, TypeError):
            return None
    return tool, meant, said, is_plain


def test_a_call_that_is_taught_is_the_one_that_was_meant_and_is_accepted(
    make_agent: MakeAgent, tasks_here: None
) -> None:
    agent = make_agent(categories=EVERYTHING)
    rng, taught, asked, wrong = random.Random(37), 0, 0, []
    while taught + asked < DRAWS:
        drawn = _draw(rng)
        if drawn is None:
            continue
        tool, meant, said, is_plain = drawn
        problem = agent.post(tool, said).json()
        if problem.get("code") not in WRONG:
            # Refused later for want of a chain: the slip was none.
            asked += 1
            continue
        call = problem.get("next_call")
        taught, asked = taught + (call is not None), asked + (call is None)
        if call is None:
            if is_plain:
                wrong.append(("asks for what is plain", said, problem))
            elif not (problem.get("fill") or problem.get("drops")):
                wrong.append(("neither taught nor asked", said, problem))
        elif not is_plain or call != {"tool": tool, "arguments": meant}:
            wrong.append(("says another thing", said, call))
        elif _is_refused(agent, call):
            wrong.append(("is refused itself", said, call))
    assert wrong == [], wrong[:3]
    assert taught > DRAWS // 5


def _is_refused(agent: Agent, call: Body) -> bool:
    return agent.post(call["tool"], call["arguments"]).json().get("code") in WRONG


def test_what_is_dropped_from_an_action_is_told_and_makes_the_call_an_unfinished_one() -> None:
    said = {"action_type": "swap", "token_in": "USDC", "recipient": "0x1"}
    lesson = teach(
        {
            "code": "INVALID_PARAMS",
            "fields": {"recipient": "this parameter does not exist here"},
            "allowed": ["token_in"],
        },
        tool=str(PiTool.PREVIEW_ACTION),
        body=said,
        words=["swap"],
        describe=lambda key, _: {"properties": {"token_in": {"type": "string"}}} if key else None,
    )
    assert (lesson["extra"], lesson["drops"]) == (["recipient"], ["recipient"])
    assert "next_call" not in lesson
    assert lesson["unfinished_call"]["arguments"] == {"action_type": "swap", "token_in": "USDC"}
