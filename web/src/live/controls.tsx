/** What changes the run: pause, level, stop. */

import { useState } from "preact/hooks";
import type { LevelUnit, NewLevel, State, Steered } from "../generated/live";
import { ask } from "./ask";

const UNITS: Record<LevelUnit, string> = {
  percent: "% of the plan",
  rate: "requests/s",
  users: "users",
};

/** What the server said of a command, and whether it was refused. */
interface Said {
  text: string;
  isRefused: boolean;
}

/** Sends a command; returns what came of it as a sentence. */
export async function command(name: string, level?: NewLevel): Promise<Said> {
  const made = await ask<Steered>(name, level ?? null);
  if ("problem" in made) return { text: made.problem, isRefused: true };
  const { message, from_s: from } = made.answer;
  const when = from === null ? "" : ` It holds from ${from.toFixed(2)} s on.`;
  return { text: message + when, isRefused: false };
}

export function Controls({ state }: { state: State }) {
  const [said, setSaid] = useState<Said | null>(null);
  const send = async (name: string, level?: NewLevel) => setSaid(await command(name, level));
  if (state.phase !== "running" && state.phase !== "ending") return null;
  const { is_paused: isPaused, can_pause: canPause, levels, scenarios } = state.load;
  return (
    <section class="controls" aria-label="Change the run">
      {canPause && (
        <button type="button" class="action" onClick={() => send(isPaused ? "resume" : "pause")}>
          {isPaused ? "Resume" : "Pause"}
        </button>
      )}
      {levels.length > 0 && (
        <LevelForm units={levels} scenarios={scenarios} send={(level) => send("level", level)} />
      )}
      <button type="button" class="action" onClick={() => send("stop")}>
        Stop
      </button>
      {state.phase === "ending" && (
        <button type="button" class="action" onClick={() => send("abort")}>
          End at once
        </button>
      )}
      <p class={said?.isRefused ? "said bad" : "said"} role="status">
        {said?.text}
      </p>
    </section>
  );
}

/** A new level of the load: a number, and what it counts. */
function LevelForm(props: {
  units: LevelUnit[];
  scenarios: string[];
  send: (level: NewLevel) => void;
}) {
  const { units, scenarios } = props;
  const [unit, setUnit] = useState<LevelUnit>(units[0]!);
  const [number, setNumber] = useState(units[0] === "percent" ? "100" : "");
  const [scenario, setScenario] = useState("");
  const counted: LevelUnit = scenario ? "users" : unit;
  const submit = (event: Event) => {
    event.preventDefault();
    props.send({ [counted]: Number(number), ...(scenario ? { scenario } : {}) });
  };
  return (
    <form onSubmit={submit}>
      <label>
        Load{" "}
        <input
          type="number"
          min="0"
          step="any"
          required
          value={number}
          onInput={(event) => setNumber(event.currentTarget.value)}
        />
      </label>{" "}
      {scenario || units.length === 1 ? (
        UNITS[counted]
      ) : (
        <select
          aria-label="What the load counts"
          value={unit}
          onChange={(event) => setUnit(event.currentTarget.value as LevelUnit)}
        >
          {units.map((one) => (
            <option key={one} value={one}>
              {UNITS[one]}
            </option>
          ))}
        </select>
      )}{" "}
      {scenarios.length > 0 && (
        <select
          aria-label="Scenario"
          value={scenario}
          onChange={(event) => setScenario(event.currentTarget.value)}
        >
          <option value="">all scenarios</option>
          {scenarios.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}{" "}
      <button type="submit" class="action">
        Change
      </button>
    </form>
  );
}
