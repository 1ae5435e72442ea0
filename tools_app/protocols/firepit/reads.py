"""Tells what the jar and its releaser say: the terms in one batch, balances in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.portfolio.holdings import read_balances
from tools_app.protocols.firepit.addresses import Place, place_on
from tools_app.protocols.firepit.errors import JarNotAsKnown
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta

RESOURCE: Final = "function RESOURCE() view returns (address)"
SERVED_JAR: Final = "function TOKEN_JAR() view returns (address)"
THRESHOLD: Final = "function threshold() view returns (uint256)"
NONCE: Final = "function nonce() view returns (uint256)"
MOST: Final = "function MAX_RELEASE_LENGTH() view returns (uint256)"
JAR_RELEASER: Final = "function releaser() view returns (address)"


@dataclass(frozen=True, slots=True)
class Terms:
    """What emptying the jar takes: `threshold` base units of `resource`, under `nonce`, at most `most` assets."""

    place: Place
    resource: TokenMeta
    threshold: int
    nonce: int
    most: int


def read_terms(reader: ChainReader) -> Terms:
    """The terms as the releaser says them now. Raises ChainNotSupported, JarNotAsKnown."""
    place = place_on(reader.chain_id)
    reader.expect(accounts=[place.jar])
    asked = [ReadCall(place.releaser, each) for each in (RESOURCE, SERVED_JAR, THRESHOLD, NONCE, MOST)]
    answers = reader.call_many([*asked, ReadCall(place.jar, JAR_RELEASER)])
    if not all(each.ok for each in answers):
        raise JarNotAsKnown("the jar or its releaser does not answer", jar=place.jar, releaser=place.releaser)
    resource, jar, threshold, nonce, most, releaser = (each.values[0] for each in answers)
    if (jar, releaser) != (place.jar, place.releaser):
        raise JarNotAsKnown(
            "the releaser serves another jar, or the jar obeys another releaser",
            jar=place.jar,
            releaser=place.releaser,
            releaser_serves=str(jar),
            jar_obeys=str(releaser),
        )
    return Terms(place, reader.token(str(resource)), int(threshold), int(nonce), int(most))


def read_contents(reader: ChainReader, place: Place, tokens: Sequence[TokenMeta]) -> list[tuple[TokenMeta, int]]:
    """How much of each token lies in the jar. One that does not answer counts as none."""
    held = read_balances(chain=reader, account=place.jar, tokens=tokens)
    return [(token, held[token.address]) for token in tokens]
