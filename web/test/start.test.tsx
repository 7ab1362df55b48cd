import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { Offer } from "../src/generated/live";
import { kindOf, newRun, NOTHING, Start } from "../src/live/start";

const offer: Offer = {
  folder: "/home/anna/shop",
  files: [
    { name: "shop.js", kind: "k6" },
    { name: "shop.py", kind: "locust" },
  ],
  chosen: null,
};

test("a run has what was typed, and no empty field", () => {
  const typed = {
    ...NOTHING,
    target: " http://a/ ",
    rate: "500",
    checks: "p99<50ms\n\n errors<1% \n",
    variables: "A=b",
  };
  expect(newRun(typed, "plan")).toEqual({
    target: "http://a/",
    rate: "500",
    checks: ["p99<50ms", "errors<1%"],
  });
  expect(newRun({ ...typed, target: "shop.js" }, "k6")).toEqual({
    target: "shop.js",
    variables: ["A=b"],
  });
  expect(newRun({ ...typed, search: "yes" }, "plan")).toEqual({
    target: "http://a/",
    search: true,
    checks: ["p99<50ms", "errors<1%"],
  });
  const locust = {
    ...NOTHING,
    target: "shop.py",
    users: "5",
    classes: "Buyer, Guest",
    options: "basket=a b\n\n",
  };
  expect(newRun(locust, "locust")).toEqual({
    target: "shop.py",
    users: "5",
    classes: ["Buyer", "Guest"],
    options: ["basket=a b"],
  });
});

test("the form has the fields of what is loaded", () => {
  expect(kindOf("shop.js ", offer)).toBe("k6");
  expect(kindOf("http://a/shop.js", offer)).toBe("plan");
  const html = (target: string) =>
    render(<Start offer={offer} typed={{ ...NOTHING, target }} type={() => {}} />);
  expect(html("http://a/")).toContain('name="rate"');
  const search = render(
    <Start
      offer={offer}
      typed={{ ...NOTHING, target: "http://a/", search: "yes" }}
      type={() => {}}
    />,
  );
  expect(search).toContain("Time limit");
  expect(search).not.toContain('name="rate"');
  expect(html("shop.js")).not.toContain('name="search"');
  expect(html("shop.js")).toContain('name="variables"');
  expect(html("shop.js")).not.toContain('name="checks"');
  expect(html("shop.py")).toContain('name="spawn-rate"');
  expect(html("shop.py")).toContain('name="options"');
});
