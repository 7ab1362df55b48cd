/** Reference lines: places on the x axis that are pointed out, with a label and maybe a band. */

import type uPlot from "uplot";
import { COLOURS, type Theme } from "../theme";
import type { ReferenceLine } from "../generated/page";

/** Rows of words below each other; what has no room in these goes without. */
const ROWS = 3;
const ROW_HEIGHT = 16;
const GAP = 5;

/** A reference line between the left and the right end of a plot. */
export interface PlacedLine {
  label: string;
  x: number;
  /** Its band from left to right, within the plot. */
  band: [number, number] | null;
  /** Where its words begin, and how far below the plot's top their line is; `null` without room. */
  words: { left: number; below: number } | null;
}

/** The lines that are shown, with labels that do not overlap. */
export function placed(
  lines: ReferenceLine[],
  [left, right]: [number, number],
  px: (value: number) => number,
  widthOf: (label: string) => number,
): PlacedLine[] {
  const within = (x: number) => Math.min(Math.max(x, left), right);
  const taken: number[] = new Array(ROWS).fill(-Infinity);
  const seen = lines.filter((line) => px(line.at) >= left && px(line.at) <= right);
  return seen.map((line) => {
    const x = px(line.at);
    const width = widthOf(line.label);
    const begin = x + GAP + width > right ? x - GAP - width : x + GAP;
    const row = taken.findIndex((end) => end + GAP < begin);
    const fits = row >= 0 && begin >= left;
    if (fits) taken[row] = begin + width;
    return {
      label: line.label,
      x,
      band: line.band ? [within(px(line.band[0])), within(px(line.band[1]))] : null,
      words: fits ? { left: begin, below: (row + 1) * ROW_HEIGHT - 3 } : null,
    };
  });
}

export function drawReferenceLines(chart: uPlot, lines: ReferenceLine[], theme: Theme): void {
  const { ctx, bbox } = chart;
  const pixels = devicePixelRatio;
  const bottom = bbox.top + bbox.height;
  const px = (value: number) => chart.valToPos(value, "x", true) / pixels;
  const ends: [number, number] = [bbox.left / pixels, (bbox.left + bbox.width) / pixels];
  ctx.save();
  ctx.font = `${12 * pixels}px system-ui, sans-serif`;
  ctx.fillStyle = ctx.strokeStyle = COLOURS[theme].ink;
  ctx.lineWidth = pixels;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const width = (label: string) => ctx.measureText(label).width / pixels;
  const all = placed(lines, ends, px, width);
  for (const { x, band } of all) {
    if (band) {
      ctx.globalAlpha = BAND;
      ctx.fillRect(band[0] * pixels, bbox.top, (band[1] - band[0]) * pixels, bbox.height);
      ctx.globalAlpha = 1;
    }
    ctx.setLineDash([5 * pixels, 4 * pixels]);
    ctx.beginPath();
    ctx.moveTo(x * pixels, bbox.top);
    ctx.lineTo(x * pixels, bottom);
    ctx.stroke();
  }
  // Above all lines, with some of the ground around the letters.
  ctx.setLineDash([]);
  ctx.strokeStyle = COLOURS[theme].ground;
  ctx.lineWidth = 4 * pixels;
  ctx.lineJoin = "round";
  for (const { label, words } of all) {
    if (!words) continue;
    const [left, top] = [words.left * pixels, bbox.top + words.below * pixels];
    ctx.strokeText(label, left, top);
    ctx.fillText(label, left, top);
  }
  ctx.restore();
}

/** How much of the ink is in a band. */
export const BAND = 0.14;
