"""A collector of traces in this process: takes OTLP over HTTP as a backend does, and shows the spans as trees."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Seen:
    """One span as it came."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    process: str
    facts: dict[str, str]
    led_to_by: tuple[str, ...]
    has_failed: bool


@dataclass
class Collector:
    """What came so far; `authorizations` are the headers it came with."""

    url: str
    spans: list[Seen] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)

    def wait_for(self, is_so: Callable[[list[Seen]], object], *, seconds: float = 30) -> None:
        until = time.monotonic() + seconds
        while not is_so(list(self.spans)):
            assert time.monotonic() < until, [(each.name, each.process) for each in self.spans]
            time.sleep(0.1)

    def path_of(self, span: Seen) -> list[str]:
        """Its name and those of what it is part of, the first step first. Fails where a parent is missing."""
        by_id = {each.span_id: each for each in self.spans}
        names = [span.name]
        while span.parent_id:
            span = by_id[span.parent_id]
            names.insert(0, span.name)
        return names

    def add(self, body: bytes) -> None:
        message = ExportTraceServiceRequest()
        message.ParseFromString(body)
        self.raw.append(body)
        for resource in message.resource_spans:
            about = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    facts = {each.key: str(each.value.string_value or each.value.int_value) for each in span.attributes}
                    links = tuple(link.trace_id.hex() for link in span.links)
                    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                    process = about.get("service.instance.id", "")
                    self.spans.append(Seen(span.name, *ids, process, facts, links, span.status.code == 2))


@contextmanager
def collecting() -> Iterator[Collector]:
    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.authorizations.add(self.headers.get("Authorization", ""))
            collector.add(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}/v1/traces")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
