/** A heatmap on the ground of a chart: time from left to right, a logarithmic scale upwards. */

import type uPlot from "uplot";
import type { Heatmap } from "../generated/page";
import { heat, type Theme } from "../theme";

/** A cell that something came in. */
export interface HeatCell {
  left: number;
  right: number;
  bottom: number;
  top: number;
  count: number;
  /** From 0 to 1; of the logarithm, as one slow answer among thousands must be seen. */
  share: number;
}

export function* cells(map: Heatmap): Generator<HeatCell> {
  const most = Math.log1p(densest(map));
  for (const column of map.columns) {
    for (const [index, count] of column.counts.entries()) {
      if (count === 0) continue;
      const row = column.first_row + index;
      yield {
        left: column.start_s,
        right: column.end_s,
        bottom: map.lowest_us * map.ratio ** row,
        top: map.lowest_us * map.ratio ** (row + 1),
        count,
        share: Math.log1p(count) / most,
      };
    }
  }
}

export function densest(map: Heatmap): number {
  return map.columns.reduce((most, column) => Math.max(most, ...column.counts), 0);
}

/** How many came at this moment with about this time, and in which bounds. */
export function cellAt(map: Heatmap, time_s: number, us: number): HeatCell | undefined {
  for (const cell of cells(map)) {
    if (cell.left <= time_s && time_s < cell.right && cell.bottom <= us && us < cell.top) {
      return cell;
    }
  }
  return undefined;
}

export function drawHeatmap(chart: uPlot, map: Heatmap, theme: Theme): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const cell of cells(map)) {
    const left = chart.valToPos(cell.left, "x", true);
    const right = chart.valToPos(cell.right, "x", true);
    const top = chart.valToPos(cell.top, "y", true);
    const bottom = chart.valToPos(cell.bottom, "y", true);
    ctx.fillStyle = heat(theme, cell.share);
    // Whole pixels, so that no seam shows between neighbours.
    ctx.fillRect(
      Math.floor(left),
      Math.floor(top),
      Math.ceil(right) - Math.floor(left),
      Math.ceil(bottom) - Math.floor(top),
    );
  }
  ctx.restore();
}
