"""The end of a golem on its page: everything is taken out and it is retired, or an owner stops that."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path

from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.halts.deaths import announce_death, find_open_death, stop_death


class DeathPages:
    """One address: begin the end, or stop the one that is open."""

    def list_death_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Its address."""
        return [path("<uuid:golem_id>/end/", wrap(self.end_view), name=f"{name}_end")]

    def end_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Ask, and begin or stop."""
        admin = as_golem_admin(self)
        golem = admin.get_own_golem(request, golem_id, Power.ADMINISTER)
        if golem.retired_at is not None:
            raise Http404("it is retired")
        death = find_open_death(golem.pk)
        if death is not None:
            kept: HttpResponse = admin.act(
                request,
                golem,
                _stop,
                title=f"Keep {golem.name}",
                submit="Keep it",
                is_dangerous=False,
                explanation=f"Its end ({death.reason}) stops here: no further step is taken. What is signed "
                "already runs to its end. If it is halted it stays halted until its owners resume it.",
                done=f"{golem.name} is kept.",
            )
            return kept
        begun: HttpResponse = admin.act(
            request,
            golem,
            _begin,
            title=f"Take everything out of {golem.name} and retire it",
            submit="Take out and retire",
            is_dangerous=True,
            explanation="First it is halted, and what others may take from it is taken back. Then each position is "
            "left, its debt paid from what lies in the wallet; tokens are sold for that only if you chose so for a "
            "halt. Then its memory is exported and it is retired, its keys revoked. What is in its wallet stays there "
            "until you withdraw it, before or after that, to an address that you registered: one can be used 48 hours "
            "after its approval. Where a step needs you, it waits and tells you. Until it is retired you can stop it "
            "here.",
            done=f"{golem.name} is on its way out.",
        )
        return begun


def _begin(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    announce_death(golem=golem, reason=reason, actor=actor, due_at=now, now=now)


def _stop(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    stop_death(golem=golem, reason=reason, actor=actor, now=now)
