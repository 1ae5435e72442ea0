"""Suggests bounds for a new cage's feeds: its aggregator's, how far it may jump, and the sequencer."""

from __future__ import annotations

from typing import Final

from permits_app.policy_cage.contract import Rule, sequencer_rule
from tools_app.chain.chains import get_deployment
from tools_app.chain.feeds import SEQUENCER_GRACE_SECONDS
from tools_app.toolkit.context import ChainReader, ReadCall

USUAL_JUMP_PERCENT: Final = 25
USUAL_JUMP_OF_BASE_PERCENT: Final = 5
"""The asset a golem retreats into is one that should not move."""
_LARGEST_ANSWER: Final = 2**95 - 1
_AGGREGATOR: Final = "function aggregator() view returns (address)"
_LEAST: Final = "function minAnswer() view returns (int192)"
_MOST: Final = "function maxAnswer() view returns (int192)"


def read_bounds(chain: ChainReader, feed: str) -> tuple[int, int]:
    """(least, most): what the aggregator behind a feed never passes, in its own units; 0 where it has no bound.

    One that may not say less than its least answer goes on saying that one while the price falls below it.
    Raises what a node raises.
    """
    [behind] = chain.call_many([ReadCall(feed, _AGGREGATOR)])
    if not behind.ok:
        return 0, 0
    outcomes = chain.call_many([ReadCall(behind.values[0], text) for text in (_LEAST, _MOST)])
    least, most = (int(one.values[0]) if one.ok else 0 for one in outcomes)
    return max(0, least), most if 0 < most < _LARGEST_ANSWER else 0


def sequencer_rules(chain_id: int) -> list[Rule]:
    """That the chain's sequencer was up for an hour, where a feed says so."""
    feed = get_deployment(chain_id).sequencer_feed
    return [sequencer_rule(feed, grace_seconds=SEQUENCER_GRACE_SECONDS)] if feed else []
