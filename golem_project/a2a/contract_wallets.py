"""Asks a wallet that is a contract whether a signature is its own (ERC-1271), on the golem's home chain.

One chain is asked, so that one address is one wallet: the same address elsewhere may be somebody else's contract.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from tools_app import runner
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.clock import Deadline
from tools_app.standards.erc1271 import ask_whether_signed, says_yes

_BUDGET_MS: Final = 3_000


def says_it_signed(*, address: str, digests: Iterable[bytes], signature: bytes, chain_id: int, now: datetime) -> bool:
    """Whether the contract at `address` takes `signature` for one of `digests`; no contract and a revert say no.

    One round trip. Raises what a node that is away raises.
    """
    try:
        chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    except ChainNotSupported:
        # Without a node for it there is nobody to ask.
        return False
    asked = [ask_whether_signed(address, digest, signature) for digest in digests]
    return any(says_yes(outcome) for outcome in chain.call_many(asked))
