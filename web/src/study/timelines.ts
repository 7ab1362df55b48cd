/** The timelines of the runs that the reader chose. */

import { plotOf, type Plot } from "../charts/plot";
import type { StudyPage } from "../generated/page";

/** The names of the runs that have a timeline. */
export function recorded(page: StudyPage): Set<string> {
  return new Set(page.plots.timelines.flatMap((chart) => chart.series.map((one) => one.name)));
}

/** Each measure of the chosen runs, in colours that follow their order. */
export function timelines(page: StudyPage, chosen: ReadonlySet<string>): Plot[] {
  const known = recorded(page);
  const names = page.rows.map((row) => row.name);
  const order = names.filter((name) => chosen.has(name) && known.has(name));
  return page.plots.timelines.flatMap((chart) => {
    const series = chart.series
      .filter((one) => chosen.has(one.name))
      .map((one) => ({ ...one, colour: order.indexOf(one.name) }));
    if (series.length === 0) return [];
    const drawn = series.map((one) => one.name);
    return [{ ...plotOf(chart, page.plots.shared_x, series), note: onlyOf(drawn, order) }];
  });
}

/** Whose line a plot shows, where not all of the chosen runs have one. */
function onlyOf(drawn: string[], chosen: string[]): string {
  if (drawn.length === chosen.length && drawn.length > 1) return "";
  const names = drawn.join(", ");
  return drawn.length === chosen.length
    ? `Of ${names}.`
    : `Of ${names}; the other tools do not report it while they run.`;
}
