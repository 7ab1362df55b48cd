/** The page of a search: its answer, the ladder around the load line, the charts, every trial. */

import { Charts } from "../charts/charts";
import type { SearchAnswer, SearchPage, Tone } from "../generated/page";
import { Facts } from "../run/tables";
import { Words } from "../words";
import { TrialTable } from "./table";

const LOOKS: Record<SearchAnswer["kind"], { tone: Tone; sign: string }> = {
  found: { tone: "good", sign: "✓" },
  at_least: { tone: "doubtful", sign: "≥" },
  nothing_holds: { tone: "bad", sign: "✗" },
  not_known: { tone: "doubtful", sign: "?" },
};

/** What was found. A load line that there is something to say against is not a plain one. */
export function Answer({ answer }: { answer: SearchAnswer }) {
  const doubtful = answer.kind === "found" && answer.notes.length > 0;
  const { tone, sign }: { tone: Tone; sign: string } = doubtful
    ? { tone: "doubtful", sign: "!" }
    : LOOKS[answer.kind];
  return (
    <section class="verdicts" aria-label="Result">
      <div class={`verdict answer ${tone}`}>
        <strong>
          <span aria-hidden="true">{sign}</span> <Words text={answer.text} />
        </strong>
        {answer.detail && (
          <p>
            <Words text={answer.detail} />
          </p>
        )}
        {answer.notes.length > 0 && (
          <ul>
            {answer.notes.map((note) => (
              <li key={note}>
                <Words text={note} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

export function Ladder({ page }: { page: SearchPage }) {
  if (page.ladder.length === 0) return null;
  return (
    <section>
      <h2>Ladder</h2>
      <TrialTable
        caption="What the target does at parts of its load line"
        columns={page.columns}
        rows={page.ladder}
        named="Load line"
      />
      {page.ladder_notes.length > 0 && (
        <ul class="notes">
          {page.ladder_notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Trials({ page }: { page: SearchPage }) {
  if (page.trials.length === 0) return null;
  return (
    <section>
      <h2>Trials</h2>
      <p class="hint">
        Drag across a plot to look closer, press a name in a legend to hide or show its dots.
      </p>
      <Charts charts={page.plots.charts} sharedX={page.plots.shared_x} />
      <details class="below">
        <summary>All trials as a table</summary>
        <TrialTable
          caption="Every trial, in the order in which they were made"
          columns={page.columns}
          rows={page.trials}
          numbered
          named="For"
        />
      </details>
    </section>
  );
}

export function SearchReport({ page }: { page: SearchPage }) {
  return (
    <>
      <h1>{page.title}</h1>
      <p class="load">{page.course}</p>
      <Answer answer={page.answer} />
      <Ladder page={page} />
      <Trials page={page} />
      <section>
        <h2>Generator's machine</h2>
        <Facts facts={page.machine} />
        {page.floor && <p class="below">{page.floor}</p>}
      </section>
    </>
  );
}
