/** The page of a run that goes on: the report's own parts, fed each second, and what steers it. */

import { figure } from "../format";
import type { Figures, Phase, State } from "../generated/live";
import type { RunPage } from "../generated/page";
import { Frame } from "../frame";
import { RunReport } from "../run/run";
import { Controls } from "./controls";
import { useRun, type Connection } from "./run";

const PHASES: Record<Phase, string> = {
  preparing: "Preparing",
  running: "Running",
  ending: "Ending: responses are awaited",
  ended: "Ended",
};

export function Live({ version }: { version: string }) {
  const { state, connection } = useRun();
  return (
    <Frame>
      <main>
        <Status state={state} connection={connection} />
        {state && <Controls state={state} />}
        {state && state.files.length > 0 && <Files paths={state.files} />}
        {state?.page ? (
          <RunReport page={state.page as RunPage} />
        ) : (
          <p class="load">The load has not begun: connections are opened.</p>
        )}
      </main>
      <footer>Loadline {version}, live.</footer>
    </Frame>
  );
}

/** Where the run stands, and the figures of the latest second. */
function Status({ state, connection }: { state: State | null; connection: Connection }) {
  if (!state) return <p class="phase">Waiting for the server.</p>;
  const { phase, load, figures } = state;
  const isPaused = phase === "running" && load.is_paused;
  return (
    <section class="now" aria-label="The latest second">
      <p class={connection === "lost" ? "phase bad" : "phase"}>
        <strong>
          {connection === "lost" ? "Connection lost" : isPaused ? "Paused" : PHASES[phase]}
        </strong>
        {progress(figures)}
        {load.level && !isPaused && `, load ${load.level}`}
      </p>
      {phase !== "preparing" && <Now figures={figures} />}
    </section>
  );
}

function progress({ elapsed_s, planned_s }: Figures): string {
  const of = planned_s === null ? "" : ` of ${figure("seconds", planned_s)}`;
  return `, ${figure("seconds", elapsed_s)}${of}`;
}

function Now({ figures }: { figures: Figures }) {
  const { rate_per_s, asked_per_s, p50_us, p99_us, in_flight, answered, failed } = figures;
  const asked = asked_per_s === null ? "" : ` of ${figure("per_second", asked_per_s)}`;
  const shown: [string, string, string][] = [
    ["rate", "Rate now", figure("per_second", rate_per_s) + asked],
    ["p50", "p50 now", figure("us", p50_us)],
    ["p99", "p99 now", figure("us", p99_us)],
    ["in-flight", "In flight", figure("count", in_flight)],
    ["answered", "Answered", figure("count", answered)],
    ["failed", "Failed", figure("count", failed)],
  ];
  return (
    <dl>
      {shown.map(([key, name, text]) => (
        <div key={key} data-figure={key}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const FILES: Record<string, string> = {
  "/report.html": "report",
  "/report.json": "JSON",
  "/saved.run": "saved run",
};

/** What can be kept of a run that has ended. */
function Files({ paths }: { paths: string[] }) {
  return (
    <p class="files">
      Download:{" "}
      {paths.map((path) => (
        <a key={path} href={path} download>
          {FILES[path] ?? path}
        </a>
      ))}
    </p>
  );
}
