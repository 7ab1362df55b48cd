"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 960;
const HEIGHT = 230;
const LEFT = 56;
const BOTTOM = 22;

function draw(tag, given, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** The next round number at or above the highest value of a chart. */
function roundTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value);
}

function clock(time) {
  return new Date(time).toLocaleTimeString();
}

/**
 * A chart: `lines` has names and the values at `times`; a null is a gap.
 * Under the pointer the legend has the values of that time, else the newest ones.
 */
function chart(title, times, lines) {
  const top = roundTop(Math.max(0, ...lines.flatMap((one) => one.values)));
  const legend = make("p", { className: "legend" });
  const box = draw("svg", {
    class: "chart",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": title,
  });
  const width = WIDTH - LEFT - 10;
  const x = (i) => LEFT + (times.length > 1 ? (i / (times.length - 1)) * width : 0);
  const y = (value) => 10 + (1 - value / top) * (HEIGHT - BOTTOM - 10);
  axes(box, top, times, x, y);
  lines.forEach((line, i) => {
    for (const part of unbroken(line.values)) {
      const points = part.map((at) => `${x(at).toFixed(1)},${y(line.values[at]).toFixed(1)}`);
      if (points.length === 1) points.push(points[0]);
      box.append(draw("polyline", { class: `s${i % 6}`, points: points.join(" ") }));
    }
  });
  const tell = (at) => legend.replaceChildren(...words(lines, times, at));
  tell(times.length - 1);
  box.addEventListener("pointermove", (event) => {
    const place = box.getBoundingClientRect();
    const share = (((event.clientX - place.left) / place.width) * WIDTH - LEFT) / width;
    tell(Math.round(Math.min(1, Math.max(0, share)) * (times.length - 1)));
  });
  box.addEventListener("pointerleave", () => tell(times.length - 1));
  return make("section", {}, make("h2", {}, title), legend, box);
}

function axes(box, top, times, x, y) {
  for (const share of [0, 0.5, 1]) {
    const at = y(share * top);
    box.append(
      draw("line", { x1: LEFT, x2: WIDTH - 10, y1: at, y2: at }),
      draw("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, `${share * top}`),
    );
  }
  if (!times.length) return;
  const last = times.length - 1;
  box.append(draw("text", { x: LEFT, y: HEIGHT - 5 }, clock(times[0])));
  const end = { x: x(last) || WIDTH - 10, y: HEIGHT - 5, "text-anchor": "end" };
  if (last > 0) box.append(draw("text", end, clock(times[last])));
}

/** The places of values between gaps. */
function unbroken(values) {
  const parts = [[]];
  values.forEach((value, at) => {
    if (value !== null && value !== undefined) parts.at(-1).push(at);
    else if (parts.at(-1).length) parts.push([]);
  });
  return parts.filter((part) => part.length);
}

function words(lines, times, at) {
  const found = lines.map((line, i) => {
    const value = line.values[at];
    const text = value === null || value === undefined ? "–" : Math.round(value * 100) / 100;
    return make("span", { className: `s${i % 6}` }, `${line.name}: ${text}`);
  });
  const time = times[at] === undefined ? "no data yet" : clock(times[at]);
  return [make("span", { className: "faint" }, time), ...found];
}
