/** The page of a study: its table, what it shows of each tool, and the timelines of chosen runs. */

import { useState } from "preact/hooks";
import { Chart } from "../charts/chart";
import { plotOf } from "../charts/plot";
import { Charts } from "../charts/charts";
import type { StudyPage, StudyRow } from "../generated/page";
import { Facts, Notes } from "../run/tables";
import { timelines } from "./timelines";
import { RunTable } from "./table";

/** The runs whose timelines are shown at first. */
function firstChosen(page: StudyPage): string[] {
  const series = page.plots.timelines.flatMap((chart) => chart.series);
  return series.filter((one) => !one.is_hidden).map((one) => one.name);
}

/** Why rows are coloured. Their titles say it as well, to whoever can point at them. */
function Doubts({ rows }: { rows: StudyRow[] }) {
  if (rows.length === 0) return null;
  return (
    <details class="hint">
      <summary>Why the figures of the coloured rows are in doubt</summary>
      <ul class="notes">
        {rows.map((row) => (
          <li key={row.name}>
            {row.name}: {row.finding}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function StudyReport({ page }: { page: StudyPage }) {
  const { scatters, shared_x: sharedX } = page.plots;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(firstChosen(page)));
  const choose = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  return (
    <>
      <h1>{page.title}</h1>
      {page.description && <p class="load">{page.description}</p>}
      <Facts facts={page.facts} />
      <Notes title="Notes" notes={page.notes} />
      <section>
        <h2>Runs</h2>
        <RunTable page={page} chosen={chosen} choose={choose} />
        <Doubts rows={page.rows.filter((row) => row.finding)} />
      </section>
      {scatters.map(({ title, charts: [all, ...each] }) => (
        <section key={title}>
          <h2>{title}</h2>
          {all && <Chart plot={plotOf(all, sharedX)} />}
          <Charts charts={each} sharedX={sharedX} small />
        </section>
      ))}
      {page.plots.timelines.length > 0 && (
        <section>
          <h2>Timelines</h2>
          <p class="hint">Tick runs in the table above to see them here on one axis.</p>
          <div class="charts">
            {timelines(page, chosen).map((plot) => (
              <Chart key={plot.name} plot={plot} />
            ))}
          </div>
        </section>
      )}
    </>
  );
}
