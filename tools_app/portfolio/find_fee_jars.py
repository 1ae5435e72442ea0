"""Finds the fee jars of a chain's protocols by their address."""

from __future__ import annotations

from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.fee_jars import JarLook, JarNotFound
from tools_app.toolkit.protocol import SHELF


def look_into_jar(reader: ChainReader, jar: str) -> JarLook:
    """A jar as it is at the reader's block. Raises JarNotFound."""
    kinds = [each.jars for each in SHELF.on(reader.chain_id) if each.jars is not None]
    for jars in kinds:
        if jar in jars.list_jars(reader.chain_id):
            return jars.look(reader, jar)
    known = [address for jars in kinds for address in jars.list_jars(reader.chain_id)]
    raise JarNotFound(f"{jar} is no jar that is known on chain {reader.chain_id}", jars=known)
