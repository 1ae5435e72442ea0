"""Caches pages that are the same for everybody, so that a crowd that asks for one costs its bytes alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Final

from django.http import HttpRequest, HttpResponse

_MOST_KEPT: Final = 16
_LONGEST_PART: Final = 200

View = Callable[..., HttpResponse]


def kept_answer(*, parameters: tuple[str, ...] = ()) -> Callable[[View], View]:
    """Decorates a view whose answer depends on nothing but its path, `Accept` and the query's `parameters`."""

    def decorate(view: View) -> View:
        lock = threading.Lock()
        kept: OrderedDict[tuple[str, ...], tuple[bytes, int, dict[str, str]]] = OrderedDict()

        @wraps(view)
        def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            asked = (request.headers.get("Accept", ""), *(request.GET.get(name, "") for name in parameters))
            if request.method != "GET" or any(len(part) > _LONGEST_PART for part in asked):
                return view(request, *args, **kwargs)
            key = (request.path, *asked)
            # Held while it is made: who comes meanwhile waits for the one answer and makes none of their own.
            with lock:
                found = kept.get(key)
                if found is None:
                    made = view(request, *args, **kwargs)
                    if hasattr(made, "render"):
                        made.render()
                    if made.status_code != 200:
                        return made
                    found = (made.content, made.status_code, dict(made.items()))
                    kept[key] = found
                    if len(kept) > _MOST_KEPT:
                        kept.popitem(last=False)
                kept.move_to_end(key)
            content, status, headers = found
            return HttpResponse(content, status=status, headers=headers)

        return answer

    return decorate
