"""An operator is told of a chain whose logs are not read any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from golem_project import wiring
from tests.evm.world import CHAIN_ID
from tests.tools_app.history.followed import Followed
from tools_app.models import FollowedChain

pytestmark = pytest.mark.django_db


def test_readiness_names_a_chain_whose_logs_are_not_read_and_why(followed: Followed, settings: Any) -> None:
    followed.watch(followed.pool.address)
    followed.mine(2)
    followed.follow()
    assert _list_histories() == []
    url = settings.GOLEM_RPC_URLS[CHAIN_ID]
    wiring.configure_networks({CHAIN_ID: ("http://127.0.0.1:9",)})
    followed.follow()
    long_ago = followed.now - timedelta(seconds=settings.GOLEM_HISTORY_SILENT_SECONDS + 5)
    FollowedChain.objects.update(followed_at=long_ago)
    [told] = _list_histories()
    assert (told["chain_id"], told["since"]) == (CHAIN_ID, long_ago.isoformat())
    assert told["reason"] == "its logs are not read: RPC_UNAVAILABLE"
    wiring.configure_networks({CHAIN_ID: url})
    followed.follow()
    assert _list_histories() == []


def _list_histories() -> list[dict[str, Any]]:
    body = Client().get("/readyz").json()
    return [each for each in body["stuck"] if each["what"] == "history"]
