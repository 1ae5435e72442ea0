"""Types of an ASGI application and of what it is called with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]  # Any: ASGI leaves the values of a message to its sender
Scope = Message
Send = Callable[[dict[str, Any]], Awaitable[None]]  # Any: as above
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Any, Any, Any], Awaitable[None]]  # Any: Django and the library type the three each in their way
