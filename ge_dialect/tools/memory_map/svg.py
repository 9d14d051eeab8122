"""A memory map as a still picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from ge_dialect.tools.memory_map.model import (
    MapBuffer,
    MemoryMap,
    Role,
    address_ticks,
    bytes_text,
    ticks,
)

_WIDTH, _HEIGHT = 1200, 700
_LEFT, _RIGHT, _TOP, _BOTTOM = 86, 24, 86, 56
_LETTER = 6.8
"""Width of a letter of a buffer's name: 11 pixels high, and most are narrower."""
_LABEL_WIDTH, _LABEL_HEIGHT = 60, 14
"""Smaller buffers have their name in the tool tip only."""
SHADES = (1.0, 0.84, 0.7)
"""Neighbours differ: the opacity of a buffer's colour, in turn."""

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
.g{fill:#fff}.a{fill:none;stroke:#666}.k{stroke:#e4e4e4;fill:none}rect.b{stroke:#2b4058;stroke-width:.5}
.n{font-size:11px;fill:#14202e}.q{fill:#555}
path.p,path.l{fill:none;stroke-width:1.6;stroke-dasharray:7 7}path.l{stroke-dashoffset:7}
.p{stroke:#b00020}.l{stroke:#005bb5}text.p,text.l{font-weight:600;stroke:none}text.p{fill:#b00020}text.l{fill:#005bb5}
.h{fill:#fff;fill-opacity:.85}.m1{fill:#b00020;fill-opacity:.13}.u{stroke:#222;stroke-opacity:.8;fill:none;stroke-width:1.2}
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{fill:#16181c}.a{stroke:#999}.k{stroke:#2b3037}.q{fill:#aaa}.n{fill:#f2f5f8}
rect.b{stroke:#0b0d10}.p{stroke:#ff6b81}text.p{fill:#ff6b81}.l{stroke:#6cb4ff}text.l{fill:#6cb4ff}.u{stroke:#eee}
.h{fill:#16181c}.m1{fill:#ff6b81;fill-opacity:.18}}
"""


_NO_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def _xml(text: str) -> str:
    """Text as content of an element; what XML cannot hold becomes a replacement character."""
    return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _role_styles() -> str:
    light = "".join(f".{role.name}{{fill:{pair[0]}}}" for role, pair in COLOURS.items())
    dark = "".join(f".{role.name}{{fill:{pair[1]}}}" for role, pair in COLOURS.items())
    shades = "".join(f".s{k}{{fill-opacity:{shade}}}" for k, shade in enumerate(SHADES))
    return f"{light}{shades}@media(prefers-color-scheme:dark){{{dark}}}"


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
    parts += [
        _box(buffer, scale, index % len(SHADES)) for index, buffer in enumerate(shown.buffers)
    ]
    parts += [*_moment(shown, scale), _live(shown, scale)]
    parts += [*_labels(shown, scale), *_lines(shown, scale)]
    axes = f"M{_LEFT} {_TOP}V{scale.ground}H{_WIDTH - _RIGHT}"
    parts.append(f'<path class="a" d="{axes}"/>')
    return "\n".join([*parts, "</svg>", ""])


def title_of(shown: MemoryMap) -> str:
    """What the picture is of."""
    return f"{shown.title}, memory {shown.space}" if shown.title else f"memory {shown.space}"


def summary_of(shown: MemoryMap) -> str:
    """Numbers in a line."""
    found = f"{len(shown.buffers):,} buffers, peak {shown.peak:,} bytes ({bytes_text(shown.peak)})"
    if shown.bound:
        ratio = shown.peak / shown.bound
        found += f", lower bound {shown.bound:,} bytes ({shown.bound_kind}), ratio {ratio:.4f}"
    if shown.top > shown.peak:
        found += f", with model inputs and outputs {shown.top:,} bytes"
    return found


def peak_of(shown: MemoryMap) -> str:
    """When the most bytes are in use, and the largest buffers of that moment; empty when nothing is ever in use."""
    moment = shown.busiest()
    if moment is None:
        return ""
    start, end, most = moment
    buffers = shown.at_peak()
    when = (
        f"at {shown.time} {start}"
        if end - start == 1
        else f"from {shown.time} {start} to {end - 1}"
    )
    named = ", ".join(f"{_short(x.name, 36)} {bytes_text(x.size)}" for x in buffers[:3])
    more = f", and {len(buffers) - 3:,} more" if len(buffers) > 3 else ""
    return f"most in use {when}: {bytes_text(most)} = {named}{more}"


def _short(text: str, most: int) -> str:
    """The text, with its middle left out when it is longer: names of models begin alike."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def _head(shown: MemoryMap) -> Iterator[str]:
    yield f'<text class="t" x="{_LEFT}" y="22">{_xml(title_of(shown))}</text>'
    yield f'<text x="{_LEFT}" y="40">{_xml(summary_of(shown))}</text>'
    yield f'<text class="q" x="{_LEFT}" y="56">{_xml(peak_of(shown))}</text>'
    x = _LEFT
    roles = dict.fromkeys(buffer.role for buffer in shown.buffers)
    for role in sorted(roles, key=lambda role: list(Role).index(role)):
        yield f'<rect class="b {role.name}" x="{x}" y="65" width="12" height="12"/>'
        yield f'<text x="{x + 17}" y="75">{role.value}</text>'
        x += 36 + int(6.6 * len(role.value))
    yield f'<path class="u" d="M{x} 71h22"/><text x="{x + 27}" y="75">bytes in use</text>'


def _grid(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    for address in address_ticks(scale.top):
        y = scale.y(address)
        yield f'<path class="k" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="e" x="{_LEFT - 6}" y="{y + 4:.1f}">{bytes_text(address)}</text>'
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


def _box(buffer: MapBuffer, scale: _Scale, shade: int) -> str:
    width = max((buffer.end - buffer.start) * scale.across, 0.2)
    return (
        f'<rect class="b {buffer.role.name} s{shade}" x="{scale.x(buffer.start):.1f}" '
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


def _moment(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    """A band where the most bytes are in use."""
    moment = shown.busiest()
    if moment is not None:
        start, end, _ = moment
        left, right = scale.x(start), scale.x(end)
        height = scale.ground - _TOP
        yield (
            f'<rect class="m1" x="{left:.1f}" y="{_TOP}" width="{max(right - left, 2):.1f}" height="{height}"/>'
        )
        at = (left + right) / 2
        yield f'<path class="p" style="fill:#b00020;stroke:none" d="M{at - 5:.1f} {_TOP - 7}h10l-5 7z"/>'


def _labels(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    """The names of buffers that are large enough to hold one."""
    for buffer in shown.buffers:
        width = (buffer.end - buffer.start) * scale.across
        if width < _LABEL_WIDTH or buffer.size * scale.up < _LABEL_HEIGHT:
            continue
        name = _short(buffer.name, int((width - 6) / _LETTER))
        y = scale.y(buffer.offset + buffer.size) + 11
        yield f'<text class="n" x="{scale.x(buffer.start) + 3:.1f}" y="{y:.1f}">{_xml(name)}</text>'


def _lines(shown: MemoryMap, scale: _Scale) -> Iterator[str]:
    right = _WIDTH - _RIGHT
    rows = [("p", shown.peak, f"peak {bytes_text(shown.peak)}")]
    proven = shown.bound > 0 and shown.bound == shown.peak
    if proven:
        rows[0] = ("p", shown.peak, f"{rows[0][2]} = lower bound")
    elif shown.bound:
        rows.append(("l", shown.bound, f"lower bound {bytes_text(shown.bound)}"))
    for style, height, text in rows:
        y = scale.y(height)
        yield f'<path class="{style}" d="M{_LEFT} {y:.1f}H{right}"/>'
        if proven:  # dashes of both colours in turn
            yield f'<path class="l" d="M{_LEFT} {y:.1f}H{right}"/>'
        below = style == "l"
        place = y + 16 if below else y - 6
        width = 7.2 * len(text)
        yield (
            f'<rect class="h" x="{right - 8 - width:.0f}" y="{place - 12:.1f}" width="{width + 8:.0f}" height="16"/>'
        )
        yield f'<text class="{style} e" x="{right - 4}" y="{place:.1f}">{text}</text>'
