"""OBSERVE's look at tokens that stand still: what the golem holds and its issuer paused, or froze at its account.

What is asked goes out with everything else of the look, so that it costs no exchange of its own. A token that is no
position's has nobody else to tell it: what it paid for with a signature, or lets keys take, stands still with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from golem_project.heartbeat.observation import Observation
from tools_app.core.errors import GolemError
from tools_app.standards.paused_tokens import StillReads
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class StillToken:
    """A token that the golem holds and cannot move."""

    token: str
    name: str
    words: str


def expect_still_calls(chain: ChainReader, account: str, tokens: Iterable[TokenMeta]) -> list[ReadCall]:
    """What `watch_still` will ask, for the batch before it."""
    return StillReads.of(chain.chain_id, ((each.address, account) for each in tokens)).calls


def watch_still(chain: ChainReader, account: str | None, seen: Observation) -> tuple[StillToken, ...]:
    """Tokens of the home chain that the account holds and that stand still at this look. Never raises GolemError."""
    if account is None or seen.block is None:
        return ()
    at_home = seen.at_home or seen.whole
    held = {each.token.address: each.token for each in seen.holdings if each.raw}
    held |= {each.token.address: each.token for each in (at_home.tokens if at_home is not None else ()) if each.raw}
    reads = StillReads.of(chain.chain_id, ((address, account) for address in held))
    if not reads.calls:
        return ()
    try:
        still = reads.read(chain.call_many(reads.calls)).find(held, account)
    except GolemError:
        return ()
    return tuple(
        StillToken(address, held[address].symbol, "paused, or frozen at the golem's account, by who issues it")
        for address in still
    )
