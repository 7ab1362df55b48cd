import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { CheckSoFar, Figures } from "../src/generated/live";
import { ChecksSoFar } from "../src/live/checks";

function shown(check: Partial<CheckSoFar>, planned_s: number | null = 60): string {
  const open = { check: "p99<5ms", outcome: "passed", proven: null, more_s: null };
  const checks = [{ ...open, added_at_s: null, ...check }];
  const figures = { elapsed_s: 35, planned_s, checks } as unknown as Figures;
  const html = render(<ChecksSoFar figures={figures} />);
  return html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
}

test("a check that is open says when it is expected to be proven", () => {
  expect(shown({ more_s: 12.3 })).toContain("passes so far, not decided yet, about 13 s more");
  expect(shown({ more_s: 40 })).toContain("not decided yet; not expected before the end");
  expect(shown({ more_s: 40 }, null)).toContain("about 40 s more");
  expect(shown({ outcome: "failed" })).toMatch(/fails so far, not decided yet$/);
  expect(shown({ outcome: "undecided" })).toBe("p99&lt;5ms not decided yet");
});

test("a check that is proven says so, and nothing of its time", () => {
  expect(shown({ proven: "failed", more_s: 5 })).toBe("p99&lt;5ms ✗ failed");
  expect(shown({ outcome: "undecided", added_at_s: 3 })).toContain("added at 3 s, on this page");
});
