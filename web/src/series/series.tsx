/** The page of several runs: their summary, a table of them, and the page of the chosen one. */

import { useState } from "preact/hooks";
import type { SeriesPage, SeriesRun, SeriesVerdict, Table } from "../generated/page";
import { RunBody } from "../run/run";
import { Checks, Notes } from "../run/tables";
import { Ratios } from "./ratios";
import { Scroll } from "../scroll";

export function SeriesReport({ page }: { page: SeriesPage }) {
  const [chosen, choose] = useState(0);
  const run = page.runs[chosen];
  return (
    <>
      <h1>{page.title}</h1>
      <p class="load">{page.load}</p>
      {page.verdict && <Standing verdict={page.verdict} />}
      {page.together && <Together table={page.together} />}
      <Notes title="Notes on all runs" notes={page.notes} />
      <Checks checks={page.checks} />
      <section>
        <h2>Runs</h2>
        <p class="hint">Choose a run to see its figures and plots below.</p>
        <Runs columns={page.columns} runs={page.runs} chosen={chosen} choose={choose} />
      </section>
      <Notes title="Validity" notes={page.validity_findings} />
      {run && (
        <section key={chosen}>
          <h2 class="chosen">{run.name}</h2>
          <RunBody page={run.page} />
        </section>
      )}
    </>
  );
}

const SIGNS = { good: "✓", plain: "?", doubtful: "?", bad: "✗" };

/** How two sides stand to each other, in a sentence and as a picture. */
export function Standing({ verdict }: { verdict: SeriesVerdict }) {
  return (
    <section class="verdicts" aria-label="Verdict">
      <div class={`verdict answer ${verdict.tone}`}>
        <strong>
          <span aria-hidden="true">{SIGNS[verdict.tone]}</span> {verdict.text}
        </strong>
        <Ratios ratios={verdict.ratios} />
      </div>
    </section>
  );
}

/** The figures of all runs together. */
export function Together({ table }: { table: Table }) {
  return (
    <section>
      <h2>{table.caption}</h2>
      <Scroll>
        <table>
          <caption class="unseen">{table.caption}</caption>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              {table.columns.map((column) => (
                <th scope="col" class="number" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.name}</th>
                {row.cells.map((cell, index) => (
                  <td class="number" key={index}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** A line for each run, with a button that chooses it. */
export function Runs(props: {
  columns: string[];
  runs: SeriesRun[];
  chosen: number;
  choose: (index: number) => void;
}) {
  const { columns, runs, chosen, choose } = props;
  return (
    <div class="scroll tall">
      <table>
        <caption class="unseen">Every run, in the order in which they were made</caption>
        <thead>
          <tr>
            <th scope="col">Run</th>
            {columns.map((column) => (
              <th scope="col" class="number" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <tr key={run.name} class={index === chosen ? "chosen" : ""}>
              <th scope="row">
                <label>
                  <input
                    type="radio"
                    name="run"
                    checked={index === chosen}
                    onChange={() => choose(index)}
                  />{" "}
                  {run.name}
                </label>
              </th>
              {run.cells.map((cell, cellIndex) => (
                <td class="number" key={cellIndex}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
