"""Every error an agent can meet: its own code, a status, a next step, and words. The codes are a snapshot."""

from __future__ import annotations

import importlib
import json
import os
import re
from http import HTTPStatus

from golem_project.pi.schema_lines import render_lines, tell_differences
from tests.architecture.sources import PACKAGES, ROOT, list_sources, list_tracked
from tests.batches import in_batches
from tools_app.core.errors import GolemError, Recovery

_THIS = "tests/architecture/test_errors.py"
SNAPSHOT = ROOT / "tests" / "snapshots" / "errors.json"
# Bases whose code their subclasses may share on purpose.
_SHARING_BASES: dict[str, str] = {}
# Written without a code of their own on purpose: they carry the code of something else.
_CARRIERS = {"RemoteProblem": "rebuilds an error of another process", "InternalError": "is the root's own code"}
_LANGUAGE_OF_OTHERS = "A2A tells it by an error of its own, which the tests of tests/golem_project/a2a name"
_READINESS = "/readyz and the pages tell it in words of their own, which the tests of its parts read"
_IS_A_ROOT = "only what is below it is raised"
# Codes that no test and no case names, neither by itself nor by its class, each with why; empty is the aim.
_UNNAMED: dict[str, str] = {
    **dict.fromkeys(("A2A_TASK_NOT_CANCELABLE", "A2A_TASK_UNKNOWN"), _LANGUAGE_OF_OTHERS),
    **dict.fromkeys(("CHAINS_STOPPED", "CLOCKS_DIFFER", "OUT_OF_SPACE"), _READINESS),
    **dict.fromkeys(("DELEGATION_INVALID", "REQUIREMENT_MISSING"), _IS_A_ROOT),
    "RENEWAL_REFUSED": "OAuth tells it as `invalid_grant`, which tests/golem_project/oauth names",
    "DEPLOYMENT_TOO_FAR_BACK": "a contract that speaks more often than one reading takes in, several times over",
    "NODES_DISAGREE": "two nodes that say different logs of one stretch, each of which agrees with itself",
    "NO_MARKET_FOR_PAIR": "a loop over a pair of a lender that no market here trades",
}


def _import_everything() -> None:
    for path in list_sources():
        # Entry points and modules run as processes of their own read their command line when they are imported.
        if path.endswith("__main__.py") or not re.search(r"^class \w+\(", (ROOT / path).read_text(), re.MULTILINE):
            continue
        if not path.startswith(("golem_project/settings/", "tests/proof/", "golem_project/embedded/")):
            importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def _list_errors() -> list[type[GolemError]]:
    _import_everything()
    found: dict[str, type[GolemError]] = {}
    waiting: list[type[GolemError]] = [GolemError]
    while waiting:
        error = waiting.pop()
        if error.__module__.split(".")[0] in PACKAGES:
            found[f"{error.__module__}.{error.__qualname__}"] = error
        waiting.extend(error.__subclasses__())
    return [found[name] for name in sorted(found)]


ERRORS = _list_errors()


def describe_errors() -> dict[str, dict[str, object]]:
    """The content of the snapshot: class, status, recovery and title by code."""
    return {
        error.code: {
            "error": f"{error.__module__}.{error.__qualname__}",
            "http_status": error.http_status,
            "recovery": str(error.recovery),
            "title": error.title,
        }
        for error in sorted(ERRORS, key=lambda error: error.code)
        if error.__name__ not in _CARRIERS
    }


def test_no_two_errors_share_a_code() -> None:
    owners: dict[str, list[str]] = {}
    for error in ERRORS:
        if error.__name__ not in _CARRIERS:
            owners.setdefault(error.code, []).append(error.__name__)
    shared = {code: names for code, names in owners.items() if len(names) > 1 and code not in _SHARING_BASES}
    assert shared == {}


@in_batches("error", ERRORS, name=lambda error: error.code, batch=lambda error: error.__module__.split(".")[0])
def test_an_error_has_a_code_a_status_a_next_step_and_words(error: type[GolemError]) -> None:
    assert error.code == error.code.upper() and error.code.replace("_", "").isalnum()
    assert 400 <= HTTPStatus(error.http_status) < 600
    assert isinstance(error.recovery, Recovery)
    assert error.title and (error.title != GolemError.title or error.code == GolemError.code)


@in_batches("error", ERRORS, name=lambda error: error.code, batch=lambda error: error.__module__.split(".")[0])
def test_a_fault_of_ours_never_tells_the_agent_to_mend_its_parameters(error: type[GolemError]) -> None:
    if error.http_status >= 500:
        assert error.recovery is not Recovery.FIX_PARAMS
    assert error.recovery is not Recovery.WAIT or error.http_status in {409, 423, 425, 429, 500, 502, 503, 504}


@in_batches("error", [error for error in ERRORS if error.recovery is Recovery.WAIT], name=lambda error: error.code)
def test_who_is_told_to_wait_is_told_what_for(error: type[GolemError]) -> None:
    """`resets_at` or `retry_after_seconds` says when; where no clock knows, this is all there is to know."""
    assert error("x").as_problem()["cleared_by"]
    assert error("x", cleared_by="the Safe's turn").as_problem()["cleared_by"] == "the Safe's turn"
    assert "cleared_by" not in error("x", recovery=Recovery.ASK_OWNER).as_problem()


def test_the_codes_of_errors_are_those_of_the_snapshot() -> None:
    """A code an agent may act on never changes unseen. GOLEM_WRITE_SNAPSHOTS=1 writes the new ones."""
    text = render_lines(describe_errors())
    if os.environ.get("GOLEM_WRITE_SNAPSHOTS") == "1":
        SNAPSHOT.write_text(text, encoding="utf-8")
    stored = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert list(tell_differences(stored, json.loads(text))) == []
    assert SNAPSHOT.read_text(encoding="utf-8") == text, "not as it would be written anew"


def test_every_code_is_named_by_a_test_or_says_why_not() -> None:
    """What nobody names nobody misses: a refusal that never comes any more, or comes with another code."""
    names = (path for path in list_tracked() if path.startswith("tests/") or path.endswith("cases.py"))
    texts = ((ROOT / path).read_text(encoding="utf-8") for path in names if path.endswith(".py") and path != _THIS)
    said = {word for text in texts for word in re.findall(r"\w+", text)}
    errors = [error for error in ERRORS if error.__name__ not in _CARRIERS]
    assert {error.code for error in errors if not {error.code, error.__name__} & said} == set(_UNNAMED)
