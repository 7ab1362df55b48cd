import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Runs, Standing, Together } from "../src/series/series";
import { series } from "./sample";

test("the figures of all runs together are a table with headings", () => {
  const html = render(<Together table={series().together!} />);
  expect(html).toContain("Across the runs");
  expect(html).toContain('scope="row">p99');
  expect(html).toContain("62.4 ms");
});

test("the verdict stands first, with a picture of the ratios", () => {
  const html = render(<Standing verdict={series().verdict!} />);
  expect(html).toContain("verdict answer bad");
  expect(html).toContain("B is slower (p99).");
  expect(html.match(/<circle/g)).toHaveLength(2);
  expect(html).toContain("B / A: p50 1.000, p99 1.100 (1.050 – ?)");
});

test("each run has a line, and one of them is chosen", () => {
  const page = series();
  const html = render(
    <Runs columns={page.columns} runs={page.runs} chosen={1} choose={() => {}} />,
  );
  expect(html.match(/type="radio"/g)).toHaveLength(3);
  expect(html.match(/checked/g)).toHaveLength(1);
  expect(html).toContain("2002/s");
});
