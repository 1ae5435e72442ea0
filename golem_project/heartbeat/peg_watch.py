"""OBSERVE's look at pegs: of what the golem holds, of what its open orders bring, of its rule's pool, and of what its
owners declare at home.

Prices of what is held were read already, so that a look costs nothing more; a declared token without a feed costs one
at its deepest pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from golem_project.heartbeat.observation import Observation
from tools_app.portfolio.pegs import OffPeg, Peg, by_parts, by_reader, find_off_peg, join_pegs, list_pegs
from tools_app.toolkit.context import ChainReader


def watch_pegs(
    chain: ChainReader,
    seen: Observation,
    *,
    declared: Sequence[Peg],
    awaited: frozenset[tuple[int, str]] = frozenset(),
) -> tuple[OffPeg, ...]:
    """The tokens that left their peg at this look, of what owners `declared` too, and of what is `awaited` of orders
    that others carry out; what has no price is in none. Never raises GolemError.
    """
    if seen.block is None:
        return ()
    return tuple(_find(chain, seen, declared, awaited))


def _find(
    chain: ChainReader, seen: Observation, declared: Sequence[Peg], awaited: frozenset[tuple[int, str]]
) -> Iterator[OffPeg]:
    parts = [part for part in (seen.whole.list_parts() if seen.whole is not None else ()) if part.raw]
    entered = {seen.pool.token0, seen.pool.token1} if seen.pool is not None else set()
    entered |= {token for chain_id, token in awaited if chain_id == chain.chain_id}
    entered |= _list_brought(chain.chain_id, seen)
    for chain_id in sorted({chain.chain_id, *(part.token.chain_id for part in parts)}):
        held = {part.token.address for part in parts if part.token.chain_id == chain_id}
        known = list_pegs(chain_id)
        if chain_id != chain.chain_id:
            yield from find_off_peg((peg for peg in known.values() if peg.token in held), by_parts(parts, chain_id))
            continue
        pegs = join_pegs(chain_id, declared)
        of_owners = {address for address, peg in pegs.items() if known.get(address) != peg}
        looked_at = (peg for peg in pegs.values() if peg.token in held | entered | of_owners)
        yield from find_off_peg(looked_at, by_reader(chain, with_pools=of_owners))


def _list_brought(chain_id: int, seen: Observation) -> set[str]:
    """Tokens of the golem's own chain that its standing orders bring."""
    held = seen.whole.positions if seen.whole is not None else ()
    standing = (each.position.standing for each in held if each.position.ref.chain_id == chain_id)
    return {leg.token for each in standing if each is not None for leg in each.brings}
