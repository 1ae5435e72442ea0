"""Finds what transfers of one block brought to an account, by the tokens' own logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tools_app.standards.erc20 import MOVED
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE


def list_arrivals(chain: ChainReader, *, account: str, tokens: Sequence[str], block: int) -> dict[str, int]:
    """Base units by token that its logs show to have come to `account` in `block`; the coin leaves no log and is not
    among them. Raises the node's errors.
    """
    asked = [token for token in dict.fromkeys(tokens) if token != NATIVE]
    if not asked:
        return {}
    to = "0x" + account.removeprefix("0x").lower().rjust(64, "0")
    topics = [MOVED.topic, None, to]
    came: dict[str, int] = defaultdict(int)
    for log in chain.logs(address=asked, topics=topics, from_block=block, to_block=block):
        told = MOVED.read(log)
        if told is not None:
            came[log.address] += told.value
    return dict(came)
