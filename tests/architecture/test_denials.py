"""Whoever asks for a preview or starts a commit writes a refusal down: HTTP, delegation, heartbeat, later callers."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.sources import dotted, walk

_MEASURING = ("tests/bench/", "tests/proof/", "golem_project/demo/")
_RECORDERS = {"preview_action": "record_preview_denial", "start_commit": "record_commit_denial"}
# What an owner approved or announced is refused in its own line: the request fails, the permit is blocked.
_TELLS_OTHERWISE = {
    "start_commit": {"permits_app/actions/execute_change.py", "permits_app/actions/announce_warden_actions.py"},
}


def _callers(name: str) -> set[str]:
    return {
        path
        for path, node in walk(skip=_MEASURING)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == name
    }


@pytest.mark.parametrize("act", _RECORDERS)
def test_every_caller_records_the_refusal(act: str) -> None:
    callers = _callers(act) - _TELLS_OTHERWISE.get(act, set())
    assert callers
    assert callers <= _callers(_RECORDERS[act])


@pytest.mark.parametrize(("act", "paths"), _TELLS_OTHERWISE.items())
def test_those_that_tell_otherwise_still_call(act: str, paths: set[str]) -> None:
    assert paths <= _callers(act)
