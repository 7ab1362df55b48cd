import { expect, test } from "vitest";
import { pageWithin } from "../src/drop";
import { goesOn, takesLateNotes } from "../src/live/run";
import type { State } from "../src/generated/live";
import { run } from "./sample";

const report = (data: string) =>
  `<!doctype html><script type="application/json" id="page">\n${data}</script><p>behind</p>`;

test("the data of a dropped report is found", () => {
  const page = { kind: "run", ...run() };
  const data = JSON.stringify(page).replace(/</g, "\\u003c");
  expect(pageWithin(report(data))).toEqual(page);
});

test("what is no report is none", () => {
  for (const text of [
    "",
    "{}",
    '<p id="page">',
    report("{"),
    report('{"kind":"live","version":"1"}'),
    report("7"),
    report("null"),
  ])
    expect(pageWithin(text)).toBeNull();
});

test("between the runs of a series there is something to stop, and nothing to note", () => {
  const state = (rest: Partial<State>) =>
    ({ phase: "ended", page: {}, search: null, ...rest }) as unknown as State;
  expect(goesOn(state({ has_more: true }))).toBe(true);
  expect(takesLateNotes(state({ has_more: true }))).toBe(false);
  expect(goesOn(state({}))).toBe(false);
  expect(takesLateNotes(state({}))).toBe(true);
  expect(takesLateNotes(state({ page: null }))).toBe(false);
  expect(takesLateNotes(state({ search: {} }))).toBe(false);
  expect(goesOn(state({ phase: "running" }))).toBe(true);
});
