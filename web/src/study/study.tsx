/** The page of a study: its table, what it shows of each tool, and the timelines of chosen runs. */

import { useState } from "preact/hooks";
import { Chart } from "../charts/chart";
import type { StudyPage, StudyRow } from "../generated/page";
import { Facts, Notes } from "../run/tables";
import { scatterSpecs, timelineSpecs } from "./pictures";
import { RunTable } from "./table";

/** As many runs as colours are told apart at a glance. */
const FIRST_CHOSEN = 5;

/** The first run of each tool. `StudyPage::first_chosen` chooses the same for files. */
function firstChosen(page: StudyPage): string[] {
  const rows = page.rows.filter((row) => row.timeline);
  const first = rows.filter((row) => rows.find((other) => other.tool === row.tool) === row);
  return first.slice(0, FIRST_CHOSEN).map((row) => row.name);
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
            {row.name}: {row.doubt}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function StudyReport({ page }: { page: StudyPage }) {
  const withTimeline = page.rows.filter((row) => row.timeline);
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
        <Doubts rows={page.rows.filter((row) => row.doubt)} />
      </section>
      {page.scatters.map((scatter) => {
        const [all, ...each] = scatterSpecs(page, scatter);
        if (!all) return null;
        return (
          <section key={scatter.title}>
            <h2>{scatter.title}</h2>
            <Chart spec={all} />
            <div class="charts small">
              {each.map((spec) => (
                <Chart key={spec.name} spec={spec} />
              ))}
            </div>
          </section>
        );
      })}
      {withTimeline.length > 0 && (
        <section>
          <h2>Timelines</h2>
          <p class="hint">Tick runs in the table above to see them here on one axis.</p>
          <div class="charts">
            {timelineSpecs(page, chosen).map((spec) => (
              <Chart key={spec.name} spec={spec} />
            ))}
          </div>
        </section>
      )}
    </>
  );
}
