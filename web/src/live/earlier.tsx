/** The saved runs of the folder: their reports, and what differs between two of them. */

import { useEffect, useState } from "preact/hooks";
import { figure } from "../format";
import type { Compared, EarlierRun } from "../generated/live";
import { call, awaited } from "./calls";
import { Scroll } from "../scroll";

/** The runs that are compared. */
interface Pair {
  base: string;
  with: string;
}

export function Earlier({ number }: { number: number }) {
  const [runs, setRuns] = useState<EarlierRun[]>([]);
  const [pair, setPair] = useState<Pair>({ base: "", with: "" });
  const [told, setTold] = useState("");
  useEffect(() => awaited("runs", setRuns), [number]);
  if (runs.length === 0) return null;
  const compare = async () => {
    const query = new URLSearchParams({ base: pair.base, with: pair.with });
    const made = await call<Compared>(`compare?${query}`);
    setTold("answer" in made ? made.answer.text : made.problem);
  };
  return (
    <section>
      <h2>Earlier runs</h2>
      <Scroll>
        <table class="earlier">
          <caption class="unseen">The saved runs of the folder</caption>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
              <th scope="col">Begun</th>
              <th scope="col">What</th>
              <th scope="col" class="number">
                Rate
              </th>
              <th scope="col" class="number">
                p99
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <EarlierRow key={run.name} run={run} pair={pair} choose={setPair} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {runs.length > 1 && (
        <p>
          <button
            type="button"
            class="action"
            disabled={!pair.base || !pair.with || pair.base === pair.with}
            onClick={compare}
          >
            Compare A with B
          </button>
        </p>
      )}
      {told && (
        <pre class="told" tabIndex={0} aria-label="Comparison">
          {told}
        </pre>
      )}
    </section>
  );
}

/** A run with what came of it, and whether it is one of those that are compared. */
export function EarlierRow(props: { run: EarlierRun; pair: Pair; choose: (pair: Pair) => void }) {
  const { run, pair, choose } = props;
  const pick = (side: keyof Pair, letter: string) => (
    <td>
      <input
        type="radio"
        name={side}
        aria-label={`${run.name} as ${letter}`}
        checked={pair[side] === run.name}
        onChange={() => choose({ ...pair, [side]: run.name })}
      />
    </td>
  );
  return (
    <tr>
      <th scope="row">
        <a href={`/runs/${encodeURIComponent(run.name)}`} target="_blank">
          {run.name}
        </a>
      </th>
      {pick("base", "A")}
      {pick("with", "B")}
      <td class="whole">{run.started_at.replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1")}</td>
      <td>
        {run.title}
        <div class="faint">{run.load}</div>
      </td>
      <td class="number">{figure("per_second", run.rate_per_s)}</td>
      <td class="number">{figure("us", run.p99_us)}</td>
      <td class="number">{figure("percent", run.failed_percent)}</td>
      <td>
        {run.validity}
        {run.unanswered && <div class="bad">{run.unanswered}</div>}
        {run.checks && <div class={OUTCOMES[run.checks] ?? "faint"}>checks {run.checks}</div>}
      </td>
    </tr>
  );
}

const OUTCOMES: Record<string, string> = { passed: "good", failed: "bad" };
