"""Every kind of flood in its turn on one running product: a neighbour is answered, nothing fails, nothing is left over.

What `bench` measures is a figure of a machine; this holds on any: no 5xx, no refusal of the neighbour, memory and disk
bounded, and after the last one everything is as ready as before the first.
"""

from __future__ import annotations

import json
import threading
import urllib.request

import psutil

from tests.bench.flood import KINDS, Flooded, Scene, flood, flooded_scene
from tests.proof.registry import Progress, proof
from tools_app.core import clock

_MOST_MB = 50
_SLOWEST_MS = 5_000.0
_AFTER_SECONDS = 30.0


@proof(
    id="flood",
    what="200 hostile connections of each kind: a neighbour is answered without a refusal, memory and disk are bounded",
    rounds=1,
)
def prove_flood(progress: Progress) -> None:
    """One round with all kinds."""
    for _ in progress.remaining():
        with flooded_scene() as scene:
            before = _ready(scene)
            for kind in KINDS:
                found = flood(scene, kind)
                progress.findings += _find(found)
                progress.notes.append(
                    f"{kind}: {len(found.times)} previews, p95 {found.p95:g} ms; memory +{found.grown_mb} MB, "
                    f"disk +{found.disk_mb} MB; the hostile met {found.hostile}"
                )
            progress.findings += _find_left(scene, before)


def _find(found: Flooded) -> list[str]:
    wrong = []
    if not found.times:
        wrong.append("the neighbour got no preview")
    if found.server_errors:
        wrong.append(f"{found.server_errors} answers of 5xx")
    if found.refused:
        wrong.append(f"the neighbour was refused: {found.refused}")
    if found.times and max(found.times) > _SLOWEST_MS:
        wrong.append(f"a preview took {max(found.times):.0f} ms")
    if found.grown_mb > _MOST_MB or found.disk_mb > _MOST_MB:
        wrong.append(f"memory +{found.grown_mb} MB, disk +{found.disk_mb} MB")
    wrong += [f"the hostile met {count} x {status}" for status, count in found.hostile.items() if status[:1] == "5"]
    return [f"{found.kind}: {line}" for line in wrong]


def _find_left(scene: Scene, before: dict[str, object]) -> list[str]:
    deadline, after = clock.Deadline.after_ms(_AFTER_SECONDS * 1000), _ready(scene)
    while not deadline.is_over and after["stuck"] and not before["stuck"]:
        threading.Event().wait(1)
        after = _ready(scene)
    wrong = [] if after["ready"] else [f"afterwards it is not ready: {after}"]
    wrong += [f"afterwards something is stuck: {after['stuck']}"] if after["stuck"] and not before["stuck"] else []
    web = psutil.Process(scene.running.children["web"].pid)
    left = [
        each for each in web.net_connections(kind="tcp") if each.raddr and each.raddr.ip in ("127.0.0.2", "127.0.0.3")
    ]
    wrong += [f"{len(left)} connections of the hostile are still open"] if len(left) > 10 else []
    return wrong


def _ready(scene: Scene) -> dict[str, object]:
    with urllib.request.urlopen(f"http://127.0.0.1:{scene.running.port}/readyz", timeout=30) as answer:
        found: dict[str, object] = json.load(answer)
    return found
