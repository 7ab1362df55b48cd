import { expect, test } from "vitest";
import { cellAt, cells, densest } from "../src/charts/heatmap";
import { fromZero, nines } from "../src/charts/options";
import { svg, type Shown } from "../src/charts/file";
import { hiddenOf, placeable, plotOf, type Plot } from "../src/charts/plot";
import type { Chart, SharedX } from "../src/generated/page";
import { timelines } from "../src/study/timelines";
import { COLOURS } from "../src/theme";
import { axis, chart, line, run, study } from "./sample";

/** The plot of this name on the page of the sample run. */
function plotOfRun(name: string): Plot {
  const { plots } = run();
  return plotOf(
    plots.course.find((one) => one.name === name)!,
    plots.shared_x,
  );
}

const shown: Shown = {
  x: [0, 20],
  y: [100, 1e6],
  ticks: {
    x: [
      [0, "0 s"],
      [10, "10 s"],
    ],
    y: [[1_000, "1 ms"]],
  },
  hidden: new Set(),
};

test("every cell of a heatmap that holds anything is drawn once", () => {
  const map = plotOfRun("heatmap").heatmap!;
  const drawn = [...cells(map)];
  expect(drawn.length).toBe(4 * map.columns.length);
  expect(densest(map)).toBe(900);
  const cell = cellAt(map, 3.2, 100 * map.ratio ** 3.5)!;
  expect(cell.count).toBe(900);
  expect(cell.share).toBe(1);
  expect(cellAt(map, 3.2, 50)).toBeUndefined();
});

test("a linear axis shows zero", () => {
  expect(fromZero(3, 100)).toEqual([0, 106]);
  expect(fromZero(0, 100, true)).toEqual([0, 114]);
  expect(fromZero(null, null)).toEqual([0, 1]);
});

test("a percentile axis has a line for each nine", () => {
  expect(nines(0, 3)).toEqual([0, Math.log10(2), 1, 2, 3]);
});

test("what is not above zero has no place on a logarithmic axis", () => {
  const log = axis("", "us", { scale: "log" });
  expect(placeable(log, [0, 5, null, -1])).toEqual([null, 5, null, null]);
});

test("a series that is left out at first can be chosen", () => {
  const lines = [line("a", [1, 2]), line("b", [3, 4], 1)];
  lines[1]!.is_hidden = true;
  const time = axis("", "seconds");
  const described = chart("", "", [time, time], lines);
  const shared: SharedX = [{ values: [0, 1], names: [] }];
  expect([...hiddenOf(plotOf(described, shared))]).toEqual(["b"]);
  expect(hiddenOf(plotOf(described, shared, lines)).size).toBe(0);
});

test("series share one list of places, with nothing where they have no point", () => {
  const spectrum = plotOfRun("spectrum");
  expect(spectrum.xs.length).toBe(6);
  expect(spectrum.x.ends).toEqual([0, 4]);
  expect(spectrum.series[0]!.values[5]).toBeUndefined();
  expect(plotOfRun("heatmap").xs.length).toBe(20);
});

test("a number that is missing is a gap, a place of another series is none", () => {
  const shared: SharedX = [
    { values: [0, 1, 2], names: [] },
    { values: [1.5], names: [] },
  ];
  const series = [line("a", [4, null, 6]), line("b", [5], 1, "line", 1)];
  const axes: Chart["x"][] = [axis("", "seconds"), axis("", "count")];
  const plot = plotOf(chart("", "", [axes[0]!, axes[1]!], series), shared);
  expect(plot.xs).toEqual([0, 1, 1.5, 2]);
  expect(plot.series[0]!.values).toEqual([4, null, undefined, 6]);
  expect(plot.series[1]!.values).toEqual([undefined, undefined, 5, undefined]);
});

test("things with names stay apart where they stand at the same place", () => {
  const shared: SharedX = [{ values: [7, 7], names: ["trial 1", "trial 2"] }];
  const plot = plotOf(
    chart("", "", [axis("", "count"), axis("", "us")], [line("p99", [1, 2], 0, "dots")]),
    shared,
  );
  expect([plot.xs, plot.names]).toEqual([
    [7, 7],
    ["trial 1", "trial 2"],
  ]);
});

test("chosen runs share one axis of time", () => {
  const plots = timelines(study(), new Set(["wrk 0", "oha 1"]));
  expect(plots.map((plot) => plot.name)).toEqual(["timeline-rate", "timeline-cpu"]);
  expect(plots[1]!.xs.length).toBe(40);
  expect(plots[1]!.series.map((one) => one.colour)).toEqual([0, 1]);
  expect(plots[1]!.series[0]!.values.filter((value) => value === undefined).length).toBe(20);
});

test("no two colours of series are alike", () => {
  for (const { series } of Object.values(COLOURS)) {
    const used = [0, 1, 2, 3, 6].map((index) => series[index]!);
    const pairs = used.flatMap((one, index) => used.slice(index + 1).map((two) => [one, two]));
    for (const [one, two] of pairs) expect(apart(one!, two!)).toBeGreaterThan(60);
  }
});

/** How far two colours are from each other, channel by channel. */
function apart(one: string, two: string): number {
  const channel = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
  return Math.hypot(...[1, 3, 5].map((at) => channel(one, at) - channel(two, at)));
}

test("a file has the title, the units and only what is shown", () => {
  const plot = plotOfRun("response-time");
  const all = svg(plot, shown);
  for (const words of ["Response time", "p50", "p99", "1 ms", "10 s"]) {
    expect(all).toContain(`>${words}<`);
  }
  const one = svg(plot, { ...shown, hidden: new Set(["p50"]) });
  expect(all.match(/stroke-width="2"/g)!.length).toBe(4);
  expect(one.match(/stroke-width="2"/g)!.length).toBe(1);
});

test("a file of a heatmap has its cells and a legend of colours", () => {
  const markup = svg(plotOfRun("heatmap"), shown);
  expect(markup.match(/fill="rgb/g)!.length).toBe(4 * 20 + 5);
  expect(markup).toContain("few to 900 responses in a cell");
});

test("words in a file are no markup", () => {
  const plot = { ...plotOfRun("response-time"), title: 'a <b> & "c"\u0007' };
  expect(svg(plot, shown)).toContain('>a &lt;b&gt; &amp; "c"<');
});

test("dots of more tools than there are colours are rings", () => {
  const tools = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const dots = tools.map((tool, colour) => line(tool, [1], colour, "dots"));
  const shared: SharedX = [{ values: [1], names: [] }];
  const described = chart("", "", [axis("", "count"), axis("", "count")], dots);
  const picture = svg(plotOf(described, shared), { ...shown, x: [0, 2], y: [0, 2] });
  expect(picture.match(/r="4" fill="none"/g)!.length).toBe(2);
});

test("a timeline that not all chosen runs have says whose it is", () => {
  const page = study();
  const names = page.rows.slice(0, 2).map((row) => row.name);
  const [rate] = timelines(page, new Set(names));
  expect(rate!.note).toBe("");
  const described = page.plots.timelines[0]!;
  described.series = described.series.filter((one) => one.name !== names[1]);
  const [alone] = timelines(page, new Set(names));
  expect(alone!.note).toContain(`Of ${names[0]};`);
});
