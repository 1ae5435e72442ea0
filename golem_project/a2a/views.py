"""Serves agent cards, keys and the proof of a wallet over HTTP. These pages are public; a golem is found by its id."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import http_date
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from archetypes_app.models import Golem
from golem_project.a2a import visitor_sign_in
from golem_project.a2a.card_key import list_public_keys
from golem_project.a2a.errors import AgentUnknown
from golem_project.a2a.uptime import measure_uptime
from golem_project.pi.errors import BodyTooLarge
from golem_project.pi.exception_handler import PROBLEM_JSON, answer_request
from golem_project.pi.parsers import MAX_BODY_BYTES, parse_object
from golem_project.pi.problem_members import Problem
from permits_app.permits.registered_agents import list_registered
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.public_addresses import INFRASTRUCTURE

_SECONDS = 60
_VERSION = "A2A-Version"
View = Callable[..., HttpResponse]
_counted: dict[UUID, tuple[float, dict[str, object]]] = {}


@dataclass(frozen=True, slots=True)
class _Wallet:
    wallet: str


@dataclass(frozen=True, slots=True)
class _Proof:
    nonce: str
    signature: str


def answers_problems(view: View) -> View:
    """A refusal of `view` is answered as every error of the API."""

    @wraps(view)
    def answer(
        request: HttpRequest,
        *args: Any,  # Any: what the address names
        **kwargs: Any,  # Any: likewise
    ) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except GolemError as error:
            problem, headers = answer_request(error, request)
            return JsonResponse(problem, status=Problem(problem).status, headers=headers, content_type=PROBLEM_JSON)

    return answer


@require_safe
@answers_problems
def show_agent_card(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """The card of one golem, with an entity tag over all but its signature."""
    # Slow to load, and every process knows the paths.
    from golem_project.a2a.cards import make_card, show_card
    from golem_project.a2a.skills import list_public

    golem = find_golem(golem_id)
    base_url = f"{request.scheme}://{request.get_host()}"
    card = make_card(golem=golem, base_url=base_url, skills=list_public(golem))
    shown = show_card(card, version=request.headers.get(_VERSION, ""))
    unsigned = {name: value for name, value in shown.items() if name != "signatures"}
    etag = f'W/"{sha256(json.dumps(unsigned, sort_keys=True).encode()).hexdigest()[:32]}"'
    headers = {
        "ETag": etag,
        "Cache-Control": f"public, max-age={_SECONDS}",
        "Last-Modified": http_date(golem.updated_at.timestamp()),
        "Access-Control-Allow-Origin": "*",
        "Vary": _VERSION,
    }
    if etag.removeprefix("W/") in {
        tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")
    }:
        return HttpResponse(status=304, headers=headers)
    return JsonResponse(shown, headers=headers)


@require_safe
@answers_problems
def show_root_card(request: HttpRequest) -> HttpResponse:
    """The card of the golem this host stands for, if it stands for one."""
    return show_agent_card(request, _find_root_golem())


@require_safe
@answers_problems
def show_registrations(request: HttpRequest) -> HttpResponse:
    """The ERC-8004 agents of the golem this host stands for: by it others know that the host is theirs."""
    golem_id = _find_root_golem()
    registered = [
        {"agentId": agent.number, "agentRegistry": agent.registry_in_full}
        for agent in list_registered(golem_id=golem_id)
    ]
    headers = {"Cache-Control": f"public, max-age={_SECONDS}", "Access-Control-Allow-Origin": "*"}
    return JsonResponse({"registrations": registered, **_describe_infrastructure(golem_id)}, headers=headers)


def _describe_infrastructure(golem_id: UUID) -> dict[str, object]:
    """What the agent of a whole server says of itself: its role, and how reliably it was there, by the minute."""
    kept = _counted.get(golem_id)
    if kept is None or clock.monotonic_ms() - kept[0] > _SECONDS * 1_000:
        kept = clock.monotonic_ms(), measure_uptime(find_golem(golem_id), now=clock.now()).as_dict()
        _counted.clear()
        _counted[golem_id] = kept
    return {"role": INFRASTRUCTURE, "uptime": kept[1]}


@require_safe
def show_keys(request: HttpRequest) -> HttpResponse:
    """The public keys of card and notification signatures."""
    return JsonResponse(list_public_keys(), headers={"Cache-Control": f"public, max-age={_SECONDS}"})


@csrf_exempt
@require_POST
@answers_problems
def give_challenge(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """`{"wallet": address or did:pkh}` -> what to sign."""
    golem, body = find_golem(golem_id), _read(request, {"wallet"})
    challenge = visitor_sign_in.make_challenge(
        golem=golem, who=read_stored(_Wallet, body).wallet, domain=request.get_host(), now=clock.now()
    )
    return JsonResponse(visitor_sign_in.show_challenge(challenge), status=201, headers={"Cache-Control": "no-store"})


@csrf_exempt
@require_POST
@answers_problems
def give_visit(request: HttpRequest, golem_id: UUID) -> HttpResponse:
    """`{"nonce", "signature"}` -> a token for this golem's opened reads."""
    proof = read_stored(_Proof, _read(request, {"nonce", "signature"}))
    new = visitor_sign_in.open_visit(golem_id=golem_id, nonce=proof.nonce, signature=proof.signature, now=clock.now())
    answer = {"token": new.token, "wallet": new.visit.address, "expires_at": new.visit.expires_at.isoformat()}
    return JsonResponse(answer, status=201, headers={"Cache-Control": "no-store"})


def _find_root_golem() -> UUID:
    try:
        return UUID(settings.GOLEM_A2A_ROOT_GOLEM)
    except ValueError:
        raise AgentUnknown(
            "this host is several agents; the card of each is at /a2a/<golem id>/.well-known/agent-card.json"
        ) from None


def find_golem(golem_id: UUID) -> Golem:
    golem = Golem.objects.select_related("archetype", "warden").filter(pk=golem_id).first()
    if golem is None:
        raise AgentUnknown("no agent has this address")
    return golem


def _read(request: HttpRequest, names: set[str]) -> dict[str, str]:
    raw = request.read(MAX_BODY_BYTES + 1)
    if len(raw) > MAX_BODY_BYTES:
        raise BodyTooLarge(f"a body is at most {MAX_BODY_BYTES} bytes", limit_bytes=MAX_BODY_BYTES)
    body = parse_object(raw)
    wrong = sorted(set(body) ^ names) or sorted(name for name in names if not isinstance(body[name], str))
    if wrong:
        raise InvalidParams(f"send {', '.join(sorted(names))} as text", fields=dict.fromkeys(wrong, "text"))
    return {name: str(body[name]) for name in names}
