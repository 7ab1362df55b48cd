"use strict";

const SVG = "http://www.w3.org/2000/svg";
// On a phone a chart is narrower, and its words as large.
const WIDEST = 960;
const NARROWEST = 320;
let chartWidth = WIDEST;
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

/** The place of an instant among times: 1.5 is halfway between the second one and the third. */
function placeOf(times, at) {
  const after = times.findIndex((one) => one > at);
  if (after === 0) return 0;
  if (after < 0) return times.length - 1;
  return after - 1 + (at - times[after - 1]) / (times[after] - times[after - 1]);
}

/** The instant of a place. */
function instantOf(times, place) {
  const before = Math.min(Math.max(Math.floor(place), 0), times.length - 1);
  const next = times[before + 1] ?? times[before];
  return times[before] + Math.min(Math.max(place - before, 0), 1) * (next - times[before]);
}

/**
 * A chart: `lines` has names and the values at `times`; a null is a gap.
 * Under the pointer the legend has the values of that time, else the newest ones. `notes` are
 * marked by their numbers; `press` gets the instant that is pressed on the axis of time.
 */
function chart(title, times, lines, notes, press) {
  chartWidth = Math.min(WIDEST, Math.max(NARROWEST, byId("panel").clientWidth || WIDEST));
  const top = roundTop(Math.max(0, ...lines.flatMap((one) => one.values)));
  const legend = make("p", { className: "legend" });
  const box = draw("svg", {
    class: "chart",
    viewBox: `0 0 ${chartWidth} ${HEIGHT}`,
    role: "img",
    "aria-label": title,
  });
  const width = chartWidth - LEFT - 10;
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
  if (times.length) mark(box, times, notes, x);
  const tell = (at) => legend.replaceChildren(...words(lines, times, at));
  tell(times.length - 1);
  // The place among the times below the pointer.
  const under = (event) => {
    const place = box.getBoundingClientRect();
    const share = (((event.clientX - place.left) / place.width) * chartWidth - LEFT) / width;
    return Math.min(1, Math.max(0, share)) * (times.length - 1);
  };
  box.addEventListener("pointermove", (event) => tell(Math.round(under(event))));
  box.addEventListener("pointerleave", () => tell(times.length - 1));
  box.addEventListener("click", (event) => {
    const { top: above, height } = box.getBoundingClientRect();
    const isOnAxis = ((event.clientY - above) / height) * HEIGHT > HEIGHT - BOTTOM;
    if (isOnAxis && times.length) press(instantOf(times, under(event)));
  });
  return make("section", {}, make("h2", {}, title), legend, box);
}

/** Marks notes by their numbers. Close to each other they stand on several levels. */
function mark(box, times, notes, x) {
  notes.forEach(({ at, text }, i) => {
    const left = x(placeOf(times, at));
    const line = { class: "note", x1: left, x2: left, y1: 10, y2: HEIGHT - BOTTOM };
    const isFar = left > chartWidth - 40;
    const words = {
      class: "note",
      x: left + (isFar ? -4 : 4),
      y: 20 + (i % 3) * 13,
      "text-anchor": isFar ? "end" : "start",
    };
    const number = draw("text", words, `${i + 1}`);
    number.append(draw("title", {}, text));
    box.append(draw("line", line), number);
  });
}

function axes(box, top, times, x, y) {
  for (const share of [0, 0.5, 1]) {
    const at = y(share * top);
    box.append(
      draw("line", { x1: LEFT, x2: chartWidth - 10, y1: at, y2: at }),
      draw("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, `${share * top}`),
    );
  }
  if (!times.length) return;
  const last = times.length - 1;
  box.append(draw("text", { x: LEFT, y: HEIGHT - 5 }, clock(times[0])));
  const end = { x: x(last) || chartWidth - 10, y: HEIGHT - 5, "text-anchor": "end" };
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
