"""Suggests contracts and tokens of a chain's protocols for a golem's allowlist."""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.models.allowlist import AllowlistKind
from tools_app.chain.chains import get_deployment
from tools_app.toolkit.protocol import SHELF


@dataclass(frozen=True, slots=True)
class AllowlistChoice:
    """One address an owner may allow, with a name a person knows it by."""

    chain_id: int
    kind: str
    address: str
    label: str


def suggest_allowlist(chain_id: int) -> list[AllowlistChoice]:
    """The registered tokens of a chain, the protocol contracts the write tools call there, and claims they approve."""
    deployment = get_deployment(chain_id)
    tokens = [
        AllowlistChoice(chain_id, AllowlistKind.TOKEN, token.address, token.symbol) for token in deployment.tokens
    ]
    contracts = [
        AllowlistChoice(chain_id, kind, address, contract.label)
        for address, contract in SHELF.contracts_on(chain_id)
        for kind in (AllowlistKind.CONTRACT, AllowlistKind.SPENDER)
        if kind == AllowlistKind.CONTRACT or contract.takes_tokens
    ]
    claims = [
        AllowlistChoice(chain_id, AllowlistKind.TOKEN, address, contract.label)
        for address, contract in SHELF.contracts_on(chain_id)
        if contract.is_token
    ]
    token_contracts = [
        AllowlistChoice(chain_id, AllowlistKind.CONTRACT, token.address, f"{token.label} (token contract)")
        for token in tokens
    ]
    return [*tokens, *claims, *token_contracts, *contracts]
