/** The page of one run: what it found, whether it can be believed, and the pictures. */

import { Charts } from "../charts/charts";
import type { RunPage } from "../generated/page";
import { Added } from "./added";
import { BesideBaseline } from "./against";
import { Exceptions } from "./exceptions";
import { Headlines } from "./headlines";
import { Names } from "./names";
import { Course } from "./notes";
import { Resources } from "./resources";
import {
  Checks,
  ErrorResponses,
  Errors,
  Facts,
  Metrics,
  Notes,
  Percentiles,
  Statuses,
  Times,
  Verdict,
} from "./tables";

export function RunReport({ page }: { page: RunPage }) {
  return (
    <>
      <h1>{page.title}</h1>
      <p class="load">{page.load}</p>
      <RunBody page={page} />
    </>
  );
}

/** All of a run's page but its title. */
export function RunBody({ page }: { page: RunPage }) {
  return (
    <>
      <Headlines headlines={page.headlines} />
      <Verdict validity={page.validity} />
      <div class="columns">
        <section>
          <h2>Result</h2>
          <Facts facts={page.facts} />
        </section>
        <section>
          <h2>Response time</h2>
          <Percentiles rows={page.percentiles} note={page.timed_from} />
        </section>
      </div>
      <Notes title="Warnings" notes={page.warnings} />
      <Checks checks={page.checks} />
      <BesideBaseline against={page.against} />
      <Course notes={page.notes} />
      {page.plots.course.length > 0 && (
        <section>
          <h2>Plots</h2>
          <p class="hint">
            Drag across a plot to look closer, press a name in a legend to hide or show its line.
            {page.plots.notes?.map((sentence) => ` ${sentence}`)}
          </p>
          <Charts charts={page.plots.course} sharedX={page.plots.shared_x} />
        </section>
      )}
      <Times columns={page.time_columns} rows={page.times} notes={page.time_notes} />
      <Names
        columns={page.name_columns}
        rows={page.names}
        groups={page.name_groups}
        notes={page.name_notes}
      />
      <Metrics rows={page.metrics} notes={page.metric_notes} />
      <div class="columns">
        <Statuses rows={page.statuses} />
        <Errors rows={page.errors} />
      </div>
      <ErrorResponses rows={page.error_responses} />
      <Exceptions rows={page.exceptions} leftOut={page.exceptions_left_out} />
      <Added added={page.added} />
      <Resources page={page} />
      <section>
        <h2>Generator's machine</h2>
        <Facts facts={page.machine} />
      </section>
    </>
  );
}
