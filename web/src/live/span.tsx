/** The part of the run that the tables are of: all of it, its end, or what a chart is zoomed to. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Part } from "../charts/chart";
import { figure } from "../format";
import type { Span } from "../generated/live";
import type { RunPage } from "../generated/page";
import { call } from "./calls";

/** What a reader chooses: all, so many seconds at the end, or what is zoomed to. */
export type Choice = "all" | "zoomed" | number;

const CHOICES: [Choice, string][] = [
  ["all", "the whole run"],
  [300, "the last 5 minutes"],
  [60, "the last minute"],
  ["zoomed", "what a plot is zoomed to"],
];

/** The seconds of a choice; none if that is all of the run. */
export function partOf(choice: Choice, zoomed: Part | null, elapsed: number): Part | null {
  if (choice === "all") return null;
  if (choice === "zoomed") return zoomed;
  return choice < elapsed ? { from: elapsed - choice, to: elapsed } : null;
}

/** The page with the tables of a part of the run, and all else of the whole. */
export function withTablesOf(page: RunPage, part: RunPage): RunPage {
  const { facts, percentiles, names, name_groups, name_notes, metrics, metric_notes } = part;
  const { statuses, errors, times, time_notes } = part;
  const byName = { names, name_groups, name_notes, metrics, metric_notes };
  return { ...page, facts, percentiles, ...byName, statuses, errors, times, time_notes };
}

/** The tables of a part, asked for anew when the part or the run has changed. */
export function useSpan(part: Part | null, number: number): Span | string | null {
  const [span, setSpan] = useState<Span | string | null>(null);
  useEffect(() => {
    if (!part) return setSpan(null);
    let isCurrent = true;
    const query = new URLSearchParams({ from_s: String(part.from), to_s: String(part.to) });
    call<Span>(`span?${query}`).then((made) => {
      if (isCurrent) setSpan("answer" in made ? made.answer : made.problem);
    });
    return () => {
      isCurrent = false;
    };
  }, [part?.from, part?.to, number]);
  return part ? span : null;
}

export function SpanChoice(props: {
  choice: Choice;
  choose: (choice: Choice) => void;
  isZoomed: boolean;
  span: Span | string | null;
  children?: ComponentChildren;
}) {
  const { choice, choose, isZoomed, span } = props;
  return (
    <p class="span">
      <label>
        Tables of{" "}
        <select
          value={String(choice)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            choose(CHOICES.find(([one]) => String(one) === value)![0]);
          }}
        >
          {CHOICES.map(([one, words]) => (
            <option key={one} value={String(one)} disabled={one === "zoomed" && !isZoomed}>
              {words}
            </option>
          ))}
        </select>
      </label>{" "}
      {typeof span === "string" ? (
        <span class="bad">{span}</span>
      ) : (
        span && (
          <span class="faint">
            {figure("seconds", span.from_s)} to {figure("seconds", span.to_s)}
          </span>
        )
      )}{" "}
      {props.children}
    </p>
  );
}
