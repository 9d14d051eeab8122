"""A memory map as a still picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from ge_dialect.tools.memory_map.model import MapBuffer, MemoryMap, Role, bytes_text, ticks, unit_of

_WIDTH, _HEIGHT = 1200, 700
_LEFT, _RIGHT, _TOP, _BOTTOM = 86, 24, 74, 56

COLOURS = {
    Role.FEATURE: ("#7fb0e0", "#3f73ab"),
    Role.WORKSPACE: ("#c9a3dd", "#7d5496"),
    Role.INPUT: ("#9fd3a4", "#4d8a54"),
    Role.OUTPUT: ("#f2b880", "#a8672a"),
    Role.OTHER: ("#7fb0e0", "#3f73ab"),
}
"""Fill of a role on light and on dark ground."""

_STYLE = """\
text{font:12px sans-serif;fill:#222}.t{font-size:15px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}
.g{fill:#fff}.a{fill:none;stroke:#444}.k{stroke:#d8d8d8;fill:none}rect.b{stroke:#333;stroke-width:.4}
.p{stroke:#b00020;stroke-dasharray:7 4;fill:none}text.p{stroke:none;fill:#b00020}
.l{stroke:#005bb5;stroke-dasharray:2 3;fill:none;stroke-width:1.5}text.l{stroke:none;fill:#005bb5}
.u{stroke:#111;fill:none;stroke-width:1}
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{fill:#16181c}.a{stroke:#aaa}.k{stroke:#333940}
rect.b{stroke:#000}.p{stroke:#ff6b81}text.p{fill:#ff6b81}.l{stroke:#6cb4ff}text.l{fill:#6cb4ff}.u{stroke:#eee}}
"""


_NO_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def _xml(text: str) -> str:
    """Text as content of an element; what XML cannot hold becomes a replacement character."""
    return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _role_styles() -> str:
    light = "".join(f".{role.name}{{fill:{pair[0]}}}" for role, pair in COLOURS.items())
    dark = "".join(f".{role.name}{{fill:{pair[1]}}}" for role, pair in COLOURS.items())
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


class _Scale:
    """From time and bytes to the picture."""

    def __init__(self, shown: MemoryMap) -> None:
        self.first, self.last = shown.span
        self.top = shown.height
        self.across = (_WIDTH - _LEFT - _RIGHT) / (self.last - self.first)
        self.ground = _HEIGHT - _BOTTOM
        self.up = (self.ground - _TOP) / (self.top * 1.03)

    def x(self, time: float) -> float:
        return _LEFT + (time - self.first) * self.across

    def y(self, address: float) -> float:
        return self.ground - address * self.up


def svg_text(shown: MemoryMap) -> str:
    """The picture: buffers with tool tips, axes with units, the bytes in use, peak and bound, and a legend."""
    scale = _Scale(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">',
        f"<style>{_STYLE}{_role_styles()}</style>",
        f'<rect class="g" width="{_WIDTH}" height="{_HEIGHT}"/>',
        *_head(shown),
        *_grid(shown, scale),
    ]
    parts += [_box(buffer, scale) for buffer in shown.buffers]
    parts += [_live(shown, scale), *_lines(shown, scale)]
    axes = f"M{_LEFT} {_TOP}V{scale.ground}H{_WIDTH - _RIGHT}"
    parts.append(f'<path class="a" d="{axes}"/>')
    return "\n".join([*parts, "</svg>", ""])


def title_of(shown: MemoryMap) -> str:
    """What the picture is of."""
    return f"{shown.title}, memory {shown.space}" if shown.title else f"memory {shown.space}"


def summary_of(shown: MemoryMap) -> str:
    """Numbers in a line."""
    found = f"{len(shown.buffers)} buffers, peak {shown.peak} bytes ({bytes_text(shown.peak)})"
    if shown.bound:
        ratio = shown.peak / shown.bound
        found += f", lower bound {shown.bound} bytes ({shown.bound_kind}), ratio {ratio:.4f}"
    if shown.top > shown.peak:
        found += f", with model inputs and outputs {shown.top} bytes"
    return found


def _head(shown: MemoryMap) -> Iterator[str]:
    yield f'<text class="t" x="{_LEFT}" y="22">{_xml(title_of(shown))}</text>'
    yield f'<text x="{_LEFT}" y="40">{_xml(summary_of(shown))}</text>'
    x = _LEFT
    roles = dict.fromkeys(buffer.role for buffer in shown.buffers)
    for role in sorted(roles, key=lambda role: list(Role).index(role)):
        yield f'<rect class="b {role.name}" x="{x}" y="50" width="12" height="12"/>'
        yield f'<text x="{x + 17}" y="60">{role.value}</text>'
        x += 40 + 7 * len(role.value)
    yield f'<path class="u" d="M{x} 56h22"/><text x="{x + 27}" y="60">bytes in use</text>'


def _grid(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    unit, factor = unit_of(scale.top // 4)
    for address in ticks(0, scale.top, factor):
        y = scale.y(address)
        yield f'<path class="k" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="e" x="{_LEFT - 6}" y="{y + 4:.1f}">{address // factor} {unit}</text>'
    for time in ticks(scale.first, scale.last, most=12):
        x = scale.x(time)
        yield f'<path class="k" d="M{x:.1f} {scale.ground}v5"/>'
        yield f'<text class="m" x="{x:.1f}" y="{scale.ground + 18}">{time}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) // 2
    yield f'<text class="m" x="{middle}" y="{_HEIGHT - 16}">{_xml(axis_of(shown))}</text>'
    yield f'<text class="m" transform="translate(16 {(_TOP + scale.ground) // 2}) rotate(-90)">address</text>'


def axis_of(shown: MemoryMap) -> str:
    """What the time axis counts."""
    return shown.time if shown.time == "time" else f"{shown.time} index, in order of issue"


def tip_of(buffer: MapBuffer) -> str:
    """What is told of one buffer."""
    kind = f" ({buffer.type})" if buffer.type else ""
    return (
        f"{buffer.name}{kind}: {buffer.size} bytes ({bytes_text(buffer.size)}) at {buffer.offset}, "
        f"in use [{buffer.start}, {buffer.end}), {buffer.role.value}"
    )


def _box(buffer: MapBuffer, scale: _Scale) -> str:
    width = max((buffer.end - buffer.start) * scale.across, 0.2)
    return (
        f'<rect class="b {buffer.role.name}" x="{scale.x(buffer.start):.1f}" '
        f'y="{scale.y(buffer.offset + buffer.size):.2f}" width="{width:.1f}" '
        f'height="{max(buffer.size * scale.up, 0.1):.2f}"><title>{_xml(tip_of(buffer))}</title></rect>'
    )


def _live(shown: MemoryMap, scale: _Scale) -> str:
    """The line of the bytes in use, at most two points a pixel column."""
    path: list[str] = []
    column, most = -1, 0
    for at, live in shown.live():
        here = int(scale.x(at))
        if here == column:
            most = max(most, live)
            path[-1] = f"H{here}V{scale.y(most):.1f}"
            continue
        column, most = here, live
        path.append(f"H{here}V{scale.y(live):.1f}" if path else f"M{here} {scale.y(live):.1f}")
    return f'<path class="u" d="{"".join(path)}"/>' if path else ""


def _lines(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    right = _WIDTH - _RIGHT
    rows = [("p", shown.peak, "peak")]
    if shown.bound:
        rows.append(("l", shown.bound, "lower bound"))
    for style, height, text in rows:
        y = scale.y(height)
        yield f'<path class="{style}" d="M{_LEFT} {y:.1f}H{right}"/>'
        below = style == "l" and shown.bound > 0.96 * shown.peak
        place = y + 14 if below else y - 4
        yield f'<text class="{style} e" x="{right - 4}" y="{place:.1f}">{text} {bytes_text(height)}</text>'
