"""Which quotes a question about a route will likely need: those that the same question before it asked for.

They travel with the reads of the pools, so that a route mostly costs no round trip of its own for its quotes. What the
pools say at the block decides as ever what is asked for; what was asked for in vain is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.paths import Path, TransferFees
from tools_app.protocols.uniswap.quoting import RouteQuote, quoter_call
from tools_app.toolkit.context import ChainReader

MOST_ASKED: Final = 4
_MOST_REMEMBERED: Final = 1_000


class QuoteQuestion(NamedTuple):
    """What two questions share that likely need the same quotes."""

    chain_id: int
    token_in: str
    token_out: str
    is_exact_out: bool
    with_v4: bool


_ASKED: dict[QuoteQuestion, tuple[Path, ...]] = {}


def expect_quotes(
    reader: ChainReader, deployment: UniswapDeployment, question: QuoteQuestion, amount: int, fees: TransferFees
) -> None:
    """Say that the quotes of last time will be asked for, at this amount."""
    calls = [quoter_call(deployment, path, amount, question.is_exact_out, fees) for path in _ASKED.get(question, ())]
    reader.expect(alone=[call for call in calls if call is not None])


def forget() -> None:
    """Let the next question of each kind be as the first one."""
    _ASKED.clear()


def note_quotes(question: QuoteQuestion, quotes: Iterable[RouteQuote]) -> None:
    """Remember which of these, the best first, came from a quoter; none through a hook, which may take its time."""
    asked = [quote.hops for quote in quotes if quote.version != "v2"]
    plain = [path for path in asked if all(hop.pool.hooks is None for hop in path)]
    if len(_ASKED) >= _MOST_REMEMBERED:
        _ASKED.clear()
    _ASKED[question] = tuple(plain[:MOST_ASKED])
