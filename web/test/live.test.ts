import { expect, test } from "vitest";
import { applied } from "../src/live/patch";

test("a second more is a number more, and all else stays the same object", () => {
  const before = { title: "a", lines: [{ y: [1, 2] }, { y: [3, 4] }] };
  const after = applied(before, {
    in: { lines: { in: { "0": { in: { y: { add: [5] } } } } } },
  }) as typeof before;
  expect(after).toEqual({ title: "a", lines: [{ y: [1, 2, 5] }, { y: [3, 4] }] });
  expect(after.lines[1]).toBe(before.lines[1]);
  expect(before.lines[0]!.y).toEqual([1, 2]);
});

test("what is set replaces all that was there, with null as well", () => {
  expect(applied([1, 2], { set: [3] })).toEqual([3]);
  expect(applied({ a: 1 }, { set: null })).toBeNull();
  expect(applied(null, { set: { a: 1 } })).toEqual({ a: 1 });
});

test("elements change by their index, and others come behind them", () => {
  expect(applied(["a", "b"], { in: { "1": { set: "c" } }, add: ["d"] })).toEqual(["a", "c", "d"]);
});

test("nothing changed is the same object", () => {
  const value = { a: [1] };
  expect(applied(value, {})).toBe(value);
});
