/** The slowest requests of a cell of the heatmap, or of the run, and what took their time. */

import { useEffect, useState } from "preact/hooks";
import type { HeatCell } from "../charts/heatmap";
import { figure } from "../format";
import type { Cause, SlowRow, SlowRows } from "../generated/live";
import { Scroll } from "../scroll";
import { call } from "./calls";

/** What is looked at: a cell, all of the run, or nothing. */
export type Looked = HeatCell | "all" | null;

const CAUSES: Record<Cause, string> = {
  target: "theirs: the target, or the way to it",
  generator: "ours: Loadline was late",
  connections: "no connection was free",
};

export function SlowRequests(props: { looked: Looked; look: (at: Looked) => void }) {
  const { looked, look } = props;
  const [found, setFound] = useState<SlowRows | string | null>(null);
  useEffect(() => {
    setFound(null);
    if (looked === null) return;
    let isCurrent = true;
    call<SlowRows>(`slow?${queryOf(looked)}`).then((made) => {
      if (isCurrent) setFound("answer" in made ? made.answer : made.problem);
    });
    return () => {
      isCurrent = false;
    };
  }, [looked]);
  return (
    <div class="slow" role="group" aria-label="Slow requests">
      <p class="hint">
        Press a cell for its requests, or look at{" "}
        <button type="button" class="quiet" onClick={() => look("all")}>
          the slowest of the run
        </button>
        {looked !== null && (
          <button type="button" class="quiet" onClick={() => look(null)}>
            Close
          </button>
        )}
      </p>
      {typeof found === "string" && <p class="bad">{found}</p>}
      {looked !== null && found !== null && typeof found !== "string" && (
        <Found looked={looked} found={found} />
      )}
    </div>
  );
}

export function queryOf(looked: HeatCell | "all"): string {
  if (looked === "all") return "from_s=0&to_s=1e9";
  const { left, right, bottom, top } = looked;
  const [from_s, to_s] = [String(left), String(right)];
  const [from_us, to_us] = [String(bottom), String(top)];
  return new URLSearchParams({ from_s, to_s, from_us, to_us }).toString();
}

export function Found({ looked, found }: { looked: HeatCell | "all"; found: SlowRows }) {
  const { requests, lateness_p99_us: lateness, cpu } = found;
  const of = cpu.map((one) => `${one.name} ${figure("percent", one.percent)}`).join(", ");
  return (
    <>
      <p>
        <strong>{titleOf(looked, requests.length)}</strong>{" "}
        <span class="faint">
          Then p99 of Loadline's own delay was {figure("us", lateness)}
          {of && `, CPU of ${of} (100 % is one core)`}.
        </span>
      </p>
      {requests.length === 0 ? (
        <p>None of them is kept: of each second only the slowest requests are.</p>
      ) : (
        <Scroll>
          <table>
            <caption class="unseen">Slow requests, the slowest first</caption>
            <thead>
              <tr>
                <th scope="col">Request</th>
                <th scope="col" class="number">
                  At
                </th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Response
                </th>
                {PARTS.map(([name]) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
                <th scope="col">Connection</th>
                <th scope="col">Most of it</th>
              </tr>
            </thead>
            <tbody>
              {requests.map((row, index) => (
                <Row key={index} row={row} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}

/** The parts of a response time, in their order. */
const PARTS: [string, (row: SlowRow) => number][] = [
  ["Blocked", (row) => row.blocked_us],
  ["Late", (row) => row.lateness_us],
  ["Dial", (row) => row.dial_us],
  ["First byte", (row) => row.wait_us],
  ["Rest", (row) => row.rest_us],
];

function titleOf(looked: HeatCell | "all", count: number): string {
  if (looked === "all") return `The ${count} slowest requests of the run.`;
  const { left, right, bottom, top } = looked;
  const time = `${figure("seconds", left)} to ${figure("seconds", right)}`;
  const us = `${figure("us", bottom)} to ${figure("us", top)}`;
  return `${time}, ${us}: ${count} of ${figure("count", looked.count)}.`;
}

function Row({ row }: { row: SlowRow }) {
  return (
    <tr>
      <th scope="row">{row.name ?? "–"}</th>
      <td class="number">{row.at_s.toFixed(2)} s</td>
      <td class={row.error ? "bad" : ""}>{row.status ?? row.error}</td>
      <td class="number">{figure("us", row.response_us)}</td>
      {PARTS.map(([name, part]) => (
        <td key={name} class="number">
          {part(row) === 0 ? "–" : figure("us", part(row))}
        </td>
      ))}
      <td>{connectionOf(row.served_before)}</td>
      <td>{CAUSES[row.cause]}</td>
    </tr>
  );
}

function connectionOf(served: number | null): string {
  if (served === null) return "shared";
  return served === 0 ? "new" : `after ${figure("count", served)}`;
}
