"""Asks a host itself whom it is paid at: one request without a payment, which it answers with 402 and its terms.

Nobody hands such an answer in: whoever could would choose who is paid.
"""

from __future__ import annotations

from typing import Final

from tools_app.core import guarded_http
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.stored_json import read_stored
from tools_app.standards.x402.payment_required import PaymentRequired, WayToPay, decode_required, read_address
from tools_app.standards.x402.price_offers import VERSION

_REQUIRED: Final = "payment-required"
_LONGEST: Final = 16_000


class HostNotAsked(
    GolemError,
    code="PAYMENT_HOST_SILENT",
    status=502,
    recovery=Recovery.CHECK_STATE,
    title="The host does not say whom it is paid at",
    cleared_by="an answer of 402 by the host itself that asks for the token in which it may be paid",
):
    """The host cannot be asked, or does not say whom it is paid at."""


class HostAsker:
    """Sends the request from this server; `allows_private` is for a stand-in on this machine alone."""

    def __init__(self, *, allows_private: bool, seconds: float) -> None:
        self._allows_private, self._seconds = allows_private, seconds

    def ask_payee(self, url: str, *, method: str, chain_id: int, token: str) -> str:
        """The one address at which the host wants to be paid in `token` on the chain. Raises HostNotAsked."""
        try:
            target = guarded_http.resolve(url, allows_private=self._allows_private)
            answer = guarded_http.exchange(
                method,
                target,
                headers={"Accept": "application/json", "Content-Type": "application/json"},
                body=b"{}" if method == "POST" else None,
                seconds=self._seconds,
                keeps=frozenset({_REQUIRED}),
            )
        except (AddressRefused, ExchangeFailed) as error:
            raise HostNotAsked(f"the host is not reached: {error}") from None
        if answer.status != 402:
            raise HostNotAsked(f"it answers {answer.status} and not 402", status=str(answer.status))
        payees = {
            payee
            for way in _read_ways(answer.headers.get(_REQUIRED, ""))
            if way.network == f"eip155:{chain_id}"
            and read_address(way.asset) == token
            and (payee := read_address(way.payee)) is not None
        }
        if len(payees) != 1:
            found = "nobody" if not payees else f"{len(payees)} addresses"
            raise HostNotAsked(
                f"for this token on chain {chain_id} it wants {found} to be paid, and not one", token=token
            )
        return payees.pop()


def _read_ways(header: str) -> list[WayToPay]:
    try:
        told = decode_required(header, most_bytes=_LONGEST)
    except ValueError:
        raise HostNotAsked("its header PAYMENT-REQUIRED is missing or holds no JSON in base64") from None
    whole = read_stored(PaymentRequired, told) if isinstance(told, dict) else PaymentRequired()
    if whole.version != VERSION or not isinstance(whole.accepts, list):
        raise HostNotAsked(f"it asks for no payment of version {VERSION}")
    return [read_stored(WayToPay, each) for each in whole.accepts[:50] if isinstance(each, dict)]
