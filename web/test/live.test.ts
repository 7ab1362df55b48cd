import { expect, test } from "vitest";
import type { Event as Change, Figures, State } from "../src/generated/live";
import { applied } from "../src/live/patch";
import { failures } from "../src/live/live";
import { changed } from "../src/live/run";

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

test("the log of a run grows, is cut, and begins anew with the next run", () => {
  const state = { phase: "running", log: ["a"], page: null, search: null } as unknown as State;
  const event = { phase: "running", page: {} } as unknown as Change;
  const more = changed(state, { ...event, log: ["b"] });
  expect(more.log).toEqual(["a", "b"]);
  expect(changed(more, event).log).toEqual(["a", "b"]);
  const many = Array.from({ length: 250 }, (_, index) => String(index));
  expect(changed(more, { ...event, log: many }).log).toHaveLength(200);
  expect(changed(more, { ...event, phase: "preparing" }).log).toEqual([]);
});

test("a search changes as the page does", () => {
  const state = {
    phase: "ended",
    log: [],
    page: null,
    search: { trials: [1] },
  } as unknown as State;
  const event = { phase: "ended", page: {}, search: { in: { trials: { add: [2] } } } };
  expect(changed(state, event as unknown as Change).search).toEqual({ trials: [1, 2] });
  expect(changed(state, { ...event, search: undefined } as unknown as Change).search).toBe(
    state.search,
  );
});

test("failures are requests without a response and rejected ones, of all that have ended", () => {
  const told = (answered: number, failed: number, rejected: number) =>
    failures({ answered, failed, rejected } as unknown as Figures);
  expect(told(90, 10, 15)).toBe("25 (25\u202f%)");
  expect(told(90, 0, 0)).toBe("0");
  expect(told(0, 0, 0)).toBe("0");
});
