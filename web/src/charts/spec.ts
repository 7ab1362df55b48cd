/** What a chart shows, as data: the components make one of these, `Chart` draws it. */

import type { Quantity } from "../format";
import type { Heatmap } from "../generated/page";
import { dash } from "../theme";

export interface ChartSpec {
  /** Unique on the page: what its files are called. */
  name: string;
  title: string;
  /** A sentence on what one sees. */
  note?: string;
  x: AxisSpec;
  y: AxisSpec;
  /** The places of all values from left to right, rising. */
  xs: number[];
  series: SeriesSpec[];
  /** What stands at each place, where that is a thing with a name. */
  names?: string[];
  /** Charts of the same group have one cursor. */
  group?: string;
  /** Drawn below the series. */
  heatmap?: Heatmap;
  /** Places that are pointed out, rising; drawn below the series as well. */
  rules?: Rule[];
}

/** A place from left to right that is pointed out. */
export interface Rule {
  at: number;
  /** How surely it lies there: from where to where. */
  band?: [number, number];
  label: string;
}

export interface AxisSpec {
  title: string;
  quantity: Quantity;
  log?: boolean;
  /** Whether it counts what there is no half of, so that its lines stand at whole numbers. */
  whole?: boolean;
  /** The lower and upper end, where they are not those of the values. */
  ends?: [number, number];
}

export interface SeriesSpec {
  label: string;
  values: (number | null)[];
  mark: "line" | "dots";
  /** Which colour of the palette. */
  colour: number;
  /** Whether the line is one that is wanted, not one that was measured. */
  wanted?: boolean;
}

/** How a line is dashed; not at all, as a rule. */
export function dashOf(series: SeriesSpec): number[] {
  if (series.mark === "dots") return [];
  return series.wanted ? [6, 4] : dash(series.colour);
}

/** An axis in words. */
export function axisWords(axis: AxisSpec): string {
  return axis.quantity === "percentile" ? `${axis.title} (%)` : axis.title;
}

/** The values with what has no place on a logarithmic axis taken out. */
export function placeable(axis: AxisSpec, values: (number | null)[]): (number | null)[] {
  if (!axis.log) return values;
  return values.map((value) => (typeof value === "number" && value <= 0 ? null : value));
}
