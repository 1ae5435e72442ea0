"""Answers a repeated request (Idempotency-Key) with the first answer, so that its effect happens once.

The row's unique constraint decides which of two requests is the first. The answer is kept for a day per API key;
while the first still runs, a repeat is told so. What failed on our side is not kept: the same key may try again.
"""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.db import DatabaseError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.views import APIView

from archetypes_app.models import ApiKey
from archetypes_app.models.api_key import Scope
from permits_app.models import IdempotencyRecord
from tools_app.core import clock
from tools_app.core.errors import DatabaseUnavailable, GolemError, Recovery
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST_KEY = 200
_KEPT_HEADERS = ("Location", "Retry-After", "Preference-Applied", "WWW-Authenticate")
_NOT_KEPT = frozenset({401, 403, 429})


class IdempotencyKeyReused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The Idempotency-Key was used for another request"
):
    """The key came with another request before."""


class IdempotencyKeyInUse(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="A request with this Idempotency-Key is still running",
    cleared_by="the first request with this key ends",
):
    """The first request with this key still runs."""


class IdempotencyKeyInvalid(
    GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="The Idempotency-Key is malformed"
):
    """The key is empty, too long, or holds more than visible ASCII."""


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """This request is the first with its key and will give the answer that is kept."""

    record_id: int
    token: str

    def keep(self, *, status: int, headers: dict[str, str], body: str) -> None:
        """Keep the answer."""
        self._own().update(status=status, headers=headers, body=body)

    def give_up(self) -> None:
        """Let the same key be tried again."""
        self._own().delete()

    def _own(self) -> QuerySet[IdempotencyRecord]:
        return IdempotencyRecord.objects.filter(pk=self.record_id, claim=self.token, status=0)


class _Replay(Exception):
    def __init__(self, response: Response) -> None:
        super().__init__("the first answer is replayed")
        self.response = response


class IdempotentView(APIView):
    """Honours Idempotency-Key on every POST whose scope allows an effect."""

    required_scope: Scope | None = None
    _claim: FirstRequest | None = None

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST" or self.required_scope in (None, Scope.READ):
            return
        if not isinstance(request.auth, ApiKey):
            return
        found = claim_key(
            api_key=request.auth, key=key, request_digest=digest_request(request.path, request.data), now=clock.now()
        )
        if isinstance(found, FirstRequest):
            self._claim = found
        else:
            raise _Replay(answer_again(found))

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, _Replay):
            return exc.response
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        claim, self._claim = self._claim, None
        if claim is None:
            return final
        try:
            _settle(claim, final)
        except DatabaseError:
            # The lock of the claim ends by itself. An answer that says to ask again stays as it is.
            logger.warning("the claim of an Idempotency-Key could not be settled: the database is away")
            if _is_kept(final):
                refusal = super().handle_exception(_answer_lost())
                return super().finalize_response(request, refusal, *args, **kwargs)
        return final


@retry_aborted
def claim_key(*, api_key: ApiKey, key: str, request_digest: str, now: datetime) -> FirstRequest | IdempotencyRecord:
    """A claim when this request is the first, else the record with the first answer.

    Raises IdempotencyKeyInvalid, IdempotencyKeyReused, IdempotencyKeyInUse.
    """
    if not key or len(key) > LONGEST_KEY or not all("!" <= letter <= "~" for letter in key):
        raise IdempotencyKeyInvalid(f"1 to {LONGEST_KEY} visible ASCII characters, no spaces")
    token = uuid.uuid4().hex
    locked_until = now + timedelta(seconds=settings.GOLEM_IDEMPOTENCY_LOCK_SECONDS)
    IdempotencyRecord.objects.filter(api_key=api_key, key=key, expires_at__lte=now).delete()
    record = IdempotencyRecord(
        api_key=api_key,
        key=key,
        request_digest=request_digest,
        claim=token,
        locked_until=locked_until,
        created_at=now,
        expires_at=now + timedelta(hours=settings.GOLEM_IDEMPOTENCY_HOURS),
    )
    # Of several at once one is written; the others are no errors, in the database's log either.
    IdempotencyRecord.objects.bulk_create([record], ignore_conflicts=True)
    existing = IdempotencyRecord.objects.filter(api_key=api_key, key=key).first()
    if existing is None:
        raise IdempotencyKeyInUse("the first request just ended without an answer to keep; send it again")
    if existing.claim == token:
        return FirstRequest(existing.pk, token)
    if existing.request_digest != request_digest:
        raise IdempotencyKeyReused("this key came with another path or body before; take a new key")
    if existing.status:
        return existing
    # The first request is dead when its lock is over; one of the repeats takes its place.
    taken = IdempotencyRecord.objects.filter(
        pk=existing.pk, status=0, claim=existing.claim, locked_until__lte=now
    ).update(claim=token, locked_until=locked_until)
    if taken:
        return FirstRequest(existing.pk, token)
    raise IdempotencyKeyInUse("the first request with this key still runs; ask again shortly", retry_after_seconds=1)


def digest_request(path: str, body: object) -> str:
    """Names a request: its path and its parsed body, whatever the order of the fields."""
    text = json.dumps([path, body], sort_keys=True, cls=JSONEncoder)
    return "0x" + sha256(text.encode()).hexdigest()


def answer_again(record: IdempotencyRecord) -> Response:
    """The first answer: its status, body and headers, and a header that says it is a repeat."""
    headers = {name: value for name, value in record.headers.items() if name != "Content-Type"}
    return Response(
        json.loads(record.body) if record.body else None,
        status=record.status,
        headers={**headers, REPLAYED: "true"},
        content_type=record.headers.get("Content-Type"),
    )


def _answer_lost() -> DatabaseUnavailable:
    return DatabaseUnavailable(
        "this was carried out, and its answer could not be kept for a repeat; look the state up before you repeat it",
        recovery=Recovery.CHECK_STATE,
    )


def _is_kept(response: Response) -> bool:
    return response.status_code < 500 and response.status_code not in _NOT_KEPT


def _settle(claim: FirstRequest, response: Response) -> None:
    if not _is_kept(response):
        claim.give_up()
        return
    headers = {name: response[name] for name in _KEPT_HEADERS if response.has_header(name)}
    if response.content_type:
        headers |= {"Content-Type": response.content_type}
    body = "" if response.data is None else json.dumps(response.data, cls=JSONEncoder)
    claim.keep(status=response.status_code, headers=headers, body=body)
