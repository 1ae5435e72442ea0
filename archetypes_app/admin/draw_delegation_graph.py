"""The delegation graph as a picture: columns by level, terminals marked, the longest chain thick, a proposal tried.

Only archetypes the reader may see are drawn; the rules are still judged on the whole graph.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from archetypes_app.delegation import Node, compute_levels, find_longest_chain, make_graph
from archetypes_app.errors import DelegationCycle
from archetypes_app.stored_delegation_graph import find_proposal_violations, read_nodes

BOX_WIDTH: Final = 190
BOX_HEIGHT: Final = 30
COLUMN: Final = 290
ROW: Final = 42
MARGIN: Final = 8


@dataclass(frozen=True, slots=True)
class Box:
    """One archetype on the picture, in pixels."""

    name: str
    left: int
    top: int
    is_terminal: bool
    returns_transactions: bool
    is_on_longest: bool
    is_chosen: bool

    @property
    def text_top(self) -> int:
        """Where its name stands."""
        return self.top + 20

    @property
    def text_left(self) -> int:
        """Where its name begins."""
        return self.left + 12


@dataclass(frozen=True, slots=True)
class Line:
    """One delegation, as an SVG path; `kind` is plain, longest, chosen, good or bad."""

    path: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything the page draws and says."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    levels: tuple[tuple[int, tuple[Node, ...]], ...]
    longest: tuple[str, ...]
    cycle: tuple[str, ...]
    proposal: tuple[str, str] | None
    refusals: tuple[str, ...]


def draw_graph(*, visible: Collection[str], chosen: str = "", proposal: tuple[str, str] | None = None) -> Picture:
    """The picture for a reader who may see `visible`; `proposal` is an edge to try, by names."""
    nodes = read_nodes()
    graph = make_graph(nodes)
    cycle: tuple[str, ...] = ()
    try:
        levels, longest = compute_levels(graph), find_longest_chain(graph)
    except DelegationCycle as error:
        levels, longest, cycle = dict.fromkeys(graph, 0), (), tuple(error.data["cycle"])
    refusals = _try_edge(nodes, proposal) if proposal else ()
    shown = [node for node in nodes if node.name in visible]
    boxes = {box.name: box for box in _place(shown, levels, set(longest), chosen)}
    lines = [
        _line(boxes[node.name], boxes[target], _kind(node.name, target, longest, chosen))
        for node in shown
        for target in node.delegates_to
        if target in boxes
    ]
    if proposal and all(name in boxes for name in proposal):
        lines.append(_line(boxes[proposal[0]], boxes[proposal[1]], "bad" if refusals else "good"))
    order = {"plain": 0, "longest": 1, "chosen": 2, "good": 3, "bad": 3}
    return Picture(
        width=max((box.left for box in boxes.values()), default=0) + BOX_WIDTH + MARGIN,
        height=max((box.top for box in boxes.values()), default=0) + BOX_HEIGHT + MARGIN,
        boxes=tuple(boxes.values()),
        lines=tuple(sorted(lines, key=lambda line: order[line.kind])),
        levels=_by_level(shown, levels),
        longest=longest if set(longest) <= set(visible) else (),
        cycle=cycle if set(cycle) <= set(visible) else (),
        proposal=proposal,
        refusals=refusals,
    )


def _try_edge(nodes: Sequence[Node], proposal: tuple[str, str]) -> tuple[str, ...]:
    source = next((node for node in nodes if node.name == proposal[0]), None)
    if source is None:
        return ()
    changed = replace(source, delegates_to=tuple(dict.fromkeys((*source.delegates_to, proposal[1]))))
    return tuple(error.detail for error in find_proposal_violations([changed], stored=nodes))


def _by_level(nodes: Sequence[Node], levels: dict[str, int]) -> tuple[tuple[int, tuple[Node, ...]], ...]:
    found: dict[int, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        found.setdefault(levels.get(node.name, 0), []).append(node)
    return tuple((level, tuple(found[level])) for level in sorted(found))


def _place(nodes: Sequence[Node], levels: dict[str, int], longest: Collection[str], chosen: str) -> list[Box]:
    boxes = []
    columns = _by_level(nodes, levels)
    tallest = max((len(members) for _, members in columns), default=0)
    for column, (_, members) in enumerate(columns):
        # Short columns stand at the middle of the tall one, so that arrows stay flat.
        lead = (tallest - len(members)) * ROW // 2
        for row, node in enumerate(members):
            boxes.append(
                Box(
                    name=node.name,
                    left=MARGIN + column * COLUMN,
                    top=MARGIN + lead + row * ROW,
                    is_terminal=node.is_terminal,
                    returns_transactions=node.returns_transactions,
                    is_on_longest=node.name in longest,
                    is_chosen=node.name == chosen,
                )
            )
    return boxes


def _kind(source: str, target: str, longest: Sequence[str], chosen: str) -> str:
    if chosen and chosen in (source, target):
        return "chosen"
    return "longest" if (source, target) in zip(longest, longest[1:], strict=False) else "plain"


def _line(source: Box, target: Box, kind: str) -> Line:
    is_forward = target.left >= source.left
    start = source.left + (BOX_WIDTH if is_forward else 0)
    end = target.left + (0 if is_forward and target.left > source.left else BOX_WIDTH)
    bend = 60 if end >= start else -60
    tail = -bend if end == target.left else 60
    y1, y2 = source.top + BOX_HEIGHT // 2, target.top + BOX_HEIGHT // 2
    path = f"M{start} {y1} C{start + bend} {y1} {end + tail} {y2} {end} {y2}"
    return Line(path=path, kind=kind, title=f"{source.name} asks {target.name}")
