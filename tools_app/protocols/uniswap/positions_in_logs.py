"""What logs tell of positions at Uniswap: those that came to an account, and where it is searched for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import encode_event_topics, event_topic
from tools_app.protocols.uniswap.addresses import NAME, find_deployment
from tools_app.protocols.uniswap.history import SYNC_V2
from tools_app.protocols.uniswap.liquidity_mining.addresses import mining_on
from tools_app.protocols.uniswap.liquidity_mining.deposits import DEPOSIT_MOVED, DEPOSITS_MOVED
from tools_app.protocols.uniswap.v4 import positions as v4_reads
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.standards import erc20, erc721
from tools_app.toolkit.positions import PositionRef, Trail
from tools_app.toolkit.views import LogEntry

NFT: Final = "nft"
SHARE: Final = "share"
_SYNC_TOPIC: Final = event_topic(SYNC_V2)


def find_born(logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
    """V3 and V4 positions sent to the account or to the staker for it, and the pairs whose shares it got while they
    moved.
    """
    place = find_deployment(chain_id)
    if place is None:
        return ()
    v4, mining = v4_on(chain_id), mining_on(chain_id)
    managers = {place.v3_position_manager: "", **({v4.positions: v4_reads.PREFIX} if v4 is not None else {})}
    synced = {log.address for log in logs if log.topics and log.topics[0] == _SYNC_TOPIC}
    refs: dict[PositionRef, None] = {}
    for log in logs:
        if log.address in managers:
            sent = erc721.MOVED.read(log)
            if sent is not None and sent.to == account:
                refs[PositionRef(NAME, NFT, chain_id, f"{managers[log.address]}{sent.token_id}")] = None
        elif mining is not None and log.address == mining.staker:
            kept = DEPOSITS_MOVED.read(log)
            if kept is not None and kept.new_owner == account:
                refs[PositionRef(NAME, NFT, chain_id, str(kept.token_id))] = None
        elif log.address in synced:
            paid = erc20.MOVED.read(log)
            if paid is not None and paid.to == account:
                refs[PositionRef(NAME, SHARE, chain_id, log.address)] = None
    return tuple(refs)


def trails(chain_id: int, account: str) -> tuple[Trail, ...]:
    """The logs by which V4 positions come to `account`, and positions to the staker for it."""
    v4, mining = v4_on(chain_id), mining_on(chain_id)
    words, kept = (
        encode_event_topics(erc721.TRANSFER_EVENT, to=account),
        encode_event_topics(DEPOSIT_MOVED, newOwner=account),
    )
    found = [Trail((v4.positions,), tuple(words))] if v4 is not None else []
    return (*found, *([Trail((mining.staker,), tuple(kept))] if mining is not None else []))


def is_v4_ref(ref: PositionRef) -> bool:
    """Whether a ref names a V4 position by a number there can be."""
    number = ref.id.removeprefix(v4_reads.PREFIX)
    is_named = ref.protocol == NAME and ref.kind == NFT and v4_reads.is_v4(ref.id)
    return is_named and number.isdecimal() and int(number) < 2**256
