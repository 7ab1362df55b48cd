/** The page of a run that goes on: the report's own parts, fed each second, and what steers it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { PressContext, SpanContext, type Part } from "../charts/chart";
import { figure } from "../format";
import type { EarlierRun, Figures, Offer, Phase, State, Steered } from "../generated/live";
import type { RunPage, SearchPage } from "../generated/page";
import { Frame } from "../frame";
import { NameContext } from "../run/names";
import { RunBody, RunReport } from "../run/run";
import { SearchReport } from "../search/search";
import { Drop, type Taken } from "../drop";
import { Content } from "../report";
import { Agents } from "./agents";
import { Announced } from "./announce";
import { call, awaited, send } from "./calls";
import { Bands } from "./bands";
import { ChecksSoFar } from "./checks";
import { useBaseline, useBaselinePage, withBaseline } from "./baseline";
import { Controls } from "./controls";
import { Earlier } from "./earlier";
import { NameCourse } from "./name";
import { goesOn, isSearching, takesLateNotes, useRun, type Connection } from "./run";
import { SpanChoice, partOf, useSpan, withTablesOf, type Choice } from "./span";
import { SlowRequests, type Looked } from "./slow";
import { NOTHING, Start, type Typed } from "./start";

const PHASES: Record<Phase, string> = {
  idle: "No run yet",
  preparing: "Preparing",
  running: "Running",
  ending: "Ending: responses are awaited",
  ended: "Ended",
};

export function Live({ version }: { version: string }) {
  const { state, connection } = useRun();
  const [noteAt, setNoteAt] = useState<number | null>(null);
  return (
    <Frame>
      <main>
        <Status state={state} connection={connection} />
        {state && <Controls state={state} noteAt={noteAt} setNoteAt={setNoteAt} />}
        {state && <Starting state={state} />}
        {state && <Dropped />}
        {state?.phase === "idle" && <Opened name={state.baseline} />}
        {state && <Files paths={filesOf(state)} />}
        {state && <Log lines={state.log} />}
        {state?.search ? <SearchReport page={state.search as SearchPage} /> : null}
        {state?.page ? (
          <Shown state={state} page={state.page as RunPage} note={setNoteAt} />
        ) : (
          state?.phase === "preparing" && <p class="load">{notBegun(state)}</p>
        )}
        {state && <Announced phase={phaseOf(state)} state={state} />}
      </main>
      <footer>Loadline {version}, live.</footer>
    </Frame>
  );
}

/** The longest file that the server takes. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Lays a saved run, or the one in a report, underneath. */
async function layUnderneath(file: File): Promise<Taken> {
  if (file.size > MOST_BYTES) {
    return { text: `${file.name} is longer than 64 MB.`, isRefused: true };
  }
  const made = await send<Steered>(`drop?${new URLSearchParams({ name: file.name })}`, file);
  return "answer" in made
    ? { text: made.answer.message, isRefused: false }
    : { text: made.problem, isRefused: true };
}

function Dropped() {
  const label = "Drop a saved run or a report here, or choose one:";
  return <Drop label={label} accept=".run,.html" take={layUnderneath} />;
}

/** The baseline itself, while there is no run that it could lie below. */
function Opened({ name }: { name: string | null }) {
  const page = useBaselinePage(name);
  if (!page || page.kind === "live") return null;
  return (
    <section class="opened" aria-label="Baseline">
      <h2>Baseline: {name}</h2>
      <Content page={page} />
    </section>
  );
}

/** What the script of the run wrote. */
function Log({ lines }: { lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <details class="log" open>
      <summary>Log of the script</summary>
      <pre class="told" tabIndex={0} aria-label="Log of the script">
        {lines.join("\n")}
      </pre>
    </details>
  );
}

/** The report so far, with tables of the part of the run that the reader chooses. */
function Shown(props: { state: State; page: RunPage; note: (at: number) => void }) {
  const { state, page } = props;
  const [choice, choose] = useState<Choice>("all");
  const [zoomed, zoom] = useState<Part | null>(null);
  const part = partOf(choice, zoomed, state.figures.elapsed_s);
  const span = useSpan(part, typeof choice === "number" ? state.number : 0);
  const isPart = span !== null && typeof span !== "string";
  const base = useBaseline(state.baseline);
  const takesNotes = state.phase === "running" || takesLateNotes(state);
  const [looked, look] = useState<Looked>(null);
  const [named, chooseName] = useState<string | null>(null);
  const press = useMemo(
    () => ({
      ...(takesNotes ? { time: props.note } : {}),
      cell: look,
      below: <SlowRequests looked={looked} look={look} />,
    }),
    [takesNotes, props.note, looked],
  );
  const number = goesOn(state) ? state.number : 0;
  const names = useMemo(() => {
    const close = () => chooseName(null);
    const above = named !== null && <NameCourse name={named} number={number} close={close} />;
    return { chosen: named, choose: chooseName, above };
  }, [named, number]);
  const shown = base ? withBaseline(page, base) : page;
  const report = isPart ? withTablesOf(shown, span.page as RunPage) : shown;
  return (
    <PressContext.Provider value={press}>
      <NameContext.Provider value={names}>
        <SpanContext.Provider value={zoom}>
          <SpanChoice choice={choice} choose={choose} isZoomed={zoomed !== null} span={span}>
            {state.starts && <BaselineChoice chosen={state.baseline} />}
          </SpanChoice>
          {state.search ? (
            <>
              <h2>{isSearching(state) ? "The trial under way" : "The last trial"}</h2>
              <RunBody page={report} />
            </>
          ) : (
            <RunReport page={report} />
          )}
        </SpanContext.Provider>
      </NameContext.Provider>
    </PressContext.Provider>
  );
}

/** An earlier run of the folder, beside which runs are shown and compared. */
function BaselineChoice({ chosen }: { chosen: string | null }) {
  const [runs, setRuns] = useState<EarlierRun[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => awaited("runs", setRuns), []);
  const choose = async (name: string) => {
    const made = await call<Steered>("baseline", { name: name || null });
    setProblem("problem" in made ? made.problem : "");
  };
  return (
    <>
      <label>
        Baseline{" "}
        <select
          name="baseline"
          value={chosen ?? ""}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">none</option>
          {chosen && runs.every(({ name }) => name !== chosen) && (
            <option value={chosen}>{chosen}</option>
          )}
          {runs.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>{" "}
      {problem && <span class="bad">{problem}</span>}
    </>
  );
}

/** Where the run stands, in words. */
function phaseOf(state: State): string {
  if (isSearching(state)) return "Searching the load line";
  if (state.phase === "ending" && state.load.spawns) return "Ending: its users are ended";
  return PHASES[state.phase];
}

/** What is waited for before the load of a run begins. */
function notBegun({ load, starts }: State): string {
  if (!load.spawns) return "The load has not begun: connections are opened.";
  const loaded = "The test has not begun: the locustfile is loaded.";
  return starts ? loaded : `${loaded} Without --headless, Locust's own page starts it.`;
}

/** What starts the next run, where that is possible from this page. What was typed stays. */
function Starting({ state }: { state: State }) {
  const [offer, setOffer] = useState<Offer | null>(null);
  const [typed, type] = useState<Typed>(NOTHING);
  useEffect(() => {
    if (!state.can_start) return;
    return awaited<Offer>("offer", (offer) => {
      setOffer(offer);
      type((typed) => (typed.target ? typed : { ...typed, target: offer.chosen ?? "" }));
    });
  }, [state.can_start]);
  if (!state.can_start || !offer) return null;
  return (
    <>
      <Start offer={offer} typed={typed} type={type} />
      <Earlier number={state.number} />
    </>
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
          {connection === "lost" ? "Connection lost" : isPaused ? "Paused" : phaseOf(state)}
        </strong>
        {phase !== "idle" && progress(figures)}
        {load.level && !isPaused && `, load ${load.level}`}
        {(phase === "running" || phase === "ending") && <Validity name={figures.validity} />}
      </p>
      {phase !== "preparing" && phase !== "idle" && <Now figures={figures} />}
      {phase !== "preparing" && <ChecksSoFar figures={figures} />}
      <Bands figures={figures} isOver={phase === "ended"} />
      <Agents figures={figures} />
      {connection === "lost" && <p class="bad">{LOST}</p>}
      {state.problem && <p class="bad">{state.problem}</p>}
    </section>
  );
}

const LOST =
  "These figures are the last that came. The page asks again by itself; if the program that " +
  "serves it has ended, start it again.";

const TONES: Record<string, string> = { valid: "good", suspect: "doubtful", invalid: "bad" };

/** Whether the figures can be believed, if the run ended now. */
function Validity({ name }: { name: string }) {
  return (
    <>
      {": "}
      <strong class={TONES[name] ?? ""} data-validity={name}>
        {name} so far
      </strong>
    </>
  );
}

function progress({ elapsed_s, planned_s }: Figures): string {
  const of = planned_s === null ? "" : ` of ${figure("seconds", planned_s)}`;
  return `, ${figure("seconds", elapsed_s)}${of}`;
}

function Now({ figures }: { figures: Figures }) {
  const { rate_per_s, asked_per_s, p50_us, p99_us, in_flight, answered } = figures;
  const asked = asked_per_s === null ? "" : ` of ${figure("per_second", asked_per_s)}`;
  const shown: [string, string, string][] = [
    ["rate", "Rate now", figure("per_second", rate_per_s) + asked],
    ["p50", "p50 now", figure("us", p50_us)],
    ["p99", "p99 now", figure("us", p99_us)],
    ["in-flight", "In flight", figure("count", in_flight)],
    ["answered", "Answered", figure("count", answered)],
    ["failed", "Failed", failures(figures)],
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

/** The failures so far and their share: requests without a response, and rejected ones. */
export function failures({ answered, failed, rejected }: Figures): string {
  const count = failed + rejected;
  const share = count && ` (${figure("percent", (100 * count) / (answered + failed))})`;
  return figure("count", count) + (share || "");
}

const FILES: Record<string, string> = {
  "/report.html": "report",
  "/report.json": "JSON",
  "/report.csv": "CSV",
  "/saved.run": "saved run",
};

/** The files that there are: of a run that goes on the report as it stands. */
function filesOf(state: State): string[] {
  return goesOn(state) && state.page ? ["/report.html"] : state.files;
}

/** What can be kept of a run. */
function Files({ paths }: { paths: string[] }) {
  if (paths.length === 0) return null;
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
