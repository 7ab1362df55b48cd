import { expect, test } from "vitest";
import { plotOf } from "../src/charts/plot";
import { withBaseline } from "../src/live/baseline";
import { run } from "./sample";

test("an earlier run lies underneath, with seconds of its own", () => {
  const page = run();
  const base = run();
  base.plots.shared_x = base.plots.shared_x.map((x) => ({
    ...x,
    values: x.values.map((value) => value + 0.25),
  }));
  const both = withBaseline(page, base);
  const index = page.plots.course.findIndex(
    (chart) => !chart.heatmap && chart.x.scale !== "percentile",
  );
  const chart = both.plots.course[index]!;
  const own = page.plots.course[index]!.series;
  const added = chart.series.length - own.length;
  expect(added).toBeGreaterThan(0);
  expect(chart.series.slice(added)).toEqual(own);
  const plot = plotOf(chart, both.plots.shared_x);
  expect(plot.series[0]!.name).toBe(`baseline: ${base.plots.course[index]!.series[0]!.name}`);
  // Each line has values at its own seconds, and none at those of the other.
  const places = plot.series[0]!.values.map((value) => value !== undefined);
  const others = plot.series[added]!.values.map((value) => value !== undefined);
  expect(places.some((is, at) => is && others[at])).toBe(false);
  for (const [at, heat] of page.plots.course.entries())
    if (heat.heatmap) expect(both.plots.course[at]).toEqual(heat);
});
