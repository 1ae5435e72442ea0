"""Reads the positions of an account at every protocol of a chain, side by side in the same few batches.

Protocols that tell nothing are never taken for empty: what cannot be read raises. Where a protocol's entry contract has
no code, the protocol is not there and is asked nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tools_app.chain.deployments import Deployment, load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.portfolio.later_reads import LATER_READS
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.positions import Position, PositionRef, PositionsUnreadable, Reads, drive, side_by_side
from tools_app.toolkit.protocol import SHELF, ProtocolDef


@dataclass(frozen=True, slots=True)
class HeldAt:
    """Whose positions to read, at which protocols. `hints` are refs of positions it had, by name of the protocol."""

    chain_id: int
    account: str
    protocols: tuple[ProtocolDef, ...]
    hints: tuple[PositionRef, ...] = ()

    def ask(self) -> Reads[tuple[Position, ...]]:
        """The positions, ordered by their refs. Raises PositionsUnreadable."""
        told = yield from side_by_side(
            [
                _named(each.name, each.positions.list(self.chain_id, self.account, self._hints_of(each)))
                for each in self.protocols
                if each.positions is not None
            ]
        )
        return tuple(sorted((position for some in told for position in some), key=lambda position: position.ref))

    def _hints_of(self, protocol: ProtocolDef) -> tuple[PositionRef, ...]:
        return tuple(ref for ref in self.hints if ref.protocol == protocol.name and ref.chain_id == self.chain_id)


def read_positions(*, chain: ChainReader, account: str, hints: Iterable[PositionRef] = ()) -> tuple[Position, ...]:
    """Every position of `account` on the chain at the pinned block. Raises PositionsUnreadable, the node's errors.

    A node that mines while it answers for its newest block may answer from the next one's state, and then two answers
    fit no state at all: what cannot be read is asked once more.
    """
    question = HeldAt(chain.chain_id, account, list_deployed(chain), tuple(hints))
    batches: list[Sequence[ReadCall]] = []

    def call_many(calls: Sequence[ReadCall]) -> Sequence[ReadOutcome]:
        batches.append(calls)
        return chain.call_many(calls)

    try:
        positions = drive(question.ask(), call_many)
    except PositionsUnreadable:
        chain.forget_reads()
        batches.clear()
        positions = drive(question.ask(), call_many)
    LATER_READS.put(chain.chain_id, account, [call for batch in batches[1:] for call in batch])
    return positions


def read_positions_at(
    *, chain: ChainReader, account: str, protocols: Iterable[str], hints: Iterable[PositionRef] = ()
) -> tuple[Position, ...]:
    """The same at some protocols alone, by their names. Raises PositionsUnreadable, the node's errors."""
    wanted = set(protocols)
    there = tuple(each for each in list_deployed(chain) if each.name in wanted)
    return drive(HeldAt(chain.chain_id, account, there, tuple(hints)).ask(), chain.call_many)


@dataclass(frozen=True, slots=True)
class FirstReads:
    """What reading positions begins with: the code of `contracts`, and `calls`. Asked ahead they cost no round trip.

    `calls` ends with what the account's last reading asked after that, as far as it is remembered.
    """

    contracts: tuple[str, ...] = ()
    calls: tuple[ReadCall, ...] = ()


def foretell_positions(*, chain_id: int, account: str, hints: Iterable[PositionRef] = ()) -> FirstReads:
    """What `read_positions` will ask first, of protocols that may not be there too. Reads nothing."""
    known = load_deployment(KNOWN_NETWORKS[chain_id]) if chain_id in KNOWN_NETWORKS else None
    first = _foretell(chain_id, account, tuple(hints), SHELF.version, known)
    return FirstReads(first.contracts, (*first.calls, *LATER_READS.get(chain_id, account)))


# Asked twice for every preview and always the same until another contract is known; it decides nothing.
@lru_cache(maxsize=512)
def _foretell(
    chain_id: int, account: str, hints: tuple[PositionRef, ...], shelf_version: int, known: Deployment | None
) -> FirstReads:
    protocols = tuple(each for each in SHELF.on(chain_id) if each.positions is not None)
    entries = [each.address(chain_id, each.entry) for each in protocols]
    try:
        calls = tuple(next(HeldAt(chain_id, account, protocols, hints).ask()))
    except (StopIteration, GolemError):
        # Nothing to ask, or a reader that will say when it is asked what is wrong.
        calls = ()
    return FirstReads(tuple(entry for entry in entries if entry is not None), calls)


def list_deployed(chain: ChainReader) -> tuple[ProtocolDef, ...]:
    """The protocols with positions whose entry contract has code on the chain."""
    found = [(each, each.address(chain.chain_id, each.entry)) for each in SHELF.on(chain.chain_id) if each.positions]
    entries = [entry for _, entry in found if entry is not None]
    if not entries:
        return ()
    chain.preload(contracts=entries)
    return tuple(protocol for protocol, entry in found if entry is not None and chain.code(entry))


def _named(name: str, reads: Reads[tuple[Position, ...]]) -> Reads[tuple[Position, ...]]:
    """The same reads, with the protocol named in what goes wrong."""
    try:
        return (yield from reads)
    except GolemError as error:
        raise PositionsUnreadable(f"{name}: {error.detail}", protocol=name, cause=error.code) from error
    except Exception as error:
        # A reader that stumbles over what a contract says has not told what is there.
        raise PositionsUnreadable(f"{name}: its contracts answered what cannot be read", protocol=name) from error
