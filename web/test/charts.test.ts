import { expect, test } from "vitest";
import { cellAt, cells, densest } from "../src/charts/heatmap";
import { fromZero, nines } from "../src/charts/options";
import { COLOURS } from "../src/theme";
import type { Measure } from "../src/generated/page";
import { svg, type Shown } from "../src/charts/picture";
import { placeable } from "../src/charts/spec";
import { drawn, joined } from "../src/measures";
import { heatmapSpec, rateSpec, responseSpec, spectrumSpec } from "../src/run/pictures";
import { scatterSpecs, timelineSpecs } from "../src/study/pictures";
import { run, study } from "./sample";

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
  const map = run().heatmap!;
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
  expect(fromZero(null, null)).toEqual([0, 1]);
});

test("a percentile axis has a line for each nine", () => {
  expect(nines(0, 3)).toEqual([0, Math.log10(2), 1, 2, 3]);
});

test("what is not above zero has no place on a logarithmic axis", () => {
  const axis = { title: "", quantity: "us" as const, log: true };
  expect(placeable(axis, [0, 5, null, -1])).toEqual([null, 5, null, null]);
});

test("a run's plots have the tracks that it has", () => {
  const page = run();
  expect(rateSpec(page)!.series.map((one) => one.label)).toEqual(["asked", "answered"]);
  expect(responseSpec(page)!.series.map((one) => one.label)).toEqual(["p50", "p99"]);
  const spectrum = spectrumSpec(page)!;
  expect(spectrum.series.map((one) => one.label)).toEqual(["response time", "service time"]);
  expect(spectrum.xs.length).toBe(6);
  expect(spectrum.series[0]!.values[5]).toBeUndefined();
});

test("without an answer there is neither spectrum nor heatmap", () => {
  const page = { ...run(), spectra: [], heatmap: null };
  expect(spectrumSpec(page)).toBeNull();
  expect(heatmapSpec(page)).toBeNull();
});

test("a scatter is drawn for all tools and for each", () => {
  const [all, wrk, oha] = scatterSpecs(study(), study().scatters[0]!);
  expect(all!.series.map((one) => one.label)).toEqual(["wrk", "oha"]);
  expect(all!.xs.length).toBe(6);
  expect([wrk!.xs.length, oha!.xs.length]).toEqual([3, 3]);
  expect(oha!.series[0]!.colour).toBe(all!.series[1]!.colour);
});

test("chosen runs share one axis of time", () => {
  const page = study();
  const chosen = new Set(["wrk 0", "oha 1"]);
  const specs = timelineSpecs(page, chosen);
  expect(specs.map((spec) => spec.name)).toEqual(["timeline-rate", "timeline-cpu"]);
  const { xs, values } = joined([page.rows[0]!.timeline!, page.rows[1]!.timeline!], "cpu");
  expect(xs.length).toBe(40);
  expect(values[0]!.filter((value) => value === undefined).length).toBe(20);
});

test("a line of open sockets goes through the seconds in which they were not counted", () => {
  const values = [4, null, null, 6];
  expect(drawn({ measure: "sockets", values })).toEqual([4, undefined, undefined, 6]);
  expect(drawn({ measure: "cpu", values })).toEqual(values);
  const timeline = { time_s: [0, 1, 2, 3], tracks: [{ measure: "sockets" as const, values }] };
  expect(joined([timeline], "sockets").values[0]).toEqual([4, undefined, undefined, 6]);
});

test("no two lines of response times have colours that are alike", () => {
  const page = run();
  const measures = ["p50", "p90", "p99", "max"].map((name) => `response_${name}` as Measure);
  page.timeline.tracks = [...measures, "service_p99" as const].map((measure) => ({
    measure,
    values: page.timeline.time_s.map(() => 1),
  }));
  const lines = responseSpec(page)!.series;
  expect(new Set(lines.map((line) => line.colour)).size).toBe(5);
  for (const { series } of Object.values(COLOURS)) {
    const used = lines.map((line) => series[line.colour]!);
    const pairs = used.flatMap((one, index) => used.slice(index + 1).map((two) => [one, two]));
    for (const [one, two] of pairs) expect(apart(one!, two!)).toBeGreaterThan(60);
  }
});

/** How far two colours are from each other, channel by channel. */
function apart(one: string, two: string): number {
  const channel = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
  return Math.hypot(...[1, 3, 5].map((at) => channel(one, at) - channel(two, at)));
}

test("a picture has the title, the units and only what is shown", () => {
  const spec = responseSpec(run())!;
  const all = svg(spec, shown);
  for (const words of ["Response time", "p50", "p99", "1 ms", "10 s"]) {
    expect(all).toContain(`>${words}<`);
  }
  const one = svg(spec, { ...shown, hidden: new Set(["p50"]) });
  expect(all.match(/stroke-width="2"/g)!.length).toBe(4);
  expect(one.match(/stroke-width="2"/g)!.length).toBe(1);
});

test("a picture of a heatmap has its cells and a legend of colours", () => {
  const page = run();
  const markup = svg(heatmapSpec(page)!, shown);
  expect(markup.match(/fill="rgb/g)!.length).toBe(4 * 20 + 5);
  expect(markup).toContain("few to 900 answers in a cell");
});

test("words in a picture are no markup", () => {
  const spec = { ...responseSpec(run())!, title: 'a <b> & "c"\u0007' };
  expect(svg(spec, shown)).toContain('>a &lt;b&gt; &amp; "c"<');
});

test("dots of more tools than there are colours are rings", () => {
  const page = study();
  const row = page.rows[0]!;
  page.rows = ["a", "b", "c", "d", "e", "f", "g", "h"].map((tool) => ({
    ...row,
    tool,
    name: tool,
  }));
  const [all] = scatterSpecs(page, page.scatters[0]!);
  const picture = svg(all!, { ...shown, x: [0, 1e6], y: [0, 1e6] });
  expect(all!.series.length).toBe(8);
  expect(picture.match(/r="4" fill="none"/g)!.length).toBe(2);
});

test("a timeline that not all chosen runs have says whose it is", () => {
  const page = study();
  const names = page.rows.slice(0, 2).map((row) => row.name);
  const [rate] = timelineSpecs(page, new Set(names));
  expect(rate!.note).toBeUndefined();
  page.rows[1]!.timeline!.tracks = [];
  const [alone] = timelineSpecs(page, new Set(names));
  expect(alone!.note).toContain(`Of ${names[0]};`);
});
