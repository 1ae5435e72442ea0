"""Queues requests in four lines before the application, each served by turns between callers.

Who is known goes by owner. Who is not goes by address: those who show a token or a session that nobody knows yet, those
who show none, and those who try a password. Only the first line may have the whole server.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final

from django.conf import settings

from archetypes_app.actions.create_api_key import TOKEN_PREFIX
from golem_project.front.addresses import read_address
from golem_project.front.errors import LoginsTooFast, TooManyFromHere
from golem_project.front.login_rate import LoginPace
from golem_project.pi.errors import TooManyAtOnce
from golem_project.pi.known_callers import KNOWN, name_session
from golem_project.runtime.asgi_types import Scope
from permits_app.errors import TooManyPreviews
from tools_app.core.errors import GolemError
from tools_app.core.fair_queue_places import NoRoom, Turns, WaitingTurn

HALT_PATH: Final = "/api/v1/pi/emergency_halt"
PREVIEW_PATH: Final = "/api/v1/pi/preview_action"
_PASSWORD_PATHS: Final = ("/admin/login", "/join")
# Of one address in a line for strangers: a browser that opens a page asks for a few dozen files at once.
_WAITING_OF_ONE: Final = 32
_WAITING: Final = 512
_LOGINS_WAITING_OF_ONE: Final = 4


@dataclass(frozen=True, slots=True)
class PlaceInLine:
    """Where a request stands: the line, and as whom in it. `line` None passes all lines."""

    line: Turns | None
    who: str
    is_known: bool
    is_preview: bool = False


class Lanes:
    """The lines of one server process."""

    def __init__(self) -> None:
        self._known = Turns(
            places=settings.GOLEM_WEB_THREADS,
            of_one=settings.GOLEM_REQUESTS_OF_ONE_AT_ONCE,
            waiting=0,
            waiting_of_one=0,
        )
        # As many as may wait for a worker, and those who are with one: what is beyond takes no thread.
        self._previews = Turns(
            places=settings.GOLEM_WEB_THREADS,
            of_one=settings.GOLEM_PREVIEWS_WAITING_OF_ONE_OWNER,
            waiting=0,
            waiting_of_one=0,
        )
        self._unproven = _line_of_strangers(settings.GOLEM_UNPROVEN_AT_ONCE)
        self._strangers = _line_of_strangers(settings.GOLEM_STRANGERS_AT_ONCE)
        self._logins = Turns(
            places=settings.GOLEM_LOGINS_AT_ONCE,
            of_one=settings.GOLEM_LOGINS_AT_ONCE,
            waiting=_WAITING,
            waiting_of_one=_LOGINS_WAITING_OF_ONE,
        )
        self._pace = LoginPace()

    def place(self, scope: Scope) -> PlaceInLine:
        """Where a request stands. Raises LoginsTooFast."""
        address = read_address(scope)
        if scope["method"] == "POST" and scope["path"].startswith(_PASSWORD_PATHS):
            wait = self._pace.take(address)
            if wait:
                raise LoginsTooFast(
                    f"{settings.GOLEM_LOGINS_A_MINUTE_PER_ADDRESS} passwords a minute may be tried from one address;"
                    f" this one was not looked at. Try again in {wait} seconds",
                    retry_after_seconds=wait,
                )
            return PlaceInLine(self._logins, address, is_known=False)
        shown = _read_credential(scope)
        if shown is None:
            return PlaceInLine(self._strangers, address, is_known=False)
        who = KNOWN.find(shown)
        if who is None:
            return PlaceInLine(self._unproven, address, is_known=False)
        # A halt needs no place: it is what ends a crowd of one's own.
        path = scope["path"]
        line = None if path == HALT_PATH else self._previews if path == PREVIEW_PATH else self._known
        return PlaceInLine(line, who, is_known=True, is_preview=path == PREVIEW_PATH)

    @contextlib.asynccontextmanager
    async def hold(self, standing: PlaceInLine) -> AsyncIterator[WaitingTurn | None]:
        """A place until the end, or until the turn leaves its line. Raises TooManyFromHere, TooManyAtOnce,
        TooManyPreviews.
        """
        if standing.line is None:
            yield None
            return
        turn = await self._take(standing, standing.line)
        try:
            yield turn
        finally:
            standing.line.leave(turn)

    async def _take(self, standing: PlaceInLine, line: Turns) -> WaitingTurn:
        loop = asyncio.get_running_loop()
        granted = asyncio.Event()
        try:
            turn = line.ask(standing.who, lambda: _tell(loop, granted))
        except NoRoom as error:
            raise _refuse(standing, is_own=error.of_one) from None
        if turn.is_granted:
            return turn
        try:
            async with asyncio.timeout(settings.GOLEM_WAIT_FOR_TURN_SECONDS):
                await granted.wait()
        except TimeoutError:
            line.leave(turn)
            raise _refuse(standing, is_own=False) from None
        except BaseException:
            line.leave(turn)
            raise
        return turn


def _tell(loop: asyncio.AbstractEventLoop, granted: asyncio.Event) -> None:
    # A loop that has ended has nobody waiting.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(granted.set)


def _line_of_strangers(places: int) -> Turns:
    # One address never has all of them.
    return Turns(places=places, of_one=max(1, places - 1), waiting=_WAITING, waiting_of_one=_WAITING_OF_ONE)


def _refuse(standing: PlaceInLine, *, is_own: bool) -> GolemError:
    if standing.is_preview:
        return TooManyPreviews(
            "as many previews of this owner's golems wait as may; this one was not begun. Ask again shortly",
            retry_after_seconds=1,
        )
    if standing.is_known:
        most = settings.GOLEM_REQUESTS_OF_ONE_AT_ONCE
        return TooManyAtOnce(
            f"{most} requests of this owner are worked on here; this one was not begun",
            limit=most,
            retry_after_seconds=1,
        )
    whose = "from your address" if is_own else "without a token that is known here"
    return TooManyFromHere(
        f"as many requests {whose} wait as may; this one was not begun. Ask again shortly", retry_after_seconds=2
    )


def _read_credential(scope: Scope) -> str | None:
    """The token, or else the session, that came along; None where neither has the form of one."""
    headers = dict(scope["headers"])
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").strip().partition(" ")
    if scheme.lower() == "bearer":
        token = token.strip()
        return token if token.startswith(TOKEN_PREFIX) else None
    cookie = headers.get(b"cookie")
    if cookie is None:
        return None
    try:
        found = SimpleCookie(cookie.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    return name_session(found.value) if found is not None and found.value else None
