"""On whom what is held depends besides its protocol: who issues it, over which bridge it came, whose price is believed.

A token depends on its issuer and its bridge wherever it lies. A position depends besides on the issuer at whose
contracts it lies, on the bridge it is under way over, and on every oracle whose word its protocol takes for a price.
Where one of them fails, all that depends on it may be lost or stand still at once, however many protocols it lies at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.positions import Position
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
