"""How the Trading API is asked: the words it has for tokens and chains, and one way to put a question."""

from __future__ import annotations

from typing import Any, Final

from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.trading_api.answer_types import AnswerShape
from tools_app.protocols.uniswap.trading_api.api_family import CHAINS, HEADERS
from tools_app.toolkit.outside_services import Question
from tools_app.toolkit.views import TokenMeta

COIN: Final = "0x0000000000000000000000000000000000000000"
"""What the service calls a chain's own coin."""


def post_question(path: str, shape: type[AnswerShape], **body: object) -> Question[Any]:  # Any: a stranger's JSON
    """One question by POST; its answer must be of `shape`."""
    return Question("POST", path, shape, body=body, headers=HEADERS, seconds=6.0)


def name_token(token: TokenMeta) -> str:
    """A token's address, or the service's word for the coin."""
    return COIN if token.is_native else token.address


def check_chain(chain_id: int) -> None:
    """Refuse a chain the service is not asked about. Raises InvalidParams."""
    if chain_id not in CHAINS:
        raise InvalidParams(
            f"the service is not asked about chain {chain_id}", fields={"token_out_chain_id": "not served"}
        )
