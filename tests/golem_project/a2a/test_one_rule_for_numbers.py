"""A number is what it is worth at every door: REST, MCP and A2A take and refuse the same, each by its own client."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from tests.golem_project.a2a.conftest import Line, answer_of, ask, run, send
from tests.golem_project.pi.test_mcp_door import call

pytestmark = pytest.mark.django_db(transaction=True)

SWAP = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("search_context", {"query": "how do I leave"}, "limit"),
    ("query_state", {"query": "quote", **{k: v for k, v in SWAP.items() if k != "action_type"}}, "chain_id"),
    ("preview_action", SWAP, "slippage_bps"),
]
GOOD = {"limit": 5, "chain_id": 31337, "slippage_bps": 50}
SPELT: list[tuple[str, Callable[[int], Any], bool]] = [
    ("5", int, True),
    ("5.0", float, True),
    ('"5"', str, False),
    ("5.5", lambda n: n + 0.5, False),
]


def _over_rest(line: Line, tool: str, body: dict[str, Any]) -> str:
    headers = {"Authorization": f"Bearer {line.token}"}
    base = line.url.partition("/a2a/")[0]
    answer = httpx.post(f"{base}/api/v1/pi/{tool}", json=body, headers=headers, timeout=60)
    return "" if answer.status_code < 300 else str(answer.json()["code"])


def _over_mcp(line: Line, tool: str, body: dict[str, Any]) -> str:
    port = int(line.url.split(":")[2].partition("/")[0])
    answer = call(port, line.token, tool, body)
    return str(answer.structured_content["code"]) if answer.is_error else ""


def _over_a2a(line: Line, tool: str, body: dict[str, Any], binding: str) -> str:
    async def play() -> dict[str, Any]:
        async with line.open(binding=binding) as client:
            told: dict[str, Any] = (await send(client, ask(tool, body)))[-1]["task"]
            return told

    task = run(play())
    if "artifacts" in task:
        answer_of(task)
        return ""
    return str(task["status"]["message"]["parts"][1]["data"]["code"])


DOORS: dict[str, Callable[[Line, str, dict[str, Any]], str]] = {
    "REST": _over_rest,
    "MCP": _over_mcp,
    "A2A": partial(_over_a2a, binding="JSONRPC"),
    "A2A over HTTP": partial(_over_a2a, binding="HTTP+JSON"),
}


@pytest.mark.parametrize(("tool", "body", "name"), ASKED, ids=[each[0] for each in ASKED])
def test_the_same_number_is_taken_or_refused_at_every_door_however_it_is_spelt(
    line: Line, settings: Any, tool: str, body: dict[str, Any], name: str
) -> None:
    settings.GOLEM_MCP = True
    told = {}
    for number, (spelling, spell, is_taken) in enumerate(SPELT):
        codes = {}
        for place, (door, ask_there) in enumerate(DOORS.items()):
            asked = {**body, name: spell(GOOD[name])}
            if "amount" in asked:
                # What is asked again and again is refused as a loop.
                asked["amount"] = str(500_000_000 + 10 * number + place)
            codes[door] = ask_there(line, tool, asked)
        if set(codes.values()) != {"" if is_taken else "INVALID_PARAMS"}:
            told[spelling] = codes
    assert told == {}


def test_an_amount_spelt_as_a_double_is_that_amount(line: Line) -> None:
    assert _over_rest(line, "preview_action", {**SWAP, "amount": 500_000_000.0}) == ""
    assert _over_a2a(line, "preview_action", {**SWAP, "amount": 400_000_000}, "JSONRPC") == ""
    assert _over_rest(line, "preview_action", {**SWAP, "amount": 1e18}) == "INVALID_PARAMS"
