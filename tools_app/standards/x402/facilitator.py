"""The standard's own facilitator in this process: it verifies payments and carries them out, with an account for gas.

That account holds coins for gas and nothing else, and no payment names it: what it sends moves the payer's token to the
payee that was signed for, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tools_app.chain.rpc import RpcEndpoint, RpcLimits, RpcRequest
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret
from tools_app.standards.x402.payments import Payment
from tools_app.standards.x402.price_offers import Method, PriceOffer

_PENDING: Final = "settlement_pending"
_MOST_TRIES: Final = 3
_LOOK: Final = RpcLimits(request_ms=3_000)
_GAS_LIMIT: Final = 500_000
"""What the package lets one settlement use; a node takes none from an account that could not pay for all of it."""
NOBODY_ANSWERS: Final = "who carries payments out does not answer now"
NO_COINS: Final = "the account that carries payments out has no coins left for gas"


@dataclass(frozen=True, slots=True)
class Settled:
    """`transaction` carried it out, where there is no reason why not. `is_pending`: sent, and not seen yet."""

    transaction: str
    reason: str
    is_pending: bool


class Facilitator:
    """Speaks to one chain's node."""

    def __init__(self, *, key: Secret, chain_id: int, rpc_url: Secret, wait_seconds: float) -> None:
        self._key, self._chain_id, self._url, self._wait = key, chain_id, rpc_url, wait_seconds

    def say_away(self, account: str) -> str:
        """Why `account` carries nothing out now, in words; empty where it would. One exchange with its node."""
        node = RpcEndpoint(self._url, chain_id=self._chain_id, limits=_LOOK)
        asked = [RpcRequest("eth_getBalance", (account, "latest")), RpcRequest("eth_gasPrice")]
        try:
            held, price = (int(str(reply.unwrap()), 16) for reply in node.send(asked))
        except GolemError:
            return NOBODY_ANSWERS
        return NO_COINS if held < _GAS_LIMIT * price else ""

    def verify(self, payment: Payment, way: PriceOffer) -> str:
        """Why a payment would not be taken; empty where it would be. Raises OSError where the node is away."""
        told = self._open(way).verify(*_as_its_own(payment, way, amount=payment.amount))
        return "" if told.is_valid else str(told.invalid_reason or "refused")

    def settle(self, payment: Payment, way: PriceOffer) -> Settled:
        """Carry it out, and wait until that is seen. Another process may take the same place in the account's row of
        transactions, and then it is tried again.
        """
        told: Any = None  # Any: a stranger's JSON
        for _ in range(_MOST_TRIES):
            told = self._open(way).settle(*_as_its_own(payment, way, amount=way.amount))
            if told.success:
                return Settled(str(told.transaction), "", is_pending=False)
            if told.error_reason == _PENDING or not _lost_its_place(str(told.error_message or "")):
                break
        reason = str(told.error_reason or "refused")
        return Settled(str(told.transaction or ""), reason, is_pending=reason == _PENDING)

    def _open(self, way: PriceOffer) -> Any:  # Any: a stranger's JSON
        # Slow to load; and one that was used before would count transactions that were never sent.
        from x402.mechanisms.evm import FacilitatorWeb3Signer
        from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme
        from x402.mechanisms.evm.upto import UptoEvmFacilitatorScheme

        signer = FacilitatorWeb3Signer(self._key.reveal(), self._url.reveal(), confirmation_timeout_seconds=self._wait)
        return (UptoEvmFacilitatorScheme if way.method is Method.UPTO else ExactEvmFacilitatorScheme)(signer)


def _as_its_own(payment: Payment, way: PriceOffer, *, amount: int) -> tuple[Any, Any]:  # Any: a stranger's JSON
    """Payment and terms in the package's own types. What is taken of a payment is the amount of its terms."""
    from x402.schemas import PaymentPayload, PaymentRequirements

    asked = {**way.as_item(), "amount": str(amount)}
    accepted = {**way.as_item(), "amount": str(payment.amount)}
    return PaymentPayload.model_validate({**payment.body, "accepted": accepted}), PaymentRequirements.model_validate(
        asked
    )


def _lost_its_place(message: str) -> bool:
    told = message.lower()
    return "nonce too low" in told or "underpriced" in told or "already known" in told or "already imported" in told
