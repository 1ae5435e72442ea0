"""Answers `/metrics` in the format of Prometheus, to whoever has the token that the operator set; to nobody else.

It holds figures of the whole deployment, so it is read at one address: that of the service, or of any one web server.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import redis
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from golem_project.metrics.counting import COUNT, SUM, read_counts
from golem_project.metrics.figures import Figure, read_figures
from golem_project.metrics.measures import ALL, BOUNDS
from tools_app.core import clock

_MICRO = 1_000_000


@never_cache
@require_safe
def show_metrics(request: HttpRequest) -> HttpResponse:
    """The figures. Without GOLEM_METRICS_TOKEN, and without that token in the request, there is no such page."""
    expected, given = settings.GOLEM_METRICS_TOKEN, request.headers.get("Authorization", "")
    if not expected or not hmac.compare_digest(given.encode(), f"Bearer {expected}".encode()):
        raise Http404
    return HttpResponse(render_metrics(), content_type="text/plain; version=0.0.4; charset=utf-8")


def render_metrics() -> bytes:
    """All figures as Prometheus reads them."""
    # Who scrapes nothing needs no such library; it is asked for where it is used.
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures())
    return generate_latest(registry)


class _Figures:
    """What the library asks: every family with its values."""

    def collect(self) -> Iterator[Any]:  # Any: prometheus_client has no types
        now = clock.now()
        try:
            yield from _tell_counts()
            is_readable = True
        except redis.RedisError:
            is_readable = False
        figures = read_figures(now=now)
        labels = (("part", "counts"),)
        yield from _tell_figures([*figures, Figure("golem_part_readable", "", labels, float(is_readable))])


def _tell_counts() -> Iterator[Any]:  # Any: prometheus_client has no types
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

    parts: dict[str, dict[tuple[str, ...], dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for (name, labels, part), amount in read_counts().items():
        parts[name][labels][part] = amount
    for measure in ALL:
        # Counts of another version may have other labels.
        known = {labels: of for labels, of in parts[measure.name].items() if len(labels) == len(measure.labels)}
        if measure.is_timed:
            times = HistogramMetricFamily(measure.name, measure.words, labels=measure.labels)
            for labels, of in sorted(known.items()):
                times.add_metric(labels, buckets=_accumulate(of), sum_value=of.get(SUM, 0) / _MICRO)
            yield times
        else:
            counts = CounterMetricFamily(measure.name, measure.words, labels=measure.labels)
            for labels, of in sorted(known.items()):
                counts.add_metric(labels, of.get(COUNT, 0))
            yield counts


def _accumulate(of: dict[str, int]) -> list[tuple[str, int]]:
    total, found = 0, []
    for bound in (*map(str, BOUNDS), "+Inf"):
        total += of.get(bound, 0)
        found.append((bound, total))
    return found


def _tell_figures(figures: list[Figure]) -> Iterator[Any]:  # Any: prometheus_client has no types
    from prometheus_client.core import GaugeMetricFamily

    families: dict[str, Any] = {}  # Any: prometheus_client has no types
    for figure in figures:
        names = [name for name, _ in figure.labels]
        family = families.setdefault(figure.name, GaugeMetricFamily(figure.name, figure.words, labels=names))
        family.add_metric([value for _, value in figure.labels], figure.value)
    yield from families.values()
