import { expect, test } from "vitest";
import type { Load } from "../src/generated/live";
import { current, sliderEnd } from "../src/live/controls";

const load: Load = {
  level: null,
  now: null,
  is_paused: false,
  can_pause: false,
  levels: ["users"],
  spawns: true,
  users: 50,
  scenarios: [],
};

test("a change begins with what was planned", () => {
  expect(current("percent", load)).toBe("100");
  expect(current("users", load)).toBe("50");
  expect(current("users", { ...load, users: null })).toBe("");
  expect(current("rate", load)).toBe("");
});

test("a change begins with what the last one came to, whoever made it", () => {
  const changed: Load = { ...load, now: { unit: "users", number: 7 } };
  expect(current("users", changed)).toBe("7");
  expect(current("percent", changed)).toBe("100");
  expect(sliderEnd("users", { ...changed, now: { unit: "users", number: 300 } })).toBe(300);
});

test("a slider ends at twice the plan, and rates have none", () => {
  expect(sliderEnd("percent", load)).toBe(200);
  expect(sliderEnd("users", load)).toBe(100);
  expect(sliderEnd("users", { ...load, users: 1 })).toBe(20);
  expect(sliderEnd("users", { ...load, users: null })).toBeNull();
  expect(sliderEnd("rate", load)).toBeNull();
});
