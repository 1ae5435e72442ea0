"""A read that has a price over plain HTTP, as x402 publishes it: 402 with what is asked for, and again with a payment.

Nobody has to prove a wallet here: who pays is told by the payment. Who does all the same, by the token of a visit, may
ask again for what that wallet paid. A read that is free is asked over A2A.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from archetypes_app.errors import OwnerGone
from archetypes_app.ownership import is_owned
from golem_project.a2a.callers import identify_caller
from golem_project.a2a.errors import NotForStrangers, PaymentNeeded
from golem_project.a2a.public_queries import find_opened, sell_read
from golem_project.a2a.settle_paid_read import Asker
from golem_project.a2a.views import answers_problems, find_golem
from golem_project.pi.errors import BodyTooLarge
from golem_project.pi.exception_handler import PROBLEM_JSON, answer_request
from golem_project.pi.parsers import MAX_BODY_BYTES, parse_object, without_secrets
from golem_project.pi.problem_members import Problem
from tools_app.core import clock
from tools_app.standards.x402.payments import PaymentUnfit, open_header

REQUIRED: Final = "PAYMENT-REQUIRED"
SIGNATURE: Final = "PAYMENT-SIGNATURE"
RESPONSE: Final = "PAYMENT-RESPONSE"


@csrf_exempt
@require_POST
@answers_problems
def answer_paid_read(request: HttpRequest, golem_id: UUID, venue: str, query: str) -> HttpResponse:
    """The parameters as the body; the answer, once it is paid for, with its receipt in PAYMENT-RESPONSE."""
    opened = find_opened(find_golem(golem_id), query=query, venue=venue)
    if opened.price_micro_usdc is None:
        raise NotForStrangers("this read is free: prove a wallet and ask for it over A2A")
    if not is_owned(golem_id):
        raise OwnerGone("nobody with an active account owns this golem; it answers nobody until somebody does")
    params, url = _read_params(request), request.build_absolute_uri(request.path)
    try:
        payment = _read_payment(request)
        asker = _read_asker(request, golem_id)
        sold = sell_read(opened, params=params, url=url, payment=payment, asker=asker, read_clock=clock.now)
    except PaymentNeeded as needed:
        problem, headers = answer_request(needed, request)
        headers = {**headers, REQUIRED: _write_header(needed.data["x402"]), "Cache-Control": "no-store"}
        return JsonResponse(problem, status=Problem(problem).status, headers=headers, content_type=PROBLEM_JSON)
    return JsonResponse(sold.answer, headers={RESPONSE: _write_header(sold.receipt), "Cache-Control": "no-store"})


def _read_asker(request: HttpRequest, golem_id: UUID) -> Asker:
    """Whose visit it is. Raises what identify_caller raises for a token that is none of this golem's."""
    if "Authorization" not in request.headers:
        return Asker()
    return Asker(identify_caller(request, golem_id=golem_id, now=clock.now()).visitor)


def _read_payment(request: HttpRequest) -> Any:  # Any: the A2A and x402 libraries leave it untyped
    """What is handed in, None where nothing is. A header that holds no payment is answered as an unfit one."""
    header = request.headers.get(SIGNATURE)
    if header is None:
        return None
    try:
        return open_header(header)
    except PaymentUnfit:
        return {}


def _read_params(request: HttpRequest) -> dict[str, object]:
    raw = request.read(MAX_BODY_BYTES + 1)
    if len(raw) > MAX_BODY_BYTES:
        raise BodyTooLarge(f"a body is at most {MAX_BODY_BYTES} bytes", limit_bytes=MAX_BODY_BYTES)
    return without_secrets(parse_object(raw)) if raw.strip() else {}


def _write_header(value: object) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()
