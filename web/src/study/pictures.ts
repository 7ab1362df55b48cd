/** The plots of a study. */

import type { ChartSpec, SeriesSpec } from "../charts/spec";
import type { Quantity } from "../format";
import { joined, MEASURES, trackOf } from "../measures";
import type { Column, Measure, Scatter, StudyPage, StudyRow } from "../generated/page";

/** The tools in the order in which they come. */
export function toolsOf(page: StudyPage): string[] {
  return [...new Set(page.rows.map((row) => row.tool))];
}

interface Dot {
  row: StudyRow;
  x: number;
  y: number;
}

/** One column against another: for all tools together, then, if there are several, for each. */
export function scatterSpecs(page: StudyPage, scatter: Scatter): ChartSpec[] {
  const x = page.columns.findIndex((column) => column.name === scatter.x);
  const y = page.columns.findIndex((column) => column.name === scatter.y);
  if (x < 0 || y < 0) return [];
  const dots = page.rows.flatMap((row): Dot[] => {
    const [across, up] = [row.cells[x], row.cells[y]];
    return typeof across === "number" && typeof up === "number" ? [{ row, x: across, y: up }] : [];
  });
  if (dots.length === 0) return [];
  dots.sort((a, b) => a.x - b.x);
  const tools = toolsOf(page).filter((tool) => dots.some((dot) => dot.row.tool === tool));
  const draw = (title: string, name: string, drawn: string[]) =>
    scatterSpec({ title, name, dots, tools, drawn, x: page.columns[x]!, y: page.columns[y]! });
  const all = draw("All", `${scatter.y}-by-${scatter.x}`, tools);
  if (tools.length < 2) return [all];
  const each = tools.map((tool) =>
    draw(tool, `${scatter.y}-by-${scatter.x}-${slug(tool)}`, [tool]),
  );
  return [all, ...each];
}

function scatterSpec(of: {
  title: string;
  name: string;
  dots: Dot[];
  tools: string[];
  drawn: string[];
  x: Column;
  y: Column;
}): ChartSpec {
  const dots = of.dots.filter((dot) => of.drawn.includes(dot.row.tool));
  return {
    name: of.name,
    title: `${of.y.title} by ${of.x.title}: ${of.title}`,
    x: { title: of.x.title, quantity: quantity(of.x), ends: [0, 1.05 * (dots.at(-1)!.x || 1)] },
    y: { title: of.y.title, quantity: quantity(of.y) },
    xs: dots.map((dot) => dot.x),
    names: dots.map((dot) => dot.row.name),
    series: of.drawn.map((tool) => ({
      label: tool,
      values: dots.map((dot) => (dot.row.tool === tool ? dot.y : null)),
      mark: "dots",
      colour: of.tools.indexOf(tool),
    })),
  };
}

const TIMELINES: { measure: Measure; title: string; y: string }[] = [
  { measure: "rate", title: "Rate", y: "requests a second" },
  { measure: "response_p99", title: "p99 of the response time", y: "response time" },
  { measure: "cpu", title: "CPU", y: "CPU (100 % is one core)" },
  { measure: "memory", title: "Memory", y: "resident memory" },
  { measure: "bandwidth", title: "Bandwidth", y: "bytes a second" },
  { measure: "sockets", title: "Open sockets", y: "sockets" },
];

/** Each measure of the chosen runs, on one axis of time. */
export function timelineSpecs(page: StudyPage, chosen: ReadonlySet<string>): ChartSpec[] {
  const rows = page.rows.filter((row) => chosen.has(row.name) && row.timeline);
  return TIMELINES.flatMap(({ measure, title, y }) => {
    const known = rows.filter((row) => trackOf(row.timeline!.tracks, measure));
    if (known.length === 0) return [];
    const { xs, values } = joined(
      known.map((row) => row.timeline!),
      measure,
    );
    const series = known.map((row, index): SeriesSpec => ({
      label: row.name,
      values: values[index]!,
      mark: "line",
      colour: rows.indexOf(row),
    }));
    const { quantity, log } = MEASURES[measure];
    return [
      {
        name: `timeline-${measure.replaceAll("_", "-")}`,
        title,
        note: onlyOf(known, rows),
        x: { title: "time since the run's start", quantity: "seconds" as Quantity },
        y: { title: y, quantity, log },
        xs,
        series,
        group: "timelines",
      },
    ];
  });
}

/** Whose line a plot shows, where not all of the chosen runs have one. */
function onlyOf(known: StudyRow[], rows: StudyRow[]): string | undefined {
  if (known.length === rows.length && known.length > 1) return undefined;
  const names = known.map((row) => row.name).join(", ");
  return known.length === rows.length
    ? `Of ${names}.`
    : `Of ${names}; the other tools do not tell it while they run.`;
}

function quantity(column: Column): Quantity {
  return column.unit;
}

/** A tool's name in the name of a file. */
function slug(tool: string): string {
  return tool
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
