"""Reads the positions of an account at every protocol of a chain, side by side in the same few batches.

Protocols that tell nothing are never taken for empty: what cannot be read raises, unless the protocol's entry contract
has no code, and then the protocol is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tools_app.chain.deployments import Deployment, load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.portfolio.combined_reads import as_one_question
from tools_app.portfolio.remembered_followup_reads import LATER_READS
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.positions import (
    CallMany,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    drive,
    side_by_side,
)
from tools_app.toolkit.prefetch_memory import RECALLED
from tools_app.toolkit.protocol import SHELF, ProtocolDef, Trait


@dataclass(frozen=True, slots=True)
class HeldAt:
    """Whose positions to read, at which protocols. `hints` are refs of positions it had, by name of the protocol."""

    chain_id: int
    account: str
    protocols: tuple[ProtocolDef, ...]
    hints: tuple[PositionRef, ...] = ()

    def ask(self) -> Reads[tuple[Position, ...]]:
        """The positions, ordered by their refs. Raises PositionsUnreadable."""
        return _in_order((yield from side_by_side([reads for _, reads in self._list()])))

    def ask_each(self) -> Reads[list[tuple[ProtocolDef, tuple[Position, ...] | PositionsUnreadable]]]:
        """What each protocol tells, or why it tells nothing; one question for each that has nothing."""
        found = self._list()
        told = yield from side_by_side([_or_error(as_one_question(reads)) for _, reads in found])
        return [(protocol, each) for (protocol, _), each in zip(found, told, strict=True)]

    def _list(self) -> list[tuple[ProtocolDef, Reads[tuple[Position, ...]]]]:
        return [
            (each, _named(each, each.positions.list(self.chain_id, self.account, self._hints_of(each))))
            for each in self.protocols
            if each.positions is not None
        ]

    def _hints_of(self, protocol: ProtocolDef) -> tuple[PositionRef, ...]:
        return tuple(ref for ref in self.hints if ref.protocol == protocol.name and ref.chain_id == self.chain_id)


def read_positions(*, chain: ChainReader, account: str, hints: Iterable[PositionRef] = ()) -> tuple[Position, ...]:
    """Every position of `account` on the chain at the pinned block. Raises PositionsUnreadable, the node's errors.

    A node that mines while it answers for its newest block may answer from the next one's state, and then two answers
    fit no state at all: what cannot be read is asked once more.
    """
    question = HeldAt(chain.chain_id, account, list_known(chain.chain_id), tuple(hints))
    batches: list[Sequence[ReadCall]] = []

    def call_many(calls: Sequence[ReadCall]) -> Sequence[ReadOutcome]:
        batches.append(calls)
        return chain.call_many(calls)

    try:
        positions = _read(chain, question, call_many)
    except PositionsUnreadable:
        chain.forget_reads()
        batches.clear()
        positions = _read(chain, question, call_many)
    LATER_READS.put(chain.chain_id, account, [call for batch in batches[1:] for call in batch])
    return positions


def read_positions_at(
    *, chain: ChainReader, account: str, protocols: Iterable[str], hints: Iterable[PositionRef] = ()
) -> tuple[Position, ...]:
    """The same at some protocols alone, by their names. Raises PositionsUnreadable, the node's errors."""
    wanted = set(protocols)
    there = tuple(each for each in list_known(chain.chain_id) if each.name in wanted)
    return _read(chain, HeldAt(chain.chain_id, account, there, tuple(hints)), chain.call_many)


def _read(chain: ChainReader, question: HeldAt, call_many: CallMany) -> tuple[Position, ...]:
    """The positions, where the code of a protocol is asked for only when it does not tell: most do."""
    told = drive(question.ask_each(), call_many)
    silent: dict[str, PositionsUnreadable] = {}
    for protocol, found in told:
        entry = protocol.address(chain.chain_id, protocol.entry) or ""
        if isinstance(found, PositionsUnreadable):
            silent[entry] = found
        else:
            _NOT_THERE.discard((chain.chain_id, entry))
    if silent:
        chain.preload(contracts=list(silent))
    for entry, error in silent.items():
        if chain.code(entry):
            raise error
        _NOT_THERE.add((chain.chain_id, entry))
    return _in_order(found for _, found in told if not isinstance(found, PositionsUnreadable))


_NOT_THERE: Final[set[tuple[int, str]]] = set()
"""Entry contracts that had no code when it was asked for, by chain: it is asked for ahead. It decides nothing."""


@dataclass(frozen=True, slots=True)
class FirstReads:
    """What reading positions begins with: `calls`, and the code of `contracts` that were not there the last time. Asked
    ahead they cost no round trip.

    `calls` ends with what the account's last reading asked after that, as far as it is remembered.
    """

    contracts: tuple[str, ...] = ()
    calls: tuple[ReadCall, ...] = ()


def foretell_positions(*, chain_id: int, account: str, hints: Iterable[PositionRef] = ()) -> FirstReads:
    """What `read_positions` will ask first, of protocols that may not be there too. Reads nothing."""
    known = load_deployment(KNOWN_NETWORKS[chain_id]) if chain_id in KNOWN_NETWORKS else None
    first = _foretell(chain_id, account, tuple(hints), (SHELF.version, RECALLED.version), known)
    absent = tuple(entry for chain, entry in tuple(_NOT_THERE) if chain == chain_id)
    return FirstReads(absent, (*first, *LATER_READS.get(chain_id, account)))


# Asked twice for every preview and always the same until another contract is known; it decides nothing.
@lru_cache(maxsize=512)
def _foretell(
    chain_id: int, account: str, hints: tuple[PositionRef, ...], versions: tuple[int, int], known: Deployment | None
) -> tuple[ReadCall, ...]:
    try:
        return tuple(next(HeldAt(chain_id, account, list_known(chain_id), hints).ask_each()))
    except StopIteration:
        # Nothing to ask, or readers that will say when they are asked what is wrong.
        return ()


def list_known(chain_id: int) -> tuple[ProtocolDef, ...]:
    """The protocols with positions that are known on a chain, whether they are deployed or not."""
    return tuple(each for each in SHELF.on(chain_id) if each.positions is not None)


def list_deployed(chain: ChainReader) -> tuple[ProtocolDef, ...]:
    """The protocols with positions whose entry contract has code on the chain."""
    found = [(each, each.address(chain.chain_id, each.entry)) for each in SHELF.on(chain.chain_id) if each.positions]
    entries = [entry for _, entry in found if entry is not None]
    if not entries:
        return ()
    chain.preload(contracts=entries)
    return tuple(protocol for protocol, entry in found if entry is not None and chain.code(entry))


def _in_order(told: Iterable[tuple[Position, ...]]) -> tuple[Position, ...]:
    return tuple(sorted((position for some in told for position in some), key=lambda position: position.ref))


def _or_error(reads: Reads[tuple[Position, ...]]) -> Reads[tuple[Position, ...] | PositionsUnreadable]:
    """The same reads, of which what goes wrong is told and ends no others."""
    try:
        return (yield from reads)
    except PositionsUnreadable as error:
        return error


def _named(protocol: ProtocolDef, reads: Reads[tuple[Position, ...]]) -> Reads[tuple[Position, ...]]:
    """The same reads, with the protocol named in what goes wrong. One that says it knows no debts tells none."""
    name = protocol.name
    try:
        told = yield from reads
        if Trait.LEVERAGE not in protocol.traits and any(each.has_health for each in told):
            raise PositionsUnreadable("it tells a debt or a margin, and its definition knows none")
        return told
    except GolemError as error:
        raise PositionsUnreadable(f"{name}: {error.detail}", protocol=name, cause=error.code) from error
    except Exception as error:
        # A reader that stumbles over what a contract says has not told what is there.
        raise PositionsUnreadable(f"{name}: its contracts answered what cannot be read", protocol=name) from error
