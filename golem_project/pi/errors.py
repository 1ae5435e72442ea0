"""Defines what the HTTP interface itself refuses: tokens, bodies, routes."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ApiKeyMissing(GolemError):
    """No bearer token came with the request."""

    code = "API_KEY_MISSING"
    http_status = 401
    recovery = Recovery.ASK_OWNER
    title = "A bearer token is needed"


class ApiKeyInvalid(GolemError):
    """The token is malformed or was never issued here."""

    code = "API_KEY_INVALID"
    http_status = 401
    recovery = Recovery.ASK_OWNER
    title = "The bearer token is not known here"


class ApiKeyExpired(GolemError):
    """The token's life is over; its owner can make another."""

    code = "API_KEY_EXPIRED"
    http_status = 401
    recovery = Recovery.ASK_OWNER
    title = "The bearer token has expired"


class AccessTokenOver(GolemError):
    """The minutes of a signed-in agent's token are over. `data` has expired_at and token_endpoint."""

    code = "ACCESS_TOKEN_EXPIRED"
    http_status = 401
    recovery = Recovery.CHECK_STATE
    title = "The access token has to be renewed"


class ApiKeyRevoked(GolemError):
    """The owner withdrew the token."""

    code = "API_KEY_REVOKED"
    http_status = 401
    recovery = Recovery.ASK_OWNER
    title = "The bearer token was revoked"


class ApiKeySuspended(GolemError):
    """The account of who made the token is not active: whoever holds it may not be who its owner thinks."""

    code = "API_KEY_SUSPENDED"
    http_status = 401
    recovery = Recovery.ASK_OWNER
    title = "The account that made the bearer token is not active"


class ScopeMissing(GolemError):
    """The token is good, but not for this."""

    code = "SCOPE_MISSING"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "The bearer token lacks a scope"


class TooManyAtOnce(GolemError):
    """Half of this server's threads work for agents of this owner. `data` has limit, retry_after_seconds."""

    code = "TOO_MANY_REQUESTS_AT_ONCE"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of the requests that are worked on ends"
    title = "Too many requests of this owner's agents at once"


class BodyNotJson(GolemError):
    """The body is not JSON, or JSON that no exact value can be made of (NaN, half a character)."""

    code = "BODY_NOT_JSON"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "The body is not JSON"


class BodyNotObject(GolemError):
    """The body is JSON, but not one object."""

    code = "BODY_NOT_OBJECT"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "The body must be one JSON object"


class BodyTooDeep(GolemError):
    """Lists and objects are nested beyond what any tool takes."""

    code = "BODY_TOO_DEEP"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "The body is nested too deeply"


class DuplicateField(GolemError):
    """One object names a field twice, so which value was meant is anyone's guess."""

    code = "DUPLICATE_FIELD"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "A field was given twice"


class BodyTooLarge(GolemError):
    """The body is longer than any tool call."""

    code = "BODY_TOO_LARGE"
    http_status = 413
    recovery = Recovery.FIX_PARAMS
    title = "The body is too large"


class UnsupportedContentType(GolemError):
    """The body is not declared as UTF-8 JSON."""

    code = "UNSUPPORTED_MEDIA_TYPE"
    http_status = 415
    recovery = Recovery.FIX_PARAMS
    title = "The body must be application/json"


class NotAcceptableHere(GolemError):
    """The caller accepts no form this endpoint can answer in."""

    code = "NOT_ACCEPTABLE"
    http_status = 406
    recovery = Recovery.FIX_PARAMS
    title = "Answers are application/json"


class MethodNotAllowedHere(GolemError):
    """The path exists, but not for this HTTP method."""

    code = "METHOD_NOT_ALLOWED"
    http_status = 405
    recovery = Recovery.FIX_PARAMS
    title = "This path does not take that method"


class RouteNotFound(GolemError):
    """Nothing answers at this path."""

    code = "NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is nothing at this path"


class BadRequest(GolemError):
    """The request itself is malformed: its host, its headers, its encoding."""

    code = "BAD_REQUEST"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "The request is malformed"


class UpgradeNotServed(GolemError):
    """The request asks to change the protocol, to a WebSocket; nothing here speaks one."""

    code = "UPGRADE_NOT_SERVED"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "Only plain HTTP is served here"


class Forbidden(GolemError):
    """Refused without a more precise reason."""

    code = "FORBIDDEN"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "This is not allowed"
