/**
 * A chart as it is drawn: all series at the same x values, as uPlot wants them. The chart itself
 * (titles, axes, series) is described in Rust, in the crate `page`.
 */

import type { Quantity } from "../format";
import type { Axis, Chart, Series, SharedX, XValues } from "../generated/page";
import { ninesOf } from "../format";
import { dash, SERIES_COLOURS } from "../theme";

/** The value of a series at each place: `null` is a gap, `undefined` lies between its points. */
export type Values = (number | null | undefined)[];

export interface PlotSeries extends Omit<Series, "x" | "y"> {
  values: Values;
}

export interface Plot extends Omit<Chart, "series"> {
  /** The places, rising. */
  xs: number[];
  /** What stands at each place, where that has a name. */
  names?: string[];
  series: PlotSeries[];
}

/** The plot of a chart, with all of its series or with these, which are chosen and so are shown. */
export function plotOf(chart: Chart, sharedX: SharedX, chosen?: Series[]): Plot {
  const series = chosen?.map((one) => ({ ...one, is_hidden: false })) ?? chart.series;
  const place = chart.x.scale === "percentile" ? ninesOf : (x: number) => x;
  const used = [...new Set(series.map((one) => one.x))].map((index) => sharedX[index]!);
  const keys = new Map(used.map((x) => [x, keysOf(x)]));
  const points = used.flatMap((x) =>
    x.values.map((value, index) => ({
      at: place(value),
      key: keys.get(x)![index]!,
      name: x.names[index],
    })),
  );
  const distinct = [...new Map(points.map((point) => [point.key, point])).values()];
  distinct.sort((a, b) => a.at - b.at);
  const order = new Map(distinct.map((point, index) => [point.key, index]));
  const valuesOf = (one: Series): Values => {
    const values: Values = new Array(distinct.length).fill(undefined);
    keys.get(sharedX[one.x]!)!.forEach((key, index) => (values[order.get(key)!] = one.y[index]));
    return values;
  };
  const middles = (chart.heatmap?.columns ?? []).map(
    (column) => (column.start_s + column.end_s) / 2,
  );
  const axis = { ...chart.x, ends: chart.x.ends && (chart.x.ends.map(place) as [number, number]) };
  const xs = chart.heatmap ? middles : distinct.map((point) => point.at);
  if (axis.scale === "percentile") axis.ends = [0, Math.ceil(xs[xs.length - 1]!)];
  return {
    ...chart,
    x: axis,
    xs,
    names: points.some((point) => point.name) ? distinct.map((point) => point.name!) : undefined,
    series: series.map(({ x: _x, y: _y, ...rest }, index) => ({
      ...rest,
      values: valuesOf(series[index]!),
    })),
  };
}

/** The series that are left out until a reader chooses them. */
export function hiddenOf(plot: Plot): ReadonlySet<string> {
  return new Set(plot.series.filter((one) => one.is_hidden).map((one) => one.name));
}

/** A key for each place: two things with names may stand at the same x. */
function keysOf(x: XValues): string[] {
  return x.values.map((value, index) => `${value} ${x.names[index] ?? ""}`);
}

/** What numbers of an axis are, in the words of `format`. */
export function quantityOf(axis: Axis): Quantity {
  return axis.scale === "percentile" ? "percentile" : axis.unit;
}

/** How a line is dashed; not at all, as a rule. */
export function dashOf(series: PlotSeries): number[] {
  if (series.mark === "dots") return [];
  return series.mark === "dashed" ? [6, 4] : dash(series.colour);
}

/** Dots of more series than there are colours are rings. */
export function isRing(colour: number): boolean {
  return colour >= SERIES_COLOURS;
}

/** An axis in words. */
export function axisWords(axis: Axis): string {
  return axis.scale === "percentile" ? `${axis.title} (%)` : axis.title;
}

/** The values with what has no place on a logarithmic axis taken out. */
export function placeable(axis: Axis, values: Values): Values {
  if (axis.scale !== "log") return values;
  return values.map((value) => (typeof value === "number" && value <= 0 ? null : value));
}
