"""GolemClient: the operations over HTTP, with retries that do nothing twice.

Every write carries an Idempotency-Key, which stays the same over its attempts, so that an answer that was lost is given
again and its effect happens once. A request is tried again when no answer came, or the server says it is busy; a
refusal by a rule never is. The token is sent to the one server it is for: redirects are not followed.
"""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from golem_client.events import RESUME, GolemEvent, read_events
from golem_client.operations import Operations
from golem_client.problem import GolemProblem, GolemUnreachable

TIMEOUT_SECONDS: Final = 90.0
"""Longer than the server waits for a preview or an outcome."""
ATTEMPTS: Final = 4
LONGEST_PAUSE_SECONDS: Final = 10.0
"""A server that asks for more is believed: the refusal is raised, and the caller decides."""
MOST_BYTES: Final = 32 * 1024 * 1024
_BUSY: Final = frozenset({429, 502, 503, 504})
_BUSY_CODES: Final = frozenset(
    {
        "IDEMPOTENCY_KEY_IN_USE",
        "TOO_MANY_COMMITS_WAITING",
        "TOO_MANY_PREVIEWS_WAITING",
        "TOO_MANY_REQUESTS_AT_ONCE",
        "TOO_MANY_WAITING_HERE",
    }
)
_UNSETTLED: Final = frozenset({"COMMITTING", "UNKNOWN"})
_IDEMPOTENCY_KEY: Final = "Idempotency-Key"


class GolemClient(Operations):
    """One golem through one token."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an http or https address")
        self._is_secure = parts.scheme == "https"
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout_seconds
        self._attempts = max(1, attempts)
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"GolemClient({self._host!r})"

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        has_effect: bool = False,
    ) -> dict[str, Any]:
        """Send one request, again where that is safe. Raises GolemProblem, GolemUnreachable.

        An unchanged manifest (If-None-Match) is an empty answer.
        """
        sent = {name: str(value) for name, value in (headers or {}).items() if value is not None}
        if has_effect:
            sent.setdefault(_IDEMPOTENCY_KEY, str(uuid.uuid4()))
        target = self._target(path, query)
        data = None if body is None else json.dumps({k: v for k, v in body.items() if v is not None}).encode()
        for attempt in range(1, self._attempts + 1):
            is_last = attempt == self._attempts
            try:
                status, answered, raw = self._exchange(method, target, sent, data)
            except (OSError, http.client.HTTPException) as error:
                if is_last:
                    reason = f"no answer after {attempt} attempts: {type(error).__name__}"
                    raise GolemUnreachable(reason, idempotency_key=sent.get(_IDEMPOTENCY_KEY, "")) from error
                self._sleep(_pause(attempt))
                continue
            if status < 300 or status == 304:
                found: dict[str, Any] = json.loads(raw) if raw else {}
                return found
            problem = GolemProblem(status, _read_members(raw))
            pause = _read_pause(problem, answered, attempt)
            if is_last or pause is None:
                raise problem
            self._sleep(pause)
        raise AssertionError("unreachable")

    def call(self, tool: str, arguments: Mapping[str, Any], *, has_effect: bool = True) -> dict[str, Any]:
        """Any Pi tool by name, such as what a refusal's `next_call` names."""
        return self.send("POST", f"/api/v1/pi/{tool}", body=arguments, has_effect=has_effect)

    def wait_for_outcome(self, permit_id: str, *, seconds: float = 60.0) -> dict[str, Any]:
        """The permit once its outcome is known, or as it stands after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            permit = self.get_permit(permit_id)
            if permit["status"] not in _UNSETTLED or time.monotonic() >= deadline:
                return permit
            self._sleep(1.0)

    def events(
        self, *, types: Iterable[str] = (), last_event_id: str = "", since: str = ""
    ) -> Generator[GolemEvent, None, None]:
        """The golem's events for ever: behind `last_event_id`, from the time `since` (RFC 3339), or from now on.

        A stream that ends is opened again where it ended: no event that came is told again, and none is left out once
        there was one. Raises GolemProblem for a refusal, GolemUnreachable when the server stays away, ValueError for
        what is no event stream.
        """
        query = {"types": ",".join(types) or None, "since": since or None}
        failures = 0
        while True:
            connection = self._connect()
            try:
                for event in self._open_events(connection, query, last_event_id):
                    failures, query["since"] = 0, None
                    last_event_id = event.id or event.data.get("last_event_id") or last_event_id
                    if event.type == RESUME:
                        break
                    yield event
                failures = 0
                pause = _pause(1)
            except (OSError, http.client.HTTPException) as error:
                failures += 1
                if failures >= self._attempts:
                    raise GolemUnreachable(f"no events after {failures} attempts: {type(error).__name__}") from error
                pause = _pause(failures)
            finally:
                connection.close()
            self._sleep(pause)

    def _open_events(
        self, connection: http.client.HTTPConnection, query: Mapping[str, Any], last_event_id: str
    ) -> Iterator[GolemEvent]:
        headers = {**self._headers(), "Accept": "text/event-stream"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        connection.request("GET", self._target("/api/v1/events", query), headers=headers)
        response = connection.getresponse()
        if response.status == 200:
            return read_events(response)
        problem = GolemProblem(response.status, _read_members(response.read(MOST_BYTES)))
        if response.status in _BUSY:
            raise ConnectionError(str(problem))
        raise problem

    def _exchange(
        self, method: str, target: str, headers: Mapping[str, str], data: bytes | None
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = self._connect()
        try:
            typed = {"Content-Type": "application/json"} if data is not None else {}
            connection.request(method, target, body=data, headers={**self._headers(), **typed, **headers})
            response = connection.getresponse()
            raw = response.read(MOST_BYTES + 1)
            if len(raw) > MOST_BYTES:
                raise http.client.HTTPException("the answer is too long")
            return response.status, dict(response.headers.items()), raw
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=self._timeout)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

    def _target(self, path: str, query: Mapping[str, Any] | None) -> str:
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return f"{self._prefix}{path}" + (f"?{urlencode(asked)}" if asked else "")


def _pause(attempt: int) -> float:
    return min(LONGEST_PAUSE_SECONDS, 0.25 * 2**attempt)


def _read_pause(problem: GolemProblem, headers: Mapping[str, str], attempt: int) -> float | None:
    """Seconds until the same request is worth another attempt; None where it is not."""
    if problem.status not in _BUSY and problem.code not in _BUSY_CODES:
        return None
    asked = problem.members.get("retry_after_seconds", headers.get("Retry-After"))
    try:
        pause = float(asked) if asked is not None else _pause(attempt)
    except (TypeError, ValueError):
        pause = _pause(attempt)
    return pause if 0 <= pause <= LONGEST_PAUSE_SECONDS else None


def _read_members(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
