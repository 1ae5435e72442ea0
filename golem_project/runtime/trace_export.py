"""Hands spans to a collector by OTLP over HTTP, behind the work, where GOLEM_TRACES_URL names one.

The product's own spans alone: the libraries' are none of them, because what they write into attributes (prompts,
statements, addresses of nodes) is not ours to choose.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings

from golem_project.runtime import process_name
from tools_app.core import trace_spans
from tools_app.core.trace_spans import Fact, OpenStep

_PAUSE_MS: Final = 1_000
_MOST_WAITING: Final = 4_096
_SEND_SECONDS: Final = 5


def begin_to_export() -> None:
    """From here on this process, not one it forks, tells its steps, where a collector is named."""
    if settings.GOLEM_TRACES_URL:
        trace_spans.keep_in(OtlpTracer(settings.GOLEM_TRACES_URL))


class OtlpTracer:
    """`spans.Tracer` over the OpenTelemetry SDK. What a collector that is away does not take is given up."""

    def __init__(self, url: str) -> None:
        # A tenth of a second, for who asks for it.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

        headers = {"Authorization": settings.GOLEM_TRACES_AUTHORIZATION}
        exporter = OTLPSpanExporter(
            endpoint=url, headers={name: value for name, value in headers.items() if value}, timeout=_SEND_SECONDS
        )
        # Not the environment's and the command line's: what a machine is called there is not ours to tell.
        resource = Resource({"service.name": "golem", "service.instance.id": process_name.tell()})
        self._provider = TracerProvider(
            # By the number of the trace: every process decides the same.
            sampler=TraceIdRatioBased(settings.GOLEM_TRACES_PERCENT / 100),
            resource=resource,
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(exporter, max_queue_size=_MOST_WAITING, schedule_delay_millis=_PAUSE_MS)
        )
        self._tracer = self._provider.get_tracer("golem")

    def begin(self, name: str, *, within: OpenStep | str | None, seen: str | None, facts: dict[str, Fact]) -> OpenStep:
        """See `spans.Tracer`."""
        from opentelemetry.context import Context
        from opentelemetry.trace import Link, NonRecordingSpan, set_span_in_context

        context = Context()
        if isinstance(within, OtlpSpan):
            context = set_span_in_context(within.inner, context)
        elif isinstance(within, str) and (parent := _read(within)) is not None:
            context = set_span_in_context(NonRecordingSpan(parent), context)
        led = _read(seen) if seen else None
        links = [Link(led)] if led is not None else []
        return OtlpSpan(self._tracer.start_span(name, context=context, attributes=_name(facts), links=links))

    def flush(self) -> None:
        """Hand over what waits now."""
        self._provider.force_flush()


class OtlpSpan:
    """`spans.OpenStep` over one of the SDK."""

    def __init__(self, inner: Any) -> None:  # Any: a span of the SDK, which is imported where it is used
        self.inner = inner

    @property
    def name(self) -> str:
        """See `spans.OpenStep`."""
        place = self.inner.get_span_context()
        return f"00-{self.trace_id}-{place.span_id:016x}-{int(place.trace_flags):02x}"

    @property
    def trace_id(self) -> str:
        """See `spans.OpenStep`."""
        return f"{self.inner.get_span_context().trace_id:032x}"

    def note(self, **facts: Fact) -> None:
        """See `spans.OpenStep`."""
        self.inner.set_attributes(_name(facts))

    def rename(self, name: str) -> None:
        """See `spans.OpenStep`."""
        self.inner.update_name(name)

    def end(self, failure: str = "") -> None:
        """See `spans.OpenStep`. The code alone: the words of an error may be anybody's."""
        from opentelemetry.trace import Status, StatusCode

        if failure:
            self.inner.set_status(Status(StatusCode.ERROR))
            self.inner.set_attribute("error.type", failure)
        self.inner.end()


def _name(facts: dict[str, Fact]) -> dict[str, Fact]:
    return {f"golem.{name}": value for name, value in facts.items()}


def _read(name: str) -> Any:  # Any: of the SDK, which is imported where it is used
    """The place that a header of W3C Trace Context names; None for anything else."""
    from opentelemetry.context import Context
    from opentelemetry.trace import get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    read = TraceContextTextMapPropagator().extract({trace_spans.HEADER: name}, context=Context())
    place = get_current_span(read).get_span_context()
    return place if place.is_valid else None
