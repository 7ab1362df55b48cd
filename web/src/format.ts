/** Numbers as people read them: three significant digits, a unit that fits, thousands in groups. */

import type { Unit } from "./generated/page";

/** What an axis or a cell counts in: the units of the model, and percentiles. */
export type Quantity = Unit | "percentile";

const THIN = "\u202f";
const TIMES: [number, string][] = [
  [1, "µs"],
  [1e3, "ms"],
  [1e6, "s"],
];
const BYTES: [number, string][] = [
  [1, "B"],
  [1e3, "kB"],
  [1e6, "MB"],
  [1e9, "GB"],
  [1e12, "TB"],
];

/** A number with its unit: `1.02 ms`, `20 000/s`, `37 %`. */
export function figure(quantity: Quantity, value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  switch (quantity) {
    case "us":
      return scaled(value, TIMES);
    case "bytes":
      return scaled(value, BYTES);
    case "bytes_per_second":
      return `${scaled(value, BYTES)}/s`;
    case "per_second":
      return `${significant(value)}/s`;
    case "percent":
      return `${significant(value)}${THIN}%`;
    case "seconds":
      return `${significant(value)}${THIN}s`;
    case "percentile":
      return `p${percentileOf(value)}`;
    default:
      return significant(value);
  }
}

/** As `figure`, for the ends of an axis's lines: no digit more than it takes. */
export function tick(quantity: Quantity, value: number): string {
  if (quantity === "percentile") return String(percentileOf(value));
  const text = figure(quantity, value);
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/** The percentile that stands so many nines along its axis: 90 at 1, 99.9 at 3. */
export function percentileOf(nines: number): number {
  const digits = Math.max(0, Math.ceil(nines) - 2) + 3;
  return Number((100 - 10 ** (2 - nines)).toFixed(Math.min(digits, 12)));
}

/** Where a percentile stands on its axis, each further nine with the same room. */
export function ninesOf(percentile: number): number {
  return 2 - Math.log10(100 - percentile);
}

function scaled(value: number, units: [number, string][]): string {
  const fits = units.find(([size]) => Math.abs(value) / size < 999.5);
  const [size, unit] = fits ?? units[units.length - 1]!;
  return `${significant(value / size)}${THIN}${unit}`;
}

/** Three significant digits, but all of those before the point. */
export function significant(value: number): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  const text = Math.abs(value).toFixed(Math.min(Math.max(2 - exponent, 0), 6));
  const [whole, decimals] = text.split(".");
  const shown = decimals && Number(decimals) > 0 ? `.${decimals}` : "";
  return `${value < 0 ? "−" : ""}${grouped(whole!)}${shown}`;
}

/** A whole number in groups of three digits. */
export function count(value: number): string {
  return grouped(String(Math.round(value)));
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, THIN);
}
