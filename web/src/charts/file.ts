/**
 * A chart as a file: the SVG of what is shown (the same zoom, the same series), in the colours for
 * print; the PNG is that SVG, drawn at twice its size.
 */

import { figure } from "../format";
import type { Axis, ReferenceLine } from "../generated/page";
import { COLOURS, colour, heat } from "../theme";
import { cells, densest } from "./heatmap";
import {
  axisWords,
  dashOf,
  isRing,
  placeable,
  type Plot,
  type PlotSeries,
  type Values,
} from "./plot";
import { BAND, placed } from "./reference-lines";

const WIDTH = 900;
const HEIGHT = 520;
const LEFT = 100;
const RIGHT = 28;
const BOTTOM = 64;
const LETTER = 7;

/** What of a chart is shown. */
export interface Shown {
  x: [number, number];
  y: [number, number];
  ticks: { x: [number, string][]; y: [number, string][] };
  hidden: ReadonlySet<string>;
}

interface Frame {
  top: number;
  px(x: number): number;
  py(y: number): number;
}

export function svg(plot: Plot, shown: Shown): string {
  const series = plot.series.filter((one) => !shown.hidden.has(one.name));
  const legend = legendOf(plot, series);
  const frame = frameOf(plot, shown, legend.bottom + 14);
  const [width, height] = [WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM - frame.top];
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(16, 30, plot.title, `font-size="18" font-weight="600"`),
    legend.markup,
    `<clipPath id="plot">${rect(LEFT, frame.top, width, height)}</clipPath>`,
    ...(plot.heatmap ? [heatmapMarkup(plot, frame)] : []),
    grid(plot, shown, frame),
    linesMarkup(plot.reference_lines, frame),
    `<g clip-path="url(#plot)">${series.map((one) => seriesMarkup(plot, one, frame)).join("")}</g>`,
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" ` +
    `viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" ` +
    `fill="${COLOURS.light.ink}">\n${parts.join("\n")}\n</svg>\n`
  );
}

function frameOf(plot: Plot, shown: Shown, top: number): Frame {
  const place = (value: number, [low, high]: [number, number], { scale }: Axis) =>
    scale === "log"
      ? (Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))
      : (value - low) / (high - low);
  return {
    top,
    px: (x) => LEFT + place(x, shown.x, plot.x) * (WIDTH - LEFT - RIGHT),
    py: (y) => HEIGHT - BOTTOM - place(y, shown.y, plot.y) * (HEIGHT - BOTTOM - top),
  };
}

function legendOf(plot: Plot, series: PlotSeries[]): { markup: string; bottom: number } {
  if (plot.heatmap) {
    const most = figure("count", densest(plot.heatmap));
    const steps = [0.02, 0.25, 0.5, 0.75, 1];
    const boxes = steps.map((share, index) =>
      rect(16 + index * 24, 46, 24, 12, `fill="${heat("light", share)}"`),
    );
    const words = text(16 + steps.length * 24 + 10, 57, `few to ${most} responses in a cell`);
    return { markup: boxes.join("") + words, bottom: 62 };
  }
  if (series.length < 2) return { markup: "", bottom: 36 };
  let [x, y] = [16, 58];
  const parts = series.map((one) => {
    const width = 34 + one.name.length * LETTER + 18;
    if (x > 16 && x + width > WIDTH - 16) [x, y] = [16, y + 22];
    const sample =
      one.mark === "dots"
        ? `<circle cx="${x + 13}" cy="${y - 4}" ${dotLook(one)}/>`
        : `<path d="M${x} ${y - 4}h26" ${stroke(one)}/>`;
    const entry = sample + text(x + 34, y, one.name);
    x += width;
    return entry;
  });
  return { markup: parts.join(""), bottom: y + 8 };
}

function stroke(series: PlotSeries): string {
  const dashes = dashOf(series).join(" ");
  const ink = colour(COLOURS.light, series.colour);
  const array = dashes ? ` stroke-dasharray="${dashes}"` : "";
  return `fill="none" stroke="${ink}" stroke-width="2" stroke-linejoin="round"${array}`;
}

function dotLook(series: PlotSeries): string {
  const ink = colour(COLOURS.light, series.colour);
  if (isRing(series.colour)) return `r="4" fill="none" stroke="${ink}" stroke-width="2"`;
  return `r="5" fill="${ink}"`;
}

function grid(plot: Plot, shown: Shown, frame: Frame): string {
  const bottom = HEIGHT - BOTTOM;
  const within = ([low, high]: [number, number], value: number) => value >= low && value <= high;
  const xs = shown.ticks.x
    .filter(([value]) => within(shown.x, value))
    .map(([value, label]) => {
      const x = frame.px(value).toFixed(1);
      const line = `<path d="M${x} ${frame.top}V${bottom}" stroke="#ccd"/>`;
      return line + text(x, bottom + 20, label, `text-anchor="middle"`);
    });
  const ys = shown.ticks.y
    .filter(([value]) => within(shown.y, value))
    .map(([value, label]) => {
      const y = frame.py(value);
      const line = `<path d="M${LEFT} ${y.toFixed(1)}H${WIDTH - RIGHT}" stroke="#ccd"/>`;
      return line + text(LEFT - 8, (y + 4).toFixed(1), label, `text-anchor="end"`);
    });
  const middle = (frame.top + bottom) / 2;
  const words = [
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, axisWords(plot.x), `text-anchor="middle"`),
    text(
      20,
      middle,
      axisWords(plot.y),
      `text-anchor="middle" transform="rotate(-90 20 ${middle})"`,
    ),
  ];
  const corner = `M${LEFT} ${frame.top}V${bottom}H${WIDTH - RIGHT}`;
  const frameLines = `<path d="${corner}" fill="none" stroke="#555"/>`;
  return [...xs, ...ys, frameLines, ...words].join("\n");
}

function linesMarkup(lines: ReferenceLine[], frame: Frame): string {
  const height = HEIGHT - BOTTOM - frame.top;
  const width = (label: string) => label.length * LETTER;
  const all = placed(lines, [LEFT, WIDTH - RIGHT], frame.px, width);
  const drawn = all.map(({ x, band }) => {
    const shade = band
      ? rect(band[0], frame.top, band[1] - band[0], height, `opacity="${BAND}"`)
      : "";
    const course = `M${x.toFixed(1)} ${frame.top}v${height}`;
    const dashes = `<path d="${course}" stroke="#333" stroke-dasharray="5 4"/>`;
    return shade + dashes;
  });
  const halo = 'stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"';
  const labels = all.map(({ label, words }) =>
    words ? text(words.left.toFixed(1), frame.top + words.below, label, halo) : "",
  );
  return [...drawn, ...labels].join("\n");
}

function seriesMarkup(plot: Plot, series: PlotSeries, frame: Frame): string {
  const values = placeable(plot.y, series.values);
  if (series.mark === "dots") {
    const dots = values.map((value, index) => {
      if (typeof value !== "number") return "";
      const [x, y] = [frame.px(plot.xs[index]!).toFixed(1), frame.py(value).toFixed(1)];
      return `<circle cx="${x}" cy="${y}" ${dotLook(series)}/>`;
    });
    return dots.join("");
  }
  return `<path d="${path(plot.xs, values, frame)}" ${stroke(series)}/>`;
}

/** A line through the values; `null` interrupts it, what is `undefined` it passes by. */
function path(xs: number[], values: Values, frame: Frame): string {
  let pen = "M";
  let drawn = "";
  values.forEach((value, index) => {
    if (typeof value === "number") {
      drawn += `${pen}${frame.px(xs[index]!).toFixed(1)} ${frame.py(value).toFixed(1)}`;
      pen = "L";
    } else if (value === null) {
      pen = "M";
    }
  });
  return drawn;
}

function heatmapMarkup(plot: Plot, frame: Frame): string {
  const boxes = [...cells(plot.heatmap!)].map((cell) => {
    const [x, y] = [frame.px(cell.left), frame.py(cell.top)];
    const [width, height] = [frame.px(cell.right) - x, frame.py(cell.bottom) - y];
    // A little overlap hides the seams between cells.
    return rect(x, y, width + 0.3, height + 0.3, `fill="${heat("light", cell.share)}"`);
  });
  return `<g clip-path="url(#plot)">${boxes.join("")}</g>`;
}

function rect(x: number, y: number, width: number, height: number, more = ""): string {
  const [left, top, wide, high] = [x, y, width, height].map((value) => Number(value.toFixed(1)));
  return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" ${more}/>`;
}

function text(x: number | string, y: number | string, words: string, more = ""): string {
  return `<text x="${x}" y="${y}" ${more}>${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\u0000-\u001f\ufffe\uffff]/g, "");
}

/** Hands a file to the reader. */
export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

/** The SVG as pixels. */
export async function png(markup: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH * 2, HEIGHT * 2];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}
