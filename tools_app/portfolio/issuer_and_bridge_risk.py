"""Finds on whom holdings depend: who issues a token, over which bridge it came, whose price is believed.

A token depends on its issuer and its bridge wherever it lies. A position depends besides on the issuer at whose
contracts it lies, on the bridge it is under way over, and on every oracle whose word its protocol takes for a price.
Where one of them fails, all that depends on it may be lost or stand still at once, however many protocols it lies at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.feeds import PriceStale, PriceUnavailable, SequencerDown
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.positions import LOCKED_WORDS, Position
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.views import TokenMeta


class DependenceKind(StrEnum):
    """What can fail besides a protocol and an asset."""

    ISSUER = "issuer"
    BRIDGE = "bridge"
    ORACLE = "oracle"


@dataclass(frozen=True, slots=True, order=True)
class Dependence:
    """One issuer, bridge or oracle. Issuers and bridges are the same on every chain; an oracle is `chain:address`."""

    kind: DependenceKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.name}"


def depends_of_token(chain_id: int, address: str) -> frozenset[Dependence]:
    """On whom a token depends wherever it lies; on nobody that is known where nothing is found."""
    network = KNOWN_NETWORKS.get(chain_id)
    if network is None:
        return frozenset()
    known = load_deployment(network)
    symbol = next((token.symbol for token in known.tokens if token.address == address), "")
    issuers = {
        each.label
        for each in SHELF
        if each.issues and (symbol in each.issues or any(each.address(chain_id, key) == address for key in each.issues))
    }
    if not issuers and address in known.issuers:
        issuers = {known.issuers[address]}
    found = {Dependence(DependenceKind.ISSUER, name) for name in issuers}
    if address in known.bridges:
        found.add(Dependence(DependenceKind.BRIDGE, known.bridges[address]))
    return frozenset(found)


def depends_of_protocol(name: str) -> frozenset[Dependence]:
    """On whom everything depends that lies at a protocol: one that issues what it keeps, or one between two chains."""
    protocol = SHELF.get(name)
    if protocol is None:
        return frozenset()
    found = set()
    if protocol.issues:
        found.add(Dependence(DependenceKind.ISSUER, protocol.label))
    if Trait.CROSS_CHAIN in protocol.traits:
        found.add(Dependence(DependenceKind.BRIDGE, protocol.label))
    return frozenset(found)


def depends_of_position(position: Position) -> frozenset[Dependence]:
    """On whom all of a position depends, whichever tokens are in it."""
    return depends_of_protocol(position.ref.protocol) | depends_on_oracles(position)


def depends_on_oracles(position: Position) -> frozenset[Dependence]:
    """The oracles that a position's protocol believes."""
    return frozenset(
        Dependence(DependenceKind.ORACLE, f"{position.ref.chain_id}:{address}") for address in position.oracles
    )


_FEED_PROBLEMS: Final = frozenset({PriceStale.code, PriceUnavailable.code, SequencerDown.code})
FAILED_FOR: Final = frozenset({"paused", "closed", "queue", "late"})
"""Words of `Locked.reason` that say of an issuer or a bridge that it does not keep what it promised."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An issuer, a bridge or an oracle that failed, and in which words."""

    dependence: Dependence
    words: str


def list_failures(each: Iterable[Holdings]) -> tuple[Failure, ...]:
    """Issuers and bridges that keep what is held and should give it out, each once."""
    found: dict[Dependence, str] = {}
    for held in (position for holdings in each for position in holdings.positions):
        for reason in (locked.reason for locked in held.position.locked if locked.reason in FAILED_FOR and locked.raw):
            for dependence in depends_of_protocol(held.ref.protocol):
                found.setdefault(dependence, f"{held.position.label}: {LOCKED_WORDS[reason]}")
    return tuple(Failure(dependence, found[dependence]) for dependence in sorted(found))


@dataclass(frozen=True, slots=True)
class FailedOracle:
    """A price that is wanted for what is held and is not given: of what, and why, for people."""

    name: str
    reason: str


def list_failed_oracles(holdings: Holdings) -> tuple[FailedOracle, ...]:
    """Feeds that gave no usable price of something held, and oracles that positions believe and that are silent."""
    found: dict[str, str] = {}
    for part in holdings.list_parts():
        if part.raw and part.problem in _FEED_PROBLEMS:
            found.setdefault(f"price of {part.token.symbol or part.token.address}", part.problem)
    for held in holdings.positions:
        if held.position.silent_oracles:
            found.setdefault(held.position.label, "its oracle gives no price")
    return tuple(FailedOracle(name, reason) for name, reason in sorted(found.items()))


def sum_dependences(each: Iterable[Holdings], *, base_symbol: str = "") -> Mapping[Dependence, int]:
    """Micro-USD that is held and depends on each, over all chains; what is owed takes nothing off. A registered token
    called `base_symbol` depends on nobody by itself.
    """

    def of_token(token: TokenMeta) -> frozenset[Dependence]:
        if base_symbol and token.is_registered and token.symbol == base_symbol:
            return frozenset()
        return depends_of_token(token.chain_id, token.address)

    found: dict[Dependence, int] = defaultdict(int)
    for holdings in each:
        for worth in holdings.tokens:
            for dependence in of_token(worth.token):
                found[dependence] += max(0, worth.micro_usd or 0)
        for held in holdings.positions:
            whole = depends_of_position(held.position)
            for part in held.parts:
                for dependence in whole | of_token(part.token):
                    found[dependence] += max(0, part.micro_usd or 0)
    return dict(found)
