import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { EarlierRun } from "../src/generated/live";
import { EarlierRow } from "../src/live/earlier";

const run: EarlierRun = {
  name: "run-1.run",
  started_at: "2026-11-25T08:00:00Z",
  title: "script shop.js",
  load: "1 user",
  duration_s: 2,
  rate_per_s: 0,
  p99_us: null,
  failed_percent: null,
  unanswered: "nothing was sent",
  validity: "valid",
  checks: null,
};

function shown(run: EarlierRun): string {
  return render(<EarlierRow run={run} pair={{ base: "", with: "" }} choose={() => {}} />);
}

test("a run without a response says so, beside its validity", () => {
  const html = shown(run);
  expect(html).toContain('<td>valid<div class="bad">nothing was sent</div></td>');
  expect(html).not.toContain("%");
});

test("a run with responses has its share of failed requests", () => {
  const html = shown({ ...run, failed_percent: 0, unanswered: null });
  expect(html).toContain("<td>valid</td>");
  expect(html).toContain('<td class="number">0\u202f%</td>');
});
