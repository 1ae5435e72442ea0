"""Names a token by its contract and chain, however it was written.

A registered symbol names one address of its chain, and memories carry their chain, so it is the name of what is
registered; everything else is its address, since anybody may give a token any symbol. Decision 0130.
"""

from __future__ import annotations

from tools_app.chain.chains import get_registry
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError


def name_token(reference: str, *, chain_id: int | None) -> str:
    """The key of a symbol or an address on `chain_id`, in lower case; as written where the chain is not known."""
    written = reference.lower()
    if chain_id is None:
        return written
    try:
        registry = get_registry(chain_id)
        known = registry.by_address(reference) if written.startswith("0x") else registry.by_symbol(reference)
    except (TokenNotFound, GolemError):
        return written
    return known.symbol.lower() if known is not None else written
