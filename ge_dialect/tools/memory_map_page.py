"""The page of a memory map: one HTML file, @TITLE@ and @DATA@ to be filled in."""

from __future__ import annotations

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>@TITLE@</title>
<style>
  body { font: 13px sans-serif; margin: 12px; }
  canvas { width: 100%; height: 78vh; border: 1px solid #999; display: block; cursor: crosshair; }
  #tip { min-height: 1.4em; margin: 6px 0; font-family: monospace; }
</style>
<h3>@TITLE@</h3>
<div id="sum"></div>
<div id="tip">&nbsp;</div>
<canvas id="map"></canvas>
<p>Wheel: zoom in time. Drag: move. Double click: everything.</p>
<script>
const data = @DATA@;
const boxes = data.boxes, canvas = document.getElementById("map"), tip = document.getElementById("tip");
const ratio = data.bound ? (data.peak / data.bound).toFixed(4) : "?";
document.getElementById("sum").textContent = `${boxes.length} buffers, peak ${data.peak} bytes, ` +
  `lower bound ${data.bound} (${data.boundKind}), ratio ${ratio}`;
let first = Infinity, last = -Infinity, hover = -1, drag = null;
for (const b of boxes) { first = Math.min(first, b[0]); last = Math.max(last, b[1]); }
if (!boxes.length) { first = 0; last = 1; }
const top_ = Math.max(data.peak, data.bound, 1) * 1.04, left = 90;
let from = first, to = Math.max(last, first + 1);
const wide = () => canvas.clientWidth - left, high = () => canvas.clientHeight - 20;
const x = t => left + (t - from) / (to - from) * wide();
const y = a => high() * (1 - a / top_);
function line(g, at, colour, text) {
  g.strokeStyle = g.fillStyle = colour; g.setLineDash([6, 3]);
  g.beginPath(); g.moveTo(left, y(at)); g.lineTo(left + wide(), y(at)); g.stroke();
  g.setLineDash([]); g.fillText(text, 2, y(at) + 10);
}
function draw() {
  const scale = window.devicePixelRatio || 1, g = canvas.getContext("2d");
  canvas.width = canvas.clientWidth * scale; canvas.height = canvas.clientHeight * scale;
  g.scale(scale, scale);
  boxes.forEach((b, i) => {
    if (b[1] < from || b[0] > to) return;
    const x0 = Math.max(x(b[0]), left), x1 = x(b[1]), y1 = y(b[2] + b[3]), h = y(b[2]) - y1;
    g.fillStyle = `hsl(${i * 137 % 360} 55% ${i === hover ? 45 : 68}%)`;
    g.fillRect(x0, y1, Math.max(x1 - x0, .5), Math.max(h, .5));
    if (x1 - x0 > 4 && h > 4) { g.strokeStyle = "#444"; g.lineWidth = .4; g.strokeRect(x0, y1, x1 - x0, h); }
    if (h > 12 && x1 - x0 > 40) {
      g.save(); g.beginPath(); g.rect(x0, y1, x1 - x0, h); g.clip();
      g.fillStyle = "#000"; g.fillText(data.names[i], x0 + 3, y1 + 11); g.restore();
    }
  });
  g.lineWidth = 1;
  line(g, data.peak, "#b00020", "peak " + data.peak);
  if (data.bound && data.bound < data.peak) line(g, data.bound, "#00509e", "bound " + data.bound);
  g.fillStyle = "#000"; g.fillText(Math.round(from), left, high() + 14);
  g.fillText(Math.round(to), left + wide() - 40, high() + 14);
}
canvas.onmousemove = e => {
  if (drag !== null) {
    const step = (drag - e.offsetX) / wide() * (to - from);
    from += step; to += step; drag = e.offsetX; draw(); return;
  }
  const t = from + (e.offsetX - left) / wide() * (to - from), a = (1 - e.offsetY / high()) * top_;
  const i = boxes.findIndex(b => b[0] <= t && t < b[1] && b[2] <= a && a < b[2] + b[3]);
  if (i === hover) return;
  hover = i; draw();
  const b = boxes[i];
  tip.textContent = b ? `${data.names[i]}: ${b[3]} bytes at ${b[2]}, time [${b[0]}, ${b[1]})` : "\\u00a0";
};
canvas.onmousedown = e => { drag = e.offsetX; };
window.onmouseup = () => { drag = null; };
canvas.ondblclick = () => { from = first; to = Math.max(last, first + 1); draw(); };
canvas.onwheel = e => {
  e.preventDefault();
  const t = from + (e.offsetX - left) / wide() * (to - from), k = Math.exp(e.deltaY / 500);
  from = t - (t - from) * k; to = t + (to - t) * k; draw();
};
window.onresize = draw;
draw();
</script>
</html>
"""
