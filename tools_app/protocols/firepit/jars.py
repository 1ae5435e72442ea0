"""The jar as streams ask for it."""

from __future__ import annotations

from tools_app.protocols.firepit.addresses import deployments
from tools_app.protocols.firepit.reads import read_contents, read_terms
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.fee_jars import JarLook


class FeeJars:
    """The one jar of a chain."""

    def list_jars(self, chain_id: int) -> tuple[str, ...]:
        """Its address."""
        at = deployments(chain_id)
        return () if at is None else (at["jar"],)

    def look(self, reader: ChainReader, jar: str) -> JarLook:
        """What lies in it of the chain's list, and the number of its next release. Raises JarNotAsKnown."""
        terms = read_terms(reader)
        tokens = [reader.native(), *reader.registered_tokens()]
        held = tuple((token, raw) for token, raw in read_contents(reader, terms.place, tokens) if raw)
        return JarLook(terms.place.jar, terms.place.releaser, terms.nonce, terms.resource, terms.threshold, held)
