/** A chart's options for uPlot. */

import uPlot from "uplot";
import { tick } from "../format";
import type { Axis } from "../generated/page";
import { colour, type Colours, type Theme, COLOURS } from "../theme";
import { drawHeatmap } from "./heatmap";
import { axisWords, dashOf, isRing, quantityOf, type Plot } from "./plot";
import { drawReferenceLines } from "./reference-lines";

/** Receives what happens to a chart. */
export interface Listener {
  /** The place under the cursor, or none. */
  hover(chart: uPlot, index: number | null): void;
  /** Whether less than all is shown, and what. */
  zoomed(zoomed: boolean, chart: uPlot): void;
  /** The numbers at the lines of an axis, with their labels. */
  ticks(axis: "x" | "y", ticks: [number, string][]): void;
}

/** Steps between the lines of an axis of whole numbers. */
export const WHOLE_STEPS = Array.from({ length: 9 }, (_, power) => 10 ** power).flatMap((step) => [
  step,
  2 * step,
  5 * step,
]);

const FONT = "12px system-ui, sans-serif";

/** `current` returns the plot as it is now: a chart of a run that goes on gets new values. */
export function options(
  current: () => Plot,
  theme: Theme,
  size: { width: number; height: number },
  listener: Listener,
): uPlot.Options {
  const colours = COLOURS[theme];
  const plot = current();
  const hasWords = () => current().reference_lines.length > 0;
  return {
    ...size,
    // The label of the last nine stands under the end of its axis.
    padding: [12, plot.x.scale === "percentile" ? 40 : 26, 0, 0],
    legend: { show: false },
    cursor: {
      // All plots over time have one cursor.
      sync: plot.x.unit === "seconds" ? { key: "time" } : undefined,
      drag: { x: true, y: false, setScale: true },
      points: { size: 8 },
      y: plot.heatmap !== null || plot.names !== undefined,
    },
    scales: {
      x: { time: false, range: across(() => current().x.ends) },
      y:
        plot.y.scale === "log"
          ? { distr: 3, log: 10, ...(plot.y.ends ? { range: () => current().y.ends! } : {}) }
          : { range: (_, low, high) => current().y.ends ?? fromZero(low, high, hasWords()) },
    },
    axes: [
      axis(plot.x, "x", colours, listener, { space: 70, size: 32 }),
      axis(plot.y, "y", colours, listener, { space: 34, size: measured }),
    ],
    series: [
      {},
      ...plot.series.map((series) => ({
        label: series.name,
        stroke: colour(colours, series.colour),
        width: 2,
        dash: dashOf(series),
        paths: series.mark === "dots" ? () => null : undefined,
        points:
          series.mark === "dots"
            ? { show: true, size: 9, width: 2, fill: dotFill(colours, series.colour) }
            : { size: 5 },
        spanGaps: false,
      })),
    ],
    hooks: {
      drawAxes: [
        (chart) => {
          const { heatmap, reference_lines } = current();
          if (heatmap) drawHeatmap(chart, heatmap, theme);
          drawReferenceLines(chart, reference_lines, theme);
        },
      ],
      setCursor: [(chart) => listener.hover(chart, chart.cursor.idx ?? null)],
      setScale: [(chart, key) => key === "x" && listener.zoomed(isZoomed(chart, current()), chart)],
    },
  };
}

/** What a dot is filled with: its colour, or as a ring the ground. */
function dotFill(colours: Colours, index: number): string {
  return isRing(index) ? colours.ground : colour(colours, index);
}

function axis(
  spec: Axis,
  which: "x" | "y",
  colours: { ink: string; faint: string; grid: string },
  listener: Listener,
  room: { space: number; size: uPlot.Axis.Size },
): uPlot.Axis {
  return {
    ...room,
    ...(spec.is_whole ? { incrs: WHOLE_STEPS } : {}),
    label: axisWords(spec),
    labelSize: 20,
    labelGap: 2,
    labelFont: FONT,
    font: FONT,
    stroke: colours.faint,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1 },
    splits:
      spec.scale === "percentile"
        ? (chart, _axis, low, high) =>
            nines(low, high, chart.bbox.width / devicePixelRatio / (high - low))
        : undefined,
    values: (_chart, splits) => {
      const labels = (splits as (number | null)[]).map((split) =>
        split === null ? "" : tick(quantityOf(spec), split),
      );
      const pairs = splits.map((split, index) => [split, labels[index]!] as [number, string]);
      listener.ticks(
        which,
        pairs.filter(([, label]) => label !== ""),
      );
      return labels;
    },
  };
}

/** Room for the longest label. */
const measured: uPlot.Axis.Size = (chart, values, axisIndex) => {
  const longest = (values ?? []).reduce((a, b) => (b && b.length > a.length ? b : a), "");
  chart.ctx.save();
  chart.ctx.font = String(chart.axes[axisIndex]!.font?.[0] ?? FONT);
  const width = chart.ctx.measureText(longest).width / devicePixelRatio;
  chart.ctx.restore();
  return Math.ceil(width) + 18;
};

/** The least pixels from one label of a percentile axis to the next: `99.9999` has room. */
const LABEL = 54;

/**
 * The lines of a percentile axis, on which a nine has so many pixels: the median, and one for each
 * nine; where labels would overlap, for every second or third of them.
 */
export function nines(low: number, high: number, pixels = Infinity): number[] {
  const each = Math.max(1, Math.ceil(LABEL / pixels));
  const places = pixels * Math.log10(2) < LABEL / 2 ? [0] : [0, Math.log10(2)];
  for (let nine = each; nine <= Math.ceil(high); nine += each) places.push(nine);
  return places.filter((place) => place >= low - 1e-9 && place <= high + 1e-9);
}

/** The share of a linear axis above its highest value; where words stand at the top, more. */
const ABOVE = 0.06;
const ABOVE_FOR_WORDS = 0.14;

/** A linear axis shows zero, so that what looks twice as high is. */
export function fromZero(
  low: number | null,
  high: number | null,
  hasWords = false,
): [number, number] {
  const top = Math.max(high ?? 0, 0);
  const bottom = Math.min(low ?? 0, 0);
  const above = hasWords ? ABOVE_FOR_WORDS : ABOVE;
  return [bottom, top > bottom ? top + (top - bottom) * above : 1];
}

/** The axis from left to right: between its ends while all is shown, else what is zoomed to. */
function across(endsOf: () => Axis["ends"]): uPlot.Scale.Range {
  return (chart, low, high) => {
    const ends = endsOf();
    if (low === null || high === null) return ends ?? [0, 1];
    const xs = chart.data[0];
    const whole = low === xs[0] && high === xs[xs.length - 1];
    if (ends && whole) return ends;
    // One moment alone still needs an axis of some length.
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
  };
}

function isZoomed(chart: uPlot, plot: Plot): boolean {
  const { min, max } = chart.scales.x!;
  const first = plot.x.ends?.[0] ?? plot.xs[0];
  const last = plot.x.ends?.[1] ?? plot.xs[plot.xs.length - 1];
  return min! > first! + 1e-9 || max! < last! - 1e-9;
}
