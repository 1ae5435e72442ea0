"""Waiting for a worker: each way in which no answer comes has an error of its own, which says whether to try again."""

from __future__ import annotations

from typing import Any

import pytest
from celery.exceptions import TimeoutError as CeleryTimeout
from celery.exceptions import WorkerLostError
from redis.exceptions import ConnectionError as BrokerAway

from tools_app.core.errors import BrokerUnavailable, GolemError, Recovery, WorkerEnded, WorkerTimeout
from tools_app.core.worker_dispatch import wait_for


class Result:
    """A result that never comes."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def get(self, **_: Any) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "expected", "status", "recovery"),
    [
        (CeleryTimeout(), WorkerTimeout, 504, Recovery.CHECK_STATE),
        (WorkerLostError("exitcode 15"), WorkerEnded, 503, Recovery.WAIT),
        (BrokerAway(), BrokerUnavailable, 503, Recovery.WAIT),
    ],
)
def test_what_keeps_an_answer_away_is_said_with_what_to_do(
    error: Exception, expected: type[GolemError], status: int, recovery: Recovery
) -> None:
    result: Any = Result(error)
    with pytest.raises(expected) as told:
        wait_for(result, seconds=1)
    assert (told.value.http_status, told.value.recovery) == (status, recovery)
