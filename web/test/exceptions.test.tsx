import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { count } from "../src/format";
import { Exceptions } from "../src/run/exceptions";
import { run } from "./sample";

test("an exception shows its stack once it is opened", () => {
  const { exceptions: rows, exceptions_left_out: leftOut } = run();
  const html = render(<Exceptions rows={rows} leftOut={leftOut} />);
  expect(html).toContain(`<td class="number">${count(1_200)}</td>`);
  expect(html).toContain("<summary><code>KeyError: '&lt;id>'</code></summary>");
  expect(html).toContain("in buy\n    pay(basket[&quot;id&quot;])</pre>");
  expect(html).toContain("<td>agent a, agent b</td>");
  expect(html).toContain("<td><code>stop it</code></td>");
  expect(html).toContain(leftOut);
});

test("without agents there is no column for them, and without exceptions no table", () => {
  const rows = run().exceptions.map((row) => ({ ...row, parts: "" }));
  expect(render(<Exceptions rows={rows} leftOut="" />)).not.toContain("Where");
  expect(render(<Exceptions rows={[]} leftOut="" />)).toBe("");
});
