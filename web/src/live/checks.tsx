/** The checks of a run that goes on: what is proven, and when the rest is expected to be. */

import { figure } from "../format";
import type { CheckSoFar, Figures } from "../generated/live";

const NOW: Record<string, { tone: string; text: string }> = {
  passed: { tone: "good", text: "passes so far" },
  failed: { tone: "bad", text: "fails so far" },
};

/** When a check is expected to be proven, if the run goes on as it did. */
export function timeOfProof({ more_s: more }: CheckSoFar, figures: Figures): string {
  if (more === null) return "";
  const { elapsed_s: elapsed, planned_s: planned } = figures;
  if (planned !== null && elapsed + more > planned) return "; not expected before the end";
  return `, about ${figure("seconds", Math.max(1, Math.ceil(more)))} more`;
}

/** What is proven of each check, and what it comes to if the run ended now. */
export function ChecksSoFar({ figures }: { figures: Figures }) {
  if (figures.checks.length === 0) return null;
  return (
    <ul class="so-far" aria-label="The checks so far">
      {figures.checks.map((soFar) => (
        <Check key={soFar.check} soFar={soFar} figures={figures} />
      ))}
    </ul>
  );
}

function Check({ soFar, figures }: { soFar: CheckSoFar; figures: Figures }) {
  const { check, outcome, proven, added_at_s: added } = soFar;
  const now = NOW[outcome];
  return (
    <li data-check={check}>
      <code>{check}</code>{" "}
      {proven === null ? (
        <>
          {now && (
            <>
              <strong class={now.tone}>{now.text}</strong>,{" "}
            </>
          )}
          not decided yet{timeOfProof(soFar, figures)}
        </>
      ) : (
        <strong class={proven === "passed" ? "good" : "bad"}>
          {proven === "passed" ? "✓ passed" : "✗ failed"}
        </strong>
      )}
      {added !== null && (
        <span class="faint"> added at {figure("seconds", added)}, on this page alone</span>
      )}
    </li>
  );
}
