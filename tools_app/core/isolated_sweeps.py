"""A sweep over rows of many golems: one that fails stops no other, whatever failed.

What was not foreseen is an error of ours and is logged with its traceback; what the product knows is logged by its
code. A database that is away is no row's fault, and neither is what a caller names in `raises`: that ends the sweep.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

from tools_app.core.errors import GolemError

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")


def one_by_one(
    items: Iterable[T], act: Callable[[T], R], *, what: str, raises: tuple[type[Exception], ...] = ()
) -> Iterator[R]:
    """What `act` answers for each of `items` that it does not fail for, in their order. Outside a transaction.

    `what` names the kind of thing for the log. Raises InterfaceError and OperationalError where the database is away.
    """
    for item in items:
        try:
            answer = act(item)
        except raises:
            raise
        except GolemError as error:
            logger.warning("%s %s waits: %s", what, item, error.code)
        except (InterfaceError, OperationalError):
            if not connection.is_usable():
                raise
            logger.exception("the database failed %s %s", what, item)
        except Exception:
            logger.exception("%s %s failed unexpectedly", what, item)
        else:
            yield answer
