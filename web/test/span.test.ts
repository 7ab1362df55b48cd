import { expect, test } from "vitest";
import { partOf, withTablesOf } from "../src/live/span";
import { run } from "./sample";

test("the tables of a part have what explains them, and plots are those of the whole", () => {
  const [whole, part] = [run(), run()];
  part.times = [];
  part.time_notes = ["–: too few samples."];
  part.metric_notes = ["of the part"];
  part.name_notes = ["names of the part"];
  const shown = withTablesOf(whole, part);
  expect(shown.times).toEqual([]);
  expect(shown.time_notes).toEqual(part.time_notes);
  expect(shown.metric_notes).toEqual(part.metric_notes);
  expect(shown.name_notes).toEqual(part.name_notes);
  expect(shown.plots).toBe(whole.plots);
  expect(shown.checks).toBe(whole.checks);
});

test("the end of a run is a part once the run is longer", () => {
  expect(partOf(60, null, 50)).toBeNull();
  expect(partOf(60, null, 90)).toEqual({ from: 30, to: 90 });
  expect(partOf("zoomed", { from: 1, to: 2 }, 90)).toEqual({ from: 1, to: 2 });
});
