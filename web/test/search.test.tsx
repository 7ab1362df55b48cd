import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { WHOLE_STEPS } from "../src/charts/options";
import { svg, type Shown } from "../src/charts/picture";
import { placed } from "../src/charts/rules";
import { courseSpec, responseSpec } from "../src/search/pictures";
import { Answer, Ladder } from "../src/search/search";
import { TrialTable } from "../src/search/table";
import { search } from "./sample";

const labels = (spec: ReturnType<typeof responseSpec>) => spec!.series.map((one) => one.label);

test("response times over the load are those of trials that tell of the target", () => {
  const page = search();
  const spec = responseSpec(page)!;
  expect(labels(spec)).toEqual(["p50", "p99, it broke", "p99, it held"]);
  // Neither the warm-up nor the trial that was set aside.
  expect(spec.xs.length).toBe(page.trials.length - 2);
  expect([...spec.xs].sort((a, b) => a - b)).toEqual(spec.xs);
  expect(spec.rules).toEqual([{ at: 4900, band: [4880, 4961], label: "load line: 4900 req/s" }]);
});

test("without a load line none is pointed out, and without an answer nothing is drawn", () => {
  const page = { ...search(), load_line: null };
  expect(responseSpec(page)!.rules).toEqual([]);
  expect(responseSpec(page)!.note).not.toContain("load line");
  const trials = page.trials.map((trial) => ({ ...trial, p50_us: null, p99_us: null }));
  expect(responseSpec({ ...page, trials })).toBeNull();
  expect(courseSpec({ ...page, trials: [] })).toBeNull();
});

test("the course has every trial once, and a rule where a stretch begins", () => {
  const spec = courseSpec(search())!;
  expect(labels(spec)).toEqual(["warm-up", "set aside", "broke", "held"]);
  const dots = spec.series.flatMap((one) => one.values.filter((value) => value !== null));
  expect(dots.length).toBe(search().trials.length);
  expect(spec.rules!.map((rule) => [rule.at, rule.label])).toEqual([
    [1.5, "search"],
    [17.5, "confirmation"],
    [22.5, "ladder"],
  ]);
});

test("there is no half of a trial, or of a user", () => {
  const page = { ...search(), users: true };
  expect([courseSpec(page)!.x.whole, courseSpec(page)!.y.whole]).toEqual([true, true]);
  expect(responseSpec(page)!.x.whole).toBe(true);
  expect(courseSpec(search())!.y.whole).toBeUndefined();
  expect(WHOLE_STEPS.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
});

test("the words of rules do not stand on each other", () => {
  const rules = [1, 2, 3, 50, 99].map((at) => ({ at, label: "confirmation" }));
  const found = placed(
    rules,
    [0, 100],
    (x) => x,
    () => 30,
  );
  expect(found.map((rule) => rule.words?.below ?? null)).toEqual([13, 29, 45, 13, 29]);
  // At the right end they stand left of their rule.
  expect(found[4]!.words!.left).toBe(64);
  expect(
    placed(
      rules,
      [10, 40],
      (x) => x,
      () => 30,
    ),
  ).toEqual([]);
});

test("a band ends where the plot does", () => {
  const rules = [{ at: 5, band: [-5, 20] as [number, number], label: "" }];
  expect(
    placed(
      rules,
      [0, 10],
      (x) => x,
      () => 0,
    )[0]!.band,
  ).toEqual([0, 10]);
});

test("a saved picture has the rule, its band and its words", () => {
  const shown: Shown = {
    x: [0, 6_000],
    y: [100, 1e7],
    ticks: { x: [], y: [] },
    hidden: new Set(),
  };
  const markup = svg(responseSpec(search())!, shown);
  expect(markup).toContain(">load line: 4900 req/s</text>");
  expect(markup).toContain("stroke-dasharray");
  expect(markup).toContain('opacity="0.14"');
});

test("an answer has the colour of its kind, and a doubtful load line is no plain one", () => {
  const answer = search().answer;
  const tone = (change: Partial<typeof answer>) =>
    /verdict answer (\w+)/.exec(render(<Answer answer={{ ...answer, ...change }} />))![1];
  expect(tone({})).toBe("valid");
  expect(tone({ notes: ["The load line may lie higher."] })).toBe("suspect");
  expect(tone({ kind: "at_least" })).toBe("suspect");
  expect(tone({ kind: "nothing_holds" })).toBe("invalid");
  expect(tone({ kind: "not_known" })).toBe("suspect");
});

test("the ladder has a row for each part, and its sentences", () => {
  const html = render(<Ladder page={search()} />);
  expect(html.match(/scope="row"/g)!.length).toBe(6);
  expect(html).toContain("p99&lt;50ms breaks");
  expect(html).toContain("held again from 2 s");
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
