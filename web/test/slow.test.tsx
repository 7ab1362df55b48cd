import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { SlowRow, SlowRows } from "../src/generated/live";
import { Found, queryOf } from "../src/live/slow";

const cell = { left: 3, right: 4, bottom: 1e4, top: 1.2e4, count: 7, share: 1 };

const row: SlowRow = {
  at_s: 3.21,
  name: "GET /cart",
  status: 200,
  error: null,
  response_us: 11_000,
  blocked_us: 0,
  lateness_us: 400,
  dial_us: 0,
  wait_us: 10_500,
  rest_us: 100,
  wakeup_us: 20,
  bytes_in: 100,
  served_before: 12,
  cause: "target",
};

const found: SlowRows = {
  requests: [row, { ...row, name: null, status: null, error: "timeout", served_before: 0 }],
  lateness_p99_us: 40,
  cpu: [{ name: "nginx", percent: 87 }],
};

test("a cell is asked for by its bounds", () => {
  expect(queryOf(cell)).toBe("from_s=3&to_s=4&from_us=10000&to_us=12000");
  expect(queryOf("all")).toContain("from_s=0");
});

test("the requests of a cell say what took their time, and on which connection", () => {
  const html = render(<Found looked={cell} found={found} />);
  expect(html).toContain("2 of 7");
  expect(html).toContain("GET /cart");
  expect(html).toContain("theirs");
  expect(html).toContain("after 12");
  expect(html).toContain('<td class="bad">timeout</td>');
  expect(html).toContain("<td>new</td>");
  expect(html).toMatch(/nginx 87/);
});

test("a cell of which nothing is kept says so", () => {
  const html = render(<Found looked="all" found={{ ...found, requests: [] }} />);
  expect(html).toContain("None of them is kept");
});
