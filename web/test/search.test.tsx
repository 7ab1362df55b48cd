import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { WHOLE_STEPS } from "../src/charts/options";
import { svg, type Shown } from "../src/charts/file";
import { plotOf } from "../src/charts/plot";
import { placed } from "../src/charts/reference-lines";
import { Answer, Ladder } from "../src/search/search";
import { TrialTable } from "../src/search/table";
import { search } from "./sample";

test("a place of a search is a trial with its name", () => {
  const { plots, trials } = search();
  const [response, course] = plots.charts.map((chart) => plotOf(chart, plots.shared_x));
  // Neither the warm-up nor the trial that was set aside.
  expect(response!.xs.length).toBe(trials.length - 2);
  expect([...response!.xs].sort((a, b) => a - b)).toEqual(response!.xs);
  expect(course!.names![0]).toBe("warm-up: trial");
});

test("steps between whole numbers are whole", () => {
  expect(WHOLE_STEPS.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
});

test("labels of reference lines do not overlap", () => {
  const lines = [1, 2, 3, 50, 99].map((at) => ({ at, band: null, label: "confirmation" }));
  const found = placed(
    lines,
    [0, 100],
    (x) => x,
    () => 30,
  );
  expect(found.map((rule) => rule.words?.below ?? null)).toEqual([13, 29, 45, 13, 29]);
  // At the right end they stand left of their line.
  expect(found[4]!.words!.left).toBe(64);
  expect(
    placed(
      lines,
      [10, 40],
      (x) => x,
      () => 30,
    ),
  ).toEqual([]);
});

test("a band ends where the plot does", () => {
  const lines = [{ at: 5, band: [-5, 20] as [number, number], label: "" }];
  expect(
    placed(
      lines,
      [0, 10],
      (x) => x,
      () => 0,
    )[0]!.band,
  ).toEqual([0, 10]);
});

test("a saved file has the reference line, its band and its label", () => {
  const shown: Shown = {
    x: [0, 6_000],
    y: [100, 1e7],
    ticks: { x: [], y: [] },
    hidden: new Set(),
  };
  const { charts, shared_x } = search().plots;
  const markup = svg(plotOf(charts[0]!, shared_x), shown);
  expect(markup).toContain(">load line: 4900 req/s</text>");
  expect(markup).toContain("stroke-dasharray");
  expect(markup).toContain('opacity="0.14"');
});

test("an answer has the colour of its kind, and a doubtful load line is no plain one", () => {
  const answer = search().answer;
  const tone = (change: Partial<typeof answer>) =>
    /verdict answer (\w+)/.exec(render(<Answer answer={{ ...answer, ...change }} />))![1];
  expect(tone({})).toBe("good");
  expect(tone({ notes: ["The load line may lie higher."] })).toBe("doubtful");
  expect(tone({ kind: "at_least" })).toBe("doubtful");
  expect(tone({ kind: "nothing_holds" })).toBe("bad");
  expect(tone({ kind: "not_known" })).toBe("doubtful");
});

test("the ladder has a row for each part, and its sentences", () => {
  const html = render(<Ladder page={search()} />);
  expect(html.match(/scope="row"/g)!.length).toBe(6);
  expect(html).toContain("p99&lt;50ms failed");
  expect(html).toContain("passed again from 2 s");
  expect(render(<Ladder page={{ ...search(), ladder: [] }} />)).toBe("");
});

test("every trial has a row with its number, under headings with a scope", () => {
  const { columns, trials } = search();
  const html = render(
    <TrialTable caption="All" columns={columns} rows={trials} named="For" numbered />,
  );
  expect(html.match(/<tr>/g)!.length).toBe(trials.length + 1);
  expect(html.match(/scope="col"/g)!.length).toBe(columns.length + 3);
  expect(html).toContain("<caption");
});
