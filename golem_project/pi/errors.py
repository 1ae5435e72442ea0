"""Defines what the HTTP interface itself refuses: tokens, bodies, routes."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ApiKeyMissing(GolemError, status=401, recovery=Recovery.ASK_OWNER, title="A bearer token is needed"):
    """No bearer token came with the request."""


class ApiKeyInvalid(GolemError, status=401, recovery=Recovery.ASK_OWNER, title="The bearer token is not known here"):
    """The token is malformed or was never issued here."""


class ApiKeyExpired(GolemError, status=401, recovery=Recovery.ASK_OWNER, title="The bearer token has expired"):
    """The token's life is over; its owner can make another."""


class AccessTokenOver(
    GolemError,
    code="ACCESS_TOKEN_EXPIRED",
    status=401,
    recovery=Recovery.CHECK_STATE,
    title="The access token has to be renewed",
):
    """The minutes of a signed-in agent's token are over. `data` has expired_at and token_endpoint."""


class ApiKeyRevoked(GolemError, status=401, recovery=Recovery.ASK_OWNER, title="The bearer token was revoked"):
    """The owner withdrew the token."""


class ApiKeySuspended(
    GolemError, status=401, recovery=Recovery.ASK_OWNER, title="The account that made the bearer token is not active"
):
    """The account of who made the token is not active: whoever holds it may not be who its owner thinks."""


class ScopeMissing(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="The bearer token lacks a scope"):
    """The token is good, but not for this."""


class TooManyAtOnce(
    GolemError,
    code="TOO_MANY_REQUESTS_AT_ONCE",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many requests of this owner's agents at once",
    cleared_by="one of the requests that are worked on ends",
):
    """Half of this server's threads work for agents of this owner. `data` has limit, retry_after_seconds."""


class BodyNotJson(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="The body is not JSON"):
    """The body is not JSON, or JSON that no exact value can be made of (NaN, half a character)."""


class BodyNotObject(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="The body must be one JSON object"):
    """The body is JSON, but not one object."""


class BodyTooDeep(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="The body is nested too deeply"):
    """Lists and objects are nested beyond what any tool takes."""


class DuplicateField(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="A field was given twice"):
    """One object names a field twice, so which value was meant is anyone's guess."""


class BodyTooLarge(GolemError, status=413, recovery=Recovery.FIX_PARAMS, title="The body is too large"):
    """The body is longer than any tool call."""


class UnsupportedContentType(
    GolemError,
    code="UNSUPPORTED_MEDIA_TYPE",
    status=415,
    recovery=Recovery.FIX_PARAMS,
    title="The body must be application/json",
):
    """The body is not declared as UTF-8 JSON."""


class NotAcceptableHere(
    GolemError, code="NOT_ACCEPTABLE", status=406, recovery=Recovery.FIX_PARAMS, title="Answers are application/json"
):
    """The caller accepts no form this endpoint can answer in."""


class MethodNotAllowedHere(
    GolemError,
    code="METHOD_NOT_ALLOWED",
    status=405,
    recovery=Recovery.FIX_PARAMS,
    title="This path does not take that method",
):
    """The path exists, but not for this HTTP method."""


class RouteNotFound(
    GolemError, code="NOT_FOUND", status=404, recovery=Recovery.FIX_PARAMS, title="There is nothing at this path"
):
    """Nothing answers at this path."""


class BadRequest(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="The request is malformed"):
    """The request itself is malformed: its host, its headers, its encoding."""


class UpgradeNotServed(GolemError, status=400, recovery=Recovery.FIX_PARAMS, title="Only plain HTTP is served here"):
    """The request asks to change the protocol, to a WebSocket; nothing here speaks one."""


class Forbidden(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="This is not allowed"):
    """Refused without a more precise reason."""
