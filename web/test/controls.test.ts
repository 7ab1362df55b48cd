import { expect, test } from "vitest";
import type { Load } from "../src/generated/live";
import { planned, sliderEnd } from "../src/live/controls";

const load: Load = {
  level: null,
  is_paused: false,
  can_pause: false,
  levels: ["users"],
  spawns: true,
  users: 50,
  scenarios: [],
};

test("a change begins with what was planned", () => {
  expect(planned("percent", load)).toBe("100");
  expect(planned("users", load)).toBe("50");
  expect(planned("users", { ...load, users: null })).toBe("");
  expect(planned("rate", load)).toBe("");
});

test("a slider ends at twice the plan, and rates have none", () => {
  expect(sliderEnd("percent", load)).toBe(200);
  expect(sliderEnd("users", load)).toBe(100);
  expect(sliderEnd("users", { ...load, users: 1 })).toBe(20);
  expect(sliderEnd("users", { ...load, users: null })).toBeNull();
  expect(sliderEnd("rate", load)).toBeNull();
});
