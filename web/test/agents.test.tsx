import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Agents } from "../src/live/agents";

const agent = {
  name: "web-1",
  is_silent: false,
  answered: 1200,
  failed: 3,
  rate_per_s: 100,
  p50_us: 2000,
  p99_us: 9000,
  lateness_p99_us: 40,
};

test("each agent has a row, and whoever says nothing is named", () => {
  expect(render(<Agents agents={[]} />)).toBe("");
  const silent = { ...agent, name: "web-2", is_silent: true, rate_per_s: 0, p50_us: null };
  const html = render(<Agents agents={[agent, { ...silent, p99_us: null }]} />);
  expect(html.match(/<tr>/g)).toHaveLength(3);
  expect(html.match(/says nothing/g)).toHaveLength(1);
  expect(html).toContain("1\u202f200");
});
