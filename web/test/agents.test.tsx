import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { AgentSoFar, Figures } from "../src/generated/live";
import { Agents } from "../src/live/agents";

const agent: AgentSoFar = {
  name: "web-1",
  is_silent: false,
  answered: 1200,
  failed: 3,
  rate_per_s: 100,
  p50_us: 2000,
  p99_us: 9000,
  lateness_p99_us: 40,
};

function shown(agents: AgentSoFar[], total: number): string {
  const figures = { agents, agents_total: total } as unknown as Figures;
  return render(<Agents figures={figures} />);
}

test("each agent has a row, and whoever says nothing is named", () => {
  expect(shown([], 0)).toBe("");
  const silent = { ...agent, name: "web-2", is_silent: true, rate_per_s: 0, p50_us: null };
  const html = shown([agent, { ...silent, p99_us: null }], 2);
  expect(html.match(/<tr>/g)).toHaveLength(3);
  expect(html.match(/says nothing/g)).toHaveLength(1);
  expect(html).toContain("1\u202f200");
  expect(html).not.toContain("are shown");
});

test("of many agents it is said how many are shown, and what is not known is no number", () => {
  const many = Array.from({ length: 64 }, (_, number) => ({ ...agent, name: `web-${number}` }));
  const html = shown([{ ...agent, failed: null }, ...many.slice(1)], 1000);
  expect(html).toContain("64 of 1\u202f000 agents are shown");
  expect(html).toContain("Show all");
  expect(html.match(/<tr>/g)).toHaveLength(65);
  expect(html).toContain('<td class="number">–</td>');
});
