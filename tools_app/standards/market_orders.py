"""A trade for a tool that is no market itself: whichever swap tool of the registry gives most, named by no one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.result import encode_result
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import ReadTool, WriteTool

SWAP, QUOTE = "swap", "quote"
_NOT_HERE: Final = (Recovery.FIX_PARAMS, Recovery.GIVE_UP)


def find_swap(
    ctx: WriteContext, *, chain_id: int, sold: str, bought: str, amount: int, slippage_bps: int
) -> TxPlan | None:
    """The plan of the swap that gives most of `bought` for `amount` of `sold` (addresses); None where none trades it.

    Raises what the chain raises; a market that does not know the pair or cannot take the amount is passed over.
    """
    quiet = replace(ctx, report_step=_say_nothing)
    wanted = {
        "token_in": sold,
        "token_out": bought,
        "amount": str(amount),
        "chain_id": chain_id,
        "slippage_bps": slippage_bps,
    }
    found: list[TxPlan] = []
    for tool in REGISTRY:
        if not isinstance(tool, WriteTool) or tool.key != SWAP or not tool.supports_chain(chain_id):
            continue
        try:
            found.append(tool.build_plan(quiet, validate_params(tool.params_model, wanted)))
        except GolemError as error:
            # A pair it cannot trade is an answer; a node that is away is not.
            if error.next_step not in _NOT_HERE:
                raise
    return max(found, key=lambda plan: plan.receives[0].expected, default=None)


def quote_swap(ctx: ReadContext, *, chain_id: int, sold: str, bought: str, amount: int) -> int | None:
    """The most of `bought` that a market gives for `amount` of `sold` (addresses) now; None where none trades it."""
    if not amount:
        return None
    asked = {"token_in": sold, "token_out": bought, "amount": str(amount), "chain_id": chain_id}
    quiet = replace(ctx, report_step=_say_nothing)
    found: list[int] = []
    for tool in REGISTRY:
        if not isinstance(tool, ReadTool) or tool.key != QUOTE or not tool.supports_chain(chain_id):
            continue
        wanted = {name: value for name, value in asked.items() if name in tool.params_model.model_fields}
        try:
            answer = encode_result(tool.handler(quiet, **validate_params(tool.params_model, wanted)))
        except GolemError as error:
            if error.next_step not in _NOT_HERE:
                raise
            continue
        if isinstance(answer, dict) and str(answer.get("amount_out", "")).isdecimal():
            found.append(int(answer["amount_out"]))
    return max(found, default=None)


def _say_nothing(_: str) -> None:
    """The steps of a tool inside another are not that one's."""
