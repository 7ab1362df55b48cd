/** Made-up pages: small, and with a value in every field. */

import type {
  Axis,
  Chart,
  Mark,
  RunPage,
  SearchPage,
  Series,
  SeriesPage,
  StudyPage,
  StudyRow,
  TrialRow,
  Unit,
} from "../src/generated/page";

const SECONDS = 20;
const times = Array.from({ length: SECONDS }, (_, second) => second + 0.5);
const wave = (base: number) => times.map((time) => base * (1 + 0.3 * Math.sin(time)));

export function axis(title: string, unit: Unit, more: Partial<Axis> = {}): Axis {
  return { title, unit, scale: "linear", is_whole: false, ends: null, ...more };
}

export function chart(
  name: string,
  title: string,
  axes: [Axis, Axis],
  series: Series[],
  more: Partial<Chart> = {},
): Chart {
  const [x, y] = axes;
  return { name, title, note: "", x, y, series, heatmap: null, reference_lines: [], ...more };
}

export function line(
  name: string,
  y: (number | null)[],
  colour = 0,
  mark: Mark = "line",
  x = 0,
): Series {
  return { name, x, y, mark, colour, is_hidden: false };
}

const time = axis("time in the measured part", "seconds", { ends: [0, SECONDS] });
const us = axis("response time", "us", { scale: "log" });

function runCharts(): Chart[] {
  return [
    chart(
      "rate",
      "Rate",
      [time, axis("requests/s", "per_second")],
      [line("asked", wave(2_000), 6, "dashed"), line("answered", wave(2_000))],
    ),
    chart(
      "response-time",
      "Response time",
      [time, us],
      [line("p50", wave(200)), line("p99", wave(61_000), 2)],
    ),
    chart("heatmap", "Heatmap of response times", [time, { ...us, ends: [100, 1e5] }], [], {
      heatmap: {
        lowest_us: 100,
        ratio: 10 ** (1 / 12),
        rows: 30,
        columns: times.map((time) => ({
          start_s: time - 0.5,
          end_s: time + 0.5,
          first_row: 2,
          counts: [3, 900, 0, 40, 1],
        })),
      },
    }),
    chart(
      "spectrum",
      "Percentile spectrum",
      [axis("percentile", "percent", { scale: "percentile" }), us],
      [
        line("response time", [90, 200, 900, 61_200, 9e5], 0, "line", 1),
        line("service time", [90, 180, 300, 900, 1_500], 1, "line", 2),
      ],
    ),
    chart(
      "in-flight",
      "Requests in flight",
      [time, axis("requests", "count")],
      [line("in flight", wave(12))],
    ),
  ];
}

export function run(): RunPage {
  return {
    version: "0.1.0",
    started_at: "2026-01-02T03:04:05Z",
    title: "GET http://127.0.0.1:8080/<b>",
    load: "open loop: 2 000/s constant, 50 connections, 2 threads, for 20 s",
    headlines: [
      { name: "Rate", figure: "1 999/s", note: "of 2 000/s asked", tone: "plain" },
      { name: "p95 of the response time", figure: "54.0 ms", note: "52 – 56 ms", tone: "plain" },
      { name: "Failed", figure: "2.5 %", note: "3 of 40 003 without a response", tone: "bad" },
      { name: "Checks", figure: "1 of 3 failed", note: "p99<50ms", tone: "bad" },
    ],
    facts: [
      { name: "rate", text: "2 000/s asked, 1 999/s achieved" },
      { name: "connections", text: "52 opened, 2 reconnects" },
      { name: "resent", text: "3 requests sent again" },
    ],
    machine: [{ name: "cores", text: "2" }],
    validity: {
      tone: "doubtful",
      claim: "Suspect: something may have distorted these figures.",
      findings: ["The generator was late. Lower the rate (-r)."],
    },
    warnings: ["Few samples. Measure longer."],
    against: {
      baseline: "a.run",
      tone: "bad",
      claim: "Slower than the baseline, after 47 s.",
      rows: [
        {
          name: "all requests",
          relation: "slower",
          figures: [
            {
              figure: "p99",
              base: "20.0 ms",
              with: "22.0 ms",
              ratio: "1.100",
              interval: "1.080 – 1.120",
              relation: "slower",
            },
            {
              figure: "rate",
              base: "200/s",
              with: "200/s",
              ratio: "1.000",
              interval: "0.998 – 1.002",
              relation: "open",
            },
          ],
        },
      ],
      notes: ["The confidence of 95 % is for all looks together."],
    },
    notes: [
      { at_s: 3.2, at: "3.2 s", text: "deployed <b>", is_written: true },
      { at_s: 9, at: "9.0 s", text: "Load paused", is_written: false },
    ],
    checks: [
      { text: "p99<50ms", outcome: "failed", actual: "61.2 ms", why: null },
      { text: "errors<1%", outcome: "passed", actual: "0 %", why: null },
      {
        text: "p99.9<1s",
        outcome: "undecided",
        actual: "> 500 ms",
        why: "12 requests without an answer at the end could change it.",
      },
    ],
    timed_from: "Timed from the intended start of each request.",
    percentiles: [
      {
        name: "p99",
        response: { us: 61_200, at_least: false, text: "61.2 ms", interval: "58.1 – 66.0 ms" },
        service: { us: 900, at_least: false, text: "900 µs", interval: null },
      },
    ],
    name_columns: ["ended", "failed", "rate", "p50", "p95", "p99", "statuses"],
    names: [
      {
        name: "login",
        cells: ["900", "1", "90/s", "1.2 ms", "2.0 ms", "4.1 ms", "200: 890, 503: 9"],
        is_bad: true,
        course: [90, 120, 60.5, 90],
      },
    ],
    name_groups: [],
    name_notes: [],
    metrics: [
      {
        name: "cache_hits",
        kind: "rate",
        figures: [
          { name: "share", text: "93.4 %" },
          { name: "count", text: "1 200" },
        ],
      },
      { name: "queue", kind: "gauge", figures: [] },
    ],
    metric_notes: [],
    statuses: [
      { status: 200, count: 39_000 },
      { status: 503, count: 1_000 },
    ],
    errors: [{ kind: "connect", count: 3, example: "refused <8080>", advice: "Check the port." }],
    error_responses: [
      {
        status: 503,
        is_rejected: false,
        name: "login",
        count: 7,
        at: "1.250 s",
        body: "<h1>busy</h1>\nretry later",
        is_cut: true,
      },
      {
        status: 200,
        is_rejected: true,
        name: "order",
        count: 2,
        at: "3.000 s",
        body: "no basket",
        is_cut: false,
      },
    ],
    exceptions: [
      {
        kind: "KeyError",
        message: "'<id>'",
        count: 1_200,
        at: "2.000 s",
        parts: "agent a, agent b",
        trace: '  File "shop.py", line 12, in buy\n    pay(basket["id"])',
      },
      { kind: "", message: "stop it", count: 1, at: "4.000 s", parts: "", trace: "" },
    ],
    exceptions_left_out: "7 further exceptions with other stacks were only counted.",
    time_columns: ["mean", "p50", "p90", "p99", "max"],
    times: [
      {
        name: "service",
        within_service: false,
        count: 40_000,
        cells: ["210 µs", "180 µs", "300 µs", "900 µs", "1.50 ms"],
        mean_us: 210,
      },
    ],
    time_notes: ["Blocked is waiting for a free connection."],
    added: {
      title: "Tables of another tool",
      verdicts: [],
      tables: [
        {
          title: "Failures",
          columns: [
            { name: "Message", is_number: false },
            { name: "Count", is_number: true },
          ],
          rows: [
            ["<b>refused</b>\nagain", "3"],
            ["All", "3"],
          ],
          has_total: true,
        },
      ],
    },
    resources: [
      { name: "generator", notes: ["Process 17."] },
      { name: "host", notes: [] },
    ],
    plots: {
      shared_x: [
        { values: times, names: [] },
        { values: [0, 50, 90, 99, 99.9], names: [] },
        { values: [0, 50, 90, 99, 99.95], names: [] },
      ],
      course: runCharts(),
      resources: [
        chart(
          "cpu",
          "CPU",
          [time, axis("CPU", "percent")],
          [line("generator", wave(40)), line("host", wave(120), 1)],
        ),
        chart(
          "network",
          "Network",
          [time, axis("traffic", "bytes_per_second")],
          [line("host received", wave(4e6), 1)],
        ),
      ],
    },
  };
}

export function series(): SeriesPage {
  const page = run();
  const one = (number: number) => ({
    name: `Run ${number}`,
    cells: [`${2000 + number}/s`, "61.2 ms", "0", "suspect"],
    page,
  });
  return {
    version: "0.1.0",
    started_at: "2026-01-02T03:04:05Z",
    title: page.title,
    load: page.load,
    verdict: {
      tone: "bad",
      text: "B is slower (p99).",
      ratios: [
        { name: "p50", ratio: 1, lower: 0.98, upper: 1.02, tone: "plain", text: "1.000" },
        {
          name: "p99",
          ratio: 1.1,
          lower: 1.05,
          upper: null,
          tone: "bad",
          text: "1.100 (1.050 – ?)",
        },
      ],
    },
    together: {
      caption: "Across the runs",
      columns: ["median", "least", "most"],
      rows: [{ name: "p99", cells: ["61.2 ms", "60.0 ms", "62.4 ms"] }],
    },
    notes: ["The interval is that of the median."],
    checks: page.checks,
    validity_findings: ["All 3 runs are suspect."],
    columns: ["rate", "p99", "failed", "validity"],
    runs: [1, 2, 3].map(one),
  };
}

export function study(): StudyPage {
  const row = (tool: string, index: number): StudyRow => ({
    tool,
    name: `${tool} ${index}`,
    cells: [
      `${tool} ${index}`,
      10_000 * (index + 1),
      20 * (index + 1),
      index === 2 ? null : 5e6 * (index + 1),
    ],
    finding: index === 2 ? "It failed." : null,
  });
  const tools = ["wrk", "oha"];
  const names = (tool: string) => [0, 1, 2].map((index) => `${tool} ${index}`);
  const steps = [1, 2, 3];
  const rate = axis("Requests/s", "per_second", { ends: [0, 31_500] });
  const cpu = axis("CPU", "percent");
  const dots = (tool: string) =>
    line(
      tool,
      steps.map((step) => 20 * step),
      tools.indexOf(tool),
      "dots",
      tools.indexOf(tool),
    );
  const scatter = (name: string, drawn: string[]) =>
    chart(name, "CPU by Requests/s", [rate, cpu], drawn.map(dots));
  const timeline = (name: string, title: string, y: Axis, base: number) =>
    chart(
      name,
      title,
      [axis("time since the run's start", "seconds"), y],
      tools.flatMap((tool) =>
        names(tool).map((name, index) => ({
          ...line(name, wave(base * (index + 1)), tools.indexOf(tool), "line", index + 2),
          is_hidden: index > 0,
        })),
      ),
    );
  return {
    version: "0.1.0",
    started_at: "2026-01-02T03:04:05Z",
    title: "HTTP tools",
    description: "Four tools against one server.",
    facts: [{ name: "seed", text: "7" }],
    notes: ["hey is not installed and was left out."],
    columns: [
      { name: "exp_name", title: "Run", unit: "text" },
      { name: "rps", title: "Requests/s", unit: "per_second" },
      { name: "avg_cpu", title: "CPU", unit: "percent" },
      { name: "avg_memory", title: "Memory", unit: "bytes" },
    ],
    rows: tools.flatMap((tool) => [0, 1, 2].map((index) => row(tool, index))),
    plots: {
      shared_x: [
        ...tools.map((tool) => ({
          values: steps.map((step) => 10_000 * step),
          names: names(tool),
        })),
        ...[0, 1, 2].map((index) => ({
          values: times.map((time) => time + index * 0.1),
          names: [],
        })),
      ],
      scatters: [
        {
          title: "Requests per second and CPU",
          charts: [
            scatter("avg_cpu-by-rps", tools),
            ...tools.map((tool) => scatter(`avg_cpu-by-rps-${tool}`, [tool])),
          ],
        },
      ],
      timelines: [
        timeline("timeline-rate", "Rate", rate, 10_000),
        timeline("timeline-cpu", "CPU", cpu, 20),
      ],
    },
  };
}

/** A search up to 6 400/s for a target that carries 4 900/s. */
export function search(): SearchPage {
  const levels = [
    10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 3840, 4480, 4800, 4960, 4880, 4920,
  ];
  const ladder: [string, number][] = [
    ["idle", 49],
    ["10 %", 490],
    ["50 %", 2450],
    ["90 %", 4410],
    ["110 %", 5390],
    ["back at 90 %", 4410],
  ];
  const trials: [string, string, number][] = [
    ["warm-up", "warm-up", 10],
    ...levels.map((level): [string, string, number] => ["search", "search", level]),
    ...[0, 1, 2, 3, 4].map((): [string, string, number] => ["confirmation", "confirmation", 4900]),
    ...ladder.map(([part, level]): [string, string, number] => ["ladder", part, level]),
  ];
  const rows = trials.map(([stretch, purpose, level], index): TrialRow => {
    const failed = level > 4900;
    const p99_us = failed ? 300 * level : 4_000 + level;
    const ended = stretch === "warm-up" ? "warm_up" : failed ? "failed" : "passed";
    return {
      number: index + 1,
      purpose,
      stretch,
      level,
      p50_us: p99_us / 9,
      p50_at_least: false,
      p99_us,
      p99_at_least: false,
      cells: [String(level), String(level), "1.02 ms", "5.10 ms", "0 %", "48.0 %"],
      ended: index === 8 ? "discarded" : ended,
      text: failed ? "p99<50ms failed" : "passed",
    };
  });
  const told = rows.filter((row) => row.ended === "passed" || row.ended === "failed");
  told.sort((a, b) => a.level - b.level);
  const p99 = (ended: TrialRow["ended"]) =>
    told.map((row) => (row.ended === ended ? row.p99_us : null));
  const level = (ended: TrialRow["ended"]) =>
    rows.map((row) => (row.ended === ended ? row.level : null));
  const load = axis("rate asked for", "per_second", { ends: [0, 6_000] });
  const charts = [
    chart(
      "response-time-over-load",
      "Response time over the load",
      [load, us],
      [
        line(
          "p50",
          told.map((row) => row.p50_us),
          3,
          "dots",
        ),
        line("p99, failed", p99("failed"), 8, "dots"),
        line("p99, passed", p99("passed"), 0, "dots"),
      ],
      { reference_lines: [{ at: 4900, band: [4880, 4961], label: "load line: 4900 req/s" }] },
    ),
    chart(
      "trials",
      "Course of the search",
      [axis("trial", "count", { is_whole: true, ends: [0, rows.length + 1] }), load],
      [
        line("failed", level("failed"), 8, "dots", 1),
        line("passed", level("passed"), 0, "dots", 1),
      ],
      { reference_lines: [{ at: 1.5, band: null, label: "search" }] },
    ),
  ];
  return {
    version: "0.1.0",
    started_at: "2026-01-02T03:04:05Z",
    title: "GET http://127.0.0.1:8080/<b>",
    course: "rates of an open loop, searched in 28 trials, by p99<50ms and errors<0.1%",
    answer: {
      kind: "found",
      text: "load line: 4900 req/s (4880 … 4961)",
      detail: "p99 fails first; target CPU 98 %; confirmed by a run of 10.0 s",
      notes: [],
    },
    columns: ["req/s", "answers/s", "p50", "p99", "failed", "target CPU"],
    ladder: rows.slice(-ladder.length),
    ladder_notes: ["After 110 % all checks passed again from 2 s after the step down."],
    trials: rows,
    plots: {
      shared_x: [
        {
          values: told.map((row) => row.level),
          names: told.map((row) => `trial ${row.number} (${row.purpose}):`),
        },
        {
          values: rows.map((row) => row.number),
          names: rows.map((row) => `${row.purpose}: trial`),
        },
      ],
      charts,
    },
    floor: "Floor of this machine: a response takes 38.0 µs.",
    machine: [{ name: "cores", text: "2" }],
  };
}
