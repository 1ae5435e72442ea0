"""The ASGI entry point. Views and middleware are synchronous, so a request crosses into a thread once.

Event streams and A2A are served in front of Django, on the event loop, and so is the Model Context Protocol where it is
on; what is not HTTP is refused before all of them. Before the doors stands what bounds a body and gives turns.
"""

from __future__ import annotations

import os
import warnings

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
# WhiteNoise answers a file block by block; Django says that a thread reads it, which is what is wanted.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")


django.setup(set_prefix=False)

# Their models need the apps to be loaded.
from golem_project.a2a.load_on_first_request import LateDoor  # noqa: E402
from golem_project.alerts.silent_queues import SilenceWatch  # noqa: E402
from golem_project.front.admission import FrontDoor  # noqa: E402
from golem_project.front.refuse_websockets import PlainHttp  # noqa: E402
from golem_project.front.shutdown_responses import LastAnswers  # noqa: E402
from golem_project.metrics.counting import TALLY  # noqa: E402
from golem_project.metrics.measured_requests import MeasuredRequests  # noqa: E402
from golem_project.metrics.traced_requests import TracedRequests  # noqa: E402
from golem_project.pi.mcp_door import McpDoor  # noqa: E402
from golem_project.runtime import process_name  # noqa: E402
from golem_project.runtime.checked_start import CheckedStart  # noqa: E402
from golem_project.runtime.database_clock import begin_to_hold  # noqa: E402
from golem_project.runtime.memory_limit import WEB, MemoryWatch  # noqa: E402
from golem_project.runtime.start_conditions import check_before_serving  # noqa: E402
from golem_project.runtime.threaded_handler import ThreadedHandler  # noqa: E402
from golem_project.runtime.trace_export import begin_to_export  # noqa: E402
from golem_project.stream.sse import EventStream  # noqa: E402

event_stream = EventStream(ThreadedHandler())
doors = McpDoor(LateDoor(event_stream, events=event_stream))
front_door = FrontDoor(doors)


def begin_watches() -> None:
    """What looks after this process and others, once it serves."""
    process_name.call_it("web")
    begin_to_hold()
    SilenceWatch().start()
    MemoryWatch(WEB).start()
    TALLY.begin()
    begin_to_export()


watched = TracedRequests(MeasuredRequests(LastAnswers(front_door)))
application = CheckedStart(PlainHttp(watched), check=check_before_serving, on_start=begin_watches)
