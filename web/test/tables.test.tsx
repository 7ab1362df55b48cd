import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Added } from "../src/run/added";
import { BesideBaseline } from "../src/run/against";
import { Course } from "../src/run/notes";
import {
  Checks,
  ErrorResponses,
  Errors,
  Facts,
  Metrics,
  Percentiles,
  Statuses,
  Times,
  Verdict,
} from "../src/run/tables";
import { Headlines } from "../src/run/headlines";
import type { NameRow } from "../src/generated/page";
import { folded } from "../src/run/fold";
import { inSight, NameContext, Names, shown } from "../src/run/names";
import { corners } from "../src/run/spark";
import { Words } from "../src/words";
import { RunTable, sorted } from "../src/study/table";
import { ofName } from "../src/live/name";
import { run, study } from "./sample";

test("the verdict names the grade and its reasons", () => {
  const html = render(<Verdict validity={run().validity} />);
  expect(html).toContain("Suspect");
  expect(html).toContain("The generator was late. Lower the rate (");
});

test("the page begins with large figures, and names the failed checks", () => {
  const html = render(<Headlines headlines={run().headlines} />);
  expect(html.match(/class="headline /g)).toHaveLength(4);
  expect(html).toContain('<span class="whole">1 999/s</span>');
  expect(html).toContain("1 of 3 failed");
  expect(html).toContain("p99&lt;50ms");
  expect(render(<Headlines headlines={[]} />)).toBe("");
});

test("numbers, units and options are not broken", () => {
  const whole = (text: string) =>
    [...render(<Words text={text} />).matchAll(/<span class="whole">([^<]*)/g)].map(
      (found) => found[1],
    );
  expect(whole("load line: 6 376/s, or less (--precision 10%).")).toEqual([
    "6 376/s",
    "--precision 10%",
  ]);
  expect(whole("after 54.0 ms (52 – 56 ms) of 12 requests, give --budget 4m")).toEqual([
    "54.0 ms",
    "56 ms",
    "--budget 4m",
  ]);
  const text = "p99<50ms, <b>a</b> of 1 999/s";
  expect(render(<Words text={text} />).replaceAll(/<\/?span[^>]*>/g, "")).toBe(
    text.replaceAll("<", "&lt;"),
  );
});

test("many names are folded and can be filtered", () => {
  const page = run();
  const rows = Array.from({ length: 2_000 }, (_, index) => ({
    name: `GET /items/${index}`,
    cells: page.names[0]!.cells,
    is_bad: false,
    course: [],
  }));
  const html = render(<Names columns={page.name_columns} rows={rows} groups={[]} notes={[]} />);
  expect(html.match(/scope="row"/g)).toHaveLength(20);
  expect(html).toContain('type="search"');
  expect(shown(rows, "ITEMS/19", false)).toHaveLength(111);
  expect(shown(rows, " ", true)).toHaveLength(2_000);
  const few = render(
    <Names columns={page.name_columns} rows={page.names} groups={[]} notes={[]} />,
  );
  expect(few).not.toContain('type="search"');
});

test("names are folded by their beginning, and a group that is open has its names below", () => {
  const name = (name: string) => ({ name, cells: [], is_bad: false, course: [] });
  const group = (prefix: string) => ({ prefix, names: 2, cells: ["7"], is_bad: false });
  const rows = ["/cart/pay", "/login", "/items/1", "/cart/add", "/items/2"].map(name);
  const groups = ["/cart/", "/items/"].map(group);
  const texts = (open: string[]) =>
    folded(rows, groups, new Set(open)).map((line) =>
      "group" in line ? `${line.isOpen ? "-" : "+"}${line.group.prefix}` : line.row.name,
    );
  expect(texts([])).toEqual(["+/cart/", "+/items/", "/login"]);
  expect(texts(["/items/"])).toEqual(["+/cart/", "-/items/", "/items/1", "/items/2", "/login"]);
});

test("a name whose course is known has a small plot of it", () => {
  expect(corners([0, 5, 10])).toBe("0.0,17.0 40.0,9.0 80.0,1.0");
  expect(corners([0, 0, 0])).toBe("0.0,17.0 40.0,17.0 80.0,17.0");
  const page = run();
  const table = (rows: NameRow[]) =>
    render(<Names columns={page.name_columns} rows={rows} groups={[]} notes={[]} />);
  expect(table(page.names)).toContain('<svg class="spark"');
  expect(table(page.names)).toContain("Rate over time");
  const bare = table([{ ...page.names[0]!, course: [] }]);
  expect(bare).not.toContain("Rate over time");
});

test("of many rows only those in sight are drawn", () => {
  expect(inSight(40, 0, 600, 30)).toEqual([0, 40]);
  expect(inSight(2_000, 0, 600, 30)).toEqual([0, 40]);
  expect(inSight(2_000, 30_000, 600, 30)).toEqual([990, 1_030]);
  expect(inSight(2_000, 60_000, 600, 30)).toEqual([1_990, 2_000]);
  expect(inSight(100, 60_000, 600, 30)).toEqual([100, 100]);
});

test("requests that were sent again stand below the connections, where there are any", () => {
  const { facts } = run();
  const names = (html: string) => [...html.matchAll(/<dt>([^<]*)/g)].map((found) => found[1]);
  const html = render(<Facts facts={facts} />);
  expect(names(html)).toEqual(["rate", "connections", "resent"]);
  expect(html.replaceAll(/<\/?span[^>]*>/g, "")).toContain("<dd>3 requests sent again</dd>");
  const rest = facts.filter((fact) => fact.name !== "resent");
  expect(names(render(<Facts facts={rest} />))).toEqual(["rate", "connections"]);
});

test("each table has a caption and headings with a scope", () => {
  const page = run();
  const tables = [
    render(<Percentiles rows={page.percentiles} note={page.timed_from} />),
    render(<Checks checks={page.checks} />),
    render(<Times columns={page.time_columns} rows={page.times} notes={page.time_notes} />),
    render(
      <Names columns={page.name_columns} rows={page.names} groups={[]} notes={page.name_notes} />,
    ),
    render(<Metrics rows={page.metrics} notes={page.metric_notes} />),
    render(<Statuses rows={page.statuses} />),
    render(<Errors rows={page.errors} />),
    render(<RunTable page={study()} chosen={new Set()} choose={() => {}} />),
  ];
  for (const html of tables) {
    expect(html).toContain("<caption");
    expect(html).toContain('scope="col"');
  }
});

test("a metric of the script has its figures in one cell", () => {
  const page = run();
  const html = render(<Metrics rows={page.metrics} notes={page.metric_notes} />);
  expect(html).toContain("share 93.4 %, count 1 200");
  expect(html).toContain("no value");
});

test("an undecided check says why", () => {
  const { checks } = run();
  const html = render(<Checks checks={checks} />);
  expect(html).toContain("? undecided");
  expect(html).toContain("could change it");
});

test("what a server said is text", () => {
  expect(render(<Errors rows={run().errors} />)).toContain("refused &lt;8080>");
});

test("tables that were added are shown as text, with their last row as a total", () => {
  const html = render(<Added added={run().added} />);
  expect(html).toContain("<h2>Tables of another tool</h2>");
  expect(html).toContain("&lt;b>refused&lt;/b>\nagain");
  expect(html).toContain('<td class="number">3</td>');
  expect(html.match(/<tr class="total"/g)).toHaveLength(1);
  expect(render(<Added added={null} />)).toBe("");
});

test("without anything to say a table is left out", () => {
  expect(render(<Checks checks={[]} />)).toBe("");
  expect(render(<Errors rows={[]} />)).toBe("");
  expect(render(<Percentiles rows={[]} note="" />)).toContain("No responses");
});

test("runs are sorted by number, and what has none comes last either way", () => {
  const rows = study().rows;
  const names = (descending: boolean) =>
    sorted(rows, { column: 3, descending }).map((row) => row.cells[3]);
  expect(names(false)).toEqual([5e6, 5e6, 10e6, 10e6, null, null]);
  expect(names(true)).toEqual([10e6, 10e6, 5e6, 5e6, null, null]);
});

test("words with numbers are sorted as people count", () => {
  const rows = ["wrk 10", "wrk 9"].map((name) => ({ ...study().rows[0]!, cells: [name] }));
  expect(sorted(rows, { column: 0, descending: false })[0]!.cells[0]).toBe("wrk 9");
});

test("notes of people and of the record stand in the order of time", () => {
  const html = render(<Course notes={run().notes} />);
  expect(html).toContain("<strong>deployed &lt;b></strong>");
  expect(html.indexOf("deployed")).toBeLessThan(html.indexOf("Load paused"));
  expect(render(<Course notes={[]} />)).toBe("");
});

test("a run beside its baseline says what is slower, and what can't be told", () => {
  const html = render(<BesideBaseline against={run().against} />);
  expect(html).toContain("Beside a.run");
  expect(html).toContain('<td class="bad">slower</td>');
  expect(html).toContain("can't tell yet");
  expect(html).toContain('<div class="bad">slower</div></th>');
  expect(html).toContain('rowspan="2"');
  expect(render(<BesideBaseline against={null} />)).toBe("");
});

test("a name is a button where its course can be had, and stands above the table", () => {
  const page = run();
  const names = <Names columns={page.name_columns} rows={page.names} groups={[]} notes={[]} />;
  expect(render(names)).not.toContain("of-name");
  const chosen = page.names[0]!.name;
  const press = { chosen, choose: () => {}, above: <p>The course</p> };
  const html = render(<NameContext.Provider value={press}>{names}</NameContext.Provider>);
  expect(html.match(/class="of-name" aria-pressed="true"/g)).toHaveLength(1);
  expect(html.indexOf("The course")).toBeLessThan(html.indexOf("<table"));
});

test("the charts of a name have names of their own", () => {
  const { plots } = run();
  const charts = ofName(plots).course.map((chart) => chart.name);
  expect(charts).toContain("of-name-rate");
  expect(charts).toHaveLength(plots.course.length);
});

test("what else is said of an interval may stand in a further line", () => {
  const [row] = run().percentiles;
  const interval = "1 – 2 ms; 1 ms without Loadline's own delay";
  const rows = [{ ...row!, response: { ...row!.response, us: 1, interval } }];
  const html = render(<Percentiles rows={rows} note="" />);
  expect(html).toContain('<span class="whole">1 – 2 ms</span>; 1 ms without');
});

test("error responses show their bodies, long ones once they are opened", () => {
  const rows = run().error_responses;
  const html = render(<ErrorResponses rows={rows} />);
  expect(html).toContain("<details><summary><code>&lt;h1>busy&lt;/h1></code></summary>");
  expect(html).toContain("<pre>&lt;h1>busy&lt;/h1>\nretry later …</pre>");
  expect(html).toContain("200 rejected");
  expect(html).toContain("<code>no basket</code>");
  expect(html).toContain("<td>login</td>");
  const alone = rows.slice(0, 1).map((row) => ({ ...row, name: "", body: "" }));
  expect(render(<ErrorResponses rows={alone} />)).toContain("<td>no body</td>");
  expect(render(<ErrorResponses rows={alone} />)).not.toContain("Name");
  expect(render(<ErrorResponses rows={[]} />)).toBe("");
});
