"""A golem's month or year on a page to print, and its permits, outcomes, promises and profit as CSV."""

from __future__ import annotations

import json
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path

from archetypes_app.models import Golem
from archetypes_app.roles import Power
from permits_app.actions.record_nav import values_kept
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.errors import ArchiveBroken
from permits_app.models.record_archive import LEAST_DAYS
from permits_app.pages.promise_lines import name_promised_at, say_amounts, say_given
from permits_app.performance.csv_exports import EXPORTS, list_years
from permits_app.performance.monthly_statement import (
    MonthlyStatement,
    RefusalCount,
    begin_year,
    build_statement,
    find_month,
    list_months,
)
from permits_app.permits import read_record_archives
from permits_app.permits.kept_bounds import read_bounds
from permits_app.permits.read_any_archive import ARCHIVE_KINDS, read_any
from permits_app.permits.read_record_archives import MOST_DAYS
from permits_app.words.move_words import describe_move
from permits_app.words.rule_words import describe_rule
from tools_app.core import clock
from tools_app.core.audit_archives import AuditArchiveBroken
from tools_app.core.csv_text import write_rows
from tools_app.wording.formats import format_chain, format_coin, format_usd, shorten_amount

_PART_WORDS = {
    "price": "Prices of what it held",
    "fees_and_interest": "Fees and interest of its positions, less what liquidity lost against holding",
    "slashes": "Slashes: what protocols took from its positions for the faults of others",
    "slippage": "Slippage of its trades",
    "gas": "Gas",
    "moved": "Paid in, less taken out (no profit)",
}


class KeepRecordsForm(forms.Form):
    """For how many days what permits were judged on stays at hand."""

    days = forms.IntegerField(label="Days at hand", min_value=LEAST_DAYS, max_value=MOST_DAYS)


class StatementPages:
    """Pages of the golem's admin that tell: whoever sees the golem sees them. Its owner says how long records stay."""

    def list_statement_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [
            path("<uuid:golem_id>/statement/", wrap(self.statement_view), name=f"{name}_statement"),
            path("<uuid:golem_id>/export/<slug:what>.csv", wrap(self.csv_view), name=f"{name}_csv"),
            path("<uuid:golem_id>/statement/<int:number>.jsonl", wrap(self.archive_view), name=f"{name}_archive"),
            path(
                "<uuid:golem_id>/statement/<slug:kind>/<int:number>.jsonl",
                wrap(self.archive_view),
                name=f"{name}_archive_of",
            ),
        ]

    def statement_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """One month, the last whole one unless another is asked for, or one year."""
        admin, now = as_golem_admin(self), clock.now()
        is_said = request.method == "POST"
        golem: Golem = (
            admin.find_golem_with(request, golem_id, Power.SEE) if is_said else admin.get_seen_golem(request, golem_id)
        )
        is_owner = request.user.pk == golem.owner_id
        kept = read_record_archives.read_kept(golem_id=golem.pk, owner_id=golem.owner_id)
        form = KeepRecordsForm(initial={"days": kept.days})
        if is_said:
            if not is_owner:
                raise PermissionDenied("how long records stay at hand is said by the golem's owner alone")
            form = KeepRecordsForm(request.POST)
            if form.is_valid():
                return _keep(request, golem, form.cleaned_data["days"])
        months = list_months(golem, now=now)
        years = list_years(golem, now=now)
        year = begin_year(request.GET.get("year", ""), years=years)
        begins = year or find_month(request.GET.get("month", ""), months=months)
        statement = build_statement(golem, begins=begins, is_year=year is not None)
        context = {
            **admin.admin_site.each_context(request),
            "title": f"Statement of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "back_url": admin.page_of(golem),
            "statement": statement,
            "months": months,
            "is_running": statement.ends > now,
            "exports": list(EXPORTS),
            "years": years,
            "is_year": year is not None,
            "records": kept,
            "keep_form": form if is_owner else None,
            "kept_days": values_kept(kept.days if kept.is_chosen else None).days,
            **_spell(statement),
        }
        return TemplateResponse(request, "admin/golem/statement.html", context)

    def archive_view(self, request: HttpRequest, golem_id: UUID, number: int, kind: str = "records") -> HttpResponse:
        """One archive, held against the audit log, a line of JSON each permit and receipt, tick or audit entry."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        if kind not in ARCHIVE_KINDS:
            raise Http404("there is no such kind of archive")
        try:
            lines = read_any(kind, golem_id=golem.pk, number=number)
        except (ArchiveBroken, AuditArchiveBroken) as error:
            return HttpResponse(error.detail, status=error.http_status, content_type="text/plain; charset=utf-8")
        if lines is None:
            raise Http404("this golem has no such archive")
        told = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        name = "" if kind == "records" else f"of-{kind}-"
        answer = HttpResponse(told, content_type="application/jsonl; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="archive-{name}{number}-{golem.pk}.jsonl"'
        answer["Cache-Control"] = "no-store"
        return answer

    def csv_view(self, request: HttpRequest, golem_id: UUID, what: str) -> StreamingHttpResponse:
        """One file, of one year where one is asked for, written as it is sent."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        if what not in EXPORTS:
            raise Http404("there is no such export")
        export, wanted = EXPORTS[what], request.GET.get("year", "")
        years = {str(year): year for year in list_years(golem, now=clock.now())}
        if wanted and wanted not in years:
            raise Http404("that is no year of this golem's life")
        year = years.get(wanted)
        answer = StreamingHttpResponse(
            write_rows(export.columns, export.list_rows(golem, year)), content_type="text/csv; charset=utf-8"
        )
        answer["Content-Disposition"] = f'attachment; filename="{what}{f"-{year}" if year else ""}-{golem.pk}.csv"'
        answer["Cache-Control"] = "no-store"
        return answer


def _keep(request: HttpRequest, golem: Golem, days: int) -> HttpResponse:
    read_record_archives.keep_for(golem=golem, days=days, now=clock.now())
    messages.success(request, f"Records stay at hand for {days} days, from the next hour on.")
    return HttpResponseRedirect(request.path)


def _spell_gas(statement: MonthlyStatement) -> str:
    """Coins by chain; a chain is named where there are several."""
    if len(statement.gas_wei) < 2:
        chain_id, wei = next(iter(statement.gas_wei), (statement.golem.home_chain_id, 0))
        return format_coin(wei, chain_id)
    return "; ".join(f"{format_coin(wei, chain_id)} on {format_chain(chain_id)}" for chain_id, wei in statement.gas_wei)


def _spell(statement: MonthlyStatement) -> dict[str, object]:
    parts = statement.parts
    return {
        "opening": format_usd(statement.opening) if statement.opening is not None else "not measured",
        "closing": format_usd(statement.closing) if statement.closing is not None else "not measured",
        "profit": format_usd(parts.profit) if statement.is_measured else "not measured",
        "parts": [(words, format_usd(getattr(parts, name))) for name, words in _PART_WORDS.items()]
        if statement.is_measured
        else [],
        "slashes": [
            (at, each.protocol, each.keeper, shorten_amount(f"{each.units} {each.symbol}"), format_usd(-each.micro_usd))
            for at, each in statement.slashes
        ],
        "filled": [
            (
                row.ended_at,
                row.permit_id,
                describe_move(row.permit.action_type, row.permit.bounds),
                name_promised_at(row),
                say_given(row),
                say_amounts(row.chain_id, row.gets),
                read_bounds(row.permit.bounds).recipients,
            )
            for row in statement.filled
        ],
        "gas": _spell_gas(statement),
        "chains": [
            (format_chain(each.chain_id), format_usd(each.opening), format_usd(each.closing), each.until)
            for each in (statement.chains if len(statement.chains) > 1 else ())
        ],
        "refused": [(_name_rule(each), each.count, format_usd(each.worth_micro_usd)) for each in statement.refused],
    }


def _name_rule(refused: RefusalCount) -> str:
    """The rule's name as other pages have it; where only a code was kept, that in words."""
    words = describe_rule(refused.rule).words if refused.rule else refused.code.replace("_", " ").lower()
    return words[:1].upper() + words[1:]
