/** The plots of a search. */

import type { AxisSpec, ChartSpec, Rule, SeriesSpec } from "../charts/spec";
import type { SearchPage, TrialRow } from "../generated/page";

/** What broke is a ring, so that it is told apart without colours as well. */
const COLOUR = { held: 0, broke: 8, p50: 3, set_aside: 4, warm_up: 6 };

/** The p50 and the p99 of each trial that tells of the target, over its level. */
export function responseSpec(page: SearchPage): ChartSpec | null {
  const telling = page.trials.filter(
    (trial) => (trial.ended === "held" || trial.ended === "broke") && trial.p99_us !== null,
  );
  if (telling.length === 0) return null;
  const trials = telling.sort((a, b) => a.level - b.level);
  const p99 = (ended: TrialRow["ended"]) =>
    trials.map((trial) => (trial.ended === ended ? trial.p99_us : null));
  return {
    name: "response-time-over-load",
    title: "Response time over the load",
    note: responseNote(page),
    x: { ...levels(page), ends: [0, 1.05 * trials.at(-1)!.level] },
    y: { title: "response time", quantity: "us", log: true },
    xs: trials.map((trial) => trial.level),
    names: trials.map((trial) => `trial ${trial.number} (${trial.purpose}):`),
    series: drawn([
      dots(
        "p50",
        COLOUR.p50,
        trials.map((trial) => trial.p50_us),
      ),
      dots("p99, it broke", COLOUR.broke, p99("broke")),
      dots("p99, it held", COLOUR.held, p99("held")),
    ]),
    rules: loadLine(page),
  };
}

function responseNote(page: SearchPage): string {
  const dots = "Two dots for each trial, on a logarithmic scale.";
  if (!page.load_line) return dots;
  return `${dots} The dashed line is the load line, and the band around it its 95 % interval.`;
}

function loadLine(page: SearchPage): Rule[] {
  if (!page.load_line) return [];
  const { level, low, high, text } = page.load_line;
  return [{ at: level, band: [low, high], label: text }];
}

/** The level of each trial, one after the other. */
export function courseSpec(page: SearchPage): ChartSpec | null {
  const { trials } = page;
  if (trials.length === 0) return null;
  const level = (ended: TrialRow["ended"]) =>
    trials.map((trial) => (trial.ended === ended ? trial.level : null));
  return {
    name: "trials",
    title: "Course of the search",
    note: "The level of each trial, in the order in which they were made.",
    x: { title: "trial", quantity: "count", whole: true, ends: [0, trials.length + 1] },
    // Room above the dots for the words of the rules.
    y: { ...levels(page), ends: [0, 1.2 * Math.max(...trials.map((trial) => trial.level))] },
    xs: trials.map((trial) => trial.number),
    names: trials.map((trial) => `${trial.purpose}: trial`),
    series: drawn([
      dots("warm-up", COLOUR.warm_up, level("warm_up")),
      dots("set aside", COLOUR.set_aside, level("set_aside")),
      dots("broke", COLOUR.broke, level("broke")),
      dots("held", COLOUR.held, level("held")),
    ]),
    rules: stretches(trials),
  };
}

/** Where each stretch after the first begins, half a step before its first trial. */
function stretches(trials: TrialRow[]): Rule[] {
  const turns = trials.filter(
    ({ stretch }, index) => index > 0 && trials[index - 1]!.stretch !== stretch,
  );
  return turns.map((trial) => ({ at: trial.number - 0.5, label: trial.stretch }));
}

function levels(page: SearchPage): AxisSpec {
  return page.users
    ? { title: "users", quantity: "count", whole: true }
    : { title: "rate asked for", quantity: "per_second" };
}

function dots(label: string, colour: number, values: (number | null)[]): SeriesSpec {
  return { label, colour, values, mark: "dots" };
}

/** The series with anything to show. */
function drawn(series: SeriesSpec[]): SeriesSpec[] {
  return series.filter((one) => one.values.some((value) => value !== null));
}
