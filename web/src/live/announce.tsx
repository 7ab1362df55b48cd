/** What a screen reader is told of a run: where it stands, seldom enough to be listened to. */

import { useEffect, useRef, useState } from "preact/hooks";
import { figure } from "../format";
import type { State } from "../generated/live";

/** The shortest time between two announcements, in milliseconds. */
const EVERY_MS = 10_000;

/** The latest text, which changes at most once in so long. */
function useSeldom(text: string): string {
  const [told, tell] = useState(text);
  const last = useRef(Date.now());
  useEffect(() => {
    if (text === told) return;
    const timer = setTimeout(
      () => {
        last.current = Date.now();
        tell(text);
      },
      last.current + EVERY_MS - Date.now(),
    );
    return () => clearTimeout(timer);
  }, [text, told]);
  return told;
}

/** A run in one sentence. */
export function inOneSentence(phase: string, { phase: kind, figures }: State): string {
  if (kind === "idle" || kind === "preparing") return `${phase}.`;
  const { elapsed_s, rate_per_s, p99_us, failed, validity } = figures;
  const parts = [
    `${phase}, ${figure("seconds", elapsed_s)}`,
    `${figure("per_second", rate_per_s)}`,
    p99_us === null ? "" : `p99 ${figure("us", p99_us)}`,
    failed > 0 ? `${figure("count", failed)} without response` : "",
    kind === "ended" ? validity : `${validity} so far`,
  ];
  return `${parts.filter((part) => part !== "").join(", ")}.`;
}

export function Announced({ phase, state }: { phase: string; state: State }) {
  return (
    <p class="unseen announced" role="status">
      {useSeldom(inOneSentence(phase, state))}
    </p>
  );
}
