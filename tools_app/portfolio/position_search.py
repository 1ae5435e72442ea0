"""Finds positions that no contract lists and that an account entered before it came to us: in the logs, backwards.

A look searches a few ranges of blocks, the newest first, and remembers what the chain still tells of. How far it came
is kept; what was not searched, and what is too much to remember, is said wherever the holdings are told.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final

from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.models.known_position import KnownPosition
from tools_app.models.position_search import PositionSearch
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.portfolio.remembered_positions import MOST_HINTS, parse_refs, remember_positions
from tools_app.standards.position_logs import follow_trails
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import PositionRef, Trail
from tools_app.toolkit.protocol import SHELF, ProtocolDef

RANGES_A_LOOK: Final = 4
MOST_LOOKS: Final = 2_500
"""So many ranges of blocks are searched backwards for one account, and no more."""
SOON: Final = timedelta(seconds=30)
LATER: Final = timedelta(hours=1)
ALL_SEARCHED: Final = "all searched"
TOO_LONG: Final = "too long"
TOO_MANY: Final = "too many"


def begin_search(*, chain_id: int, account: str, now: datetime) -> None:
    """Have the logs of a chain searched for what `account` has already. Once begun it is not begun again."""
    PositionSearch.objects.get_or_create(chain_id=chain_id, account=account, defaults={"next_look_at": now})


def list_gaps(*, chain_id: int, account: str) -> tuple[str, ...]:
    """What may be missing of an account's positions because nobody looked or there were too many, `CODE: what`."""
    strange = KnownPosition.objects.filter(account=account, chain_id=chain_id, gone_at__isnull=True, is_own=False)
    kinds: defaultdict[tuple[str, str], list[PositionRef]] = defaultdict(list)
    for ref in parse_refs(strange.order_by("first_seen", "ref").values_list("ref", flat=True)):
        kinds[ref.protocol, ref.kind].append(ref)
    # What a contract lists is read without being looked for.
    only_in_logs = {each.name: each.is_only_in_logs for each in SHELF.on(chain_id) if each.trails(chain_id, account)}
    too_many = tuple(
        f"TOO_MANY_POSITIONS: {len(refs)} at {protocol} were not opened by the golem,"
        f" of which the {MOST_HINTS} known longest are looked for"
        for (protocol, _), refs in sorted(kinds.items())
        if protocol in only_in_logs and any(map(only_in_logs[protocol], refs[MOST_HINTS:]))
    )
    if too_many:
        return too_many
    row = PositionSearch.objects.filter(chain_id=chain_id, account=account).exclude(ended=ALL_SEARCHED).first()
    if row is None:
        return ()
    since = "not searched yet" if row.lowest is None else f"searched from block {row.lowest} on"
    ends = ", and no further" if row.ended else ""
    return (f"POSITIONS_NOT_SEARCHED: positions that only logs tell of are {since}{ends}",)


def look_further(row: PositionSearch, chain: ChainReader, *, now: datetime) -> int:
    """Search what is new and the next older ranges, and keep how far it came; how many positions were found.

    Raises the node's errors and PositionsUnreadable; then nothing is kept, and the same is searched again.
    """
    head, size = chain.block.number, KNOWN_NETWORKS[chain.chain_id].max_log_range
    trails = [(each, tuple(each.trails(chain.chain_id, row.account))) for each in SHELF.on(chain.chain_id)]
    found: set[PositionRef] = set()
    lowest, highest, ended = row.lowest, row.highest, row.ended
    for _ in range(RANGES_A_LOOK):
        wanted = _next_range(lowest, highest, ended=ended, head=head, size=size)
        if wanted is None:
            break
        found |= _search(chain, trails, row.account, wanted)
        lowest = wanted[0] if lowest is None else min(lowest, wanted[0])
        highest = wanted[1] if highest is None else max(highest, wanted[1])
        row.looks += 1
        if not ended:
            ended = ALL_SEARCHED if lowest == 0 else TOO_LONG if row.looks >= MOST_LOOKS else ""
    alive = _keep_alive(chain, row.account, found)
    row.found += len(alive)
    row.lowest, row.highest = lowest, highest
    row.ended = TOO_MANY if row.found > MOST_HINTS else ended
    row.next_look_at = now + (LATER if row.ended else SOON)
    remember_positions(account=row.account, refs=alive, now=now)
    row.save()
    return len(alive)


def _next_range(lowest: int | None, highest: int | None, *, ended: str, head: int, size: int) -> tuple[int, int] | None:
    """Blocks to search next, inclusive: what came since, then what lies before; None when there is neither."""
    if lowest is None or highest is None:
        return max(0, head - size + 1), head
    if highest < head:
        return highest + 1, min(head, highest + size)
    if ended or lowest == 0:
        return None
    return max(0, lowest - size), lowest - 1


def _search(
    chain: ChainReader, trails: list[tuple[ProtocolDef, tuple[Trail, ...]]], account: str, blocks: tuple[int, int]
) -> set[PositionRef]:
    asked = [trail for _, some in trails for trail in some]
    if not asked:
        return set()
    logs = follow_trails(chain, asked, from_block=blocks[0], to_block=blocks[1])
    told = [each.positions.born(logs, account, chain.chain_id) for each, some in trails if some and each.positions]
    return {ref for refs in told for ref in refs}


def _keep_alive(chain: ChainReader, account: str, refs: set[PositionRef]) -> list[PositionRef]:
    """Those that the chain still tells of. What was left long ago is not looked for every time."""
    if not refs:
        return []
    there = {each.ref for each in read_positions(chain=chain, account=account, hints=sorted(refs))}
    return sorted(refs & there)
