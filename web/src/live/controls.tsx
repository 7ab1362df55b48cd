/** What changes the run: pause, level, stop. */

import { useState } from "preact/hooks";
import type { NewLevel, Problem, State, Steered } from "../generated/live";
import { API } from "./run";

/** What a number of the load counts. */
type Unit = "percent" | "rate" | "users";

const UNITS: [Unit, string][] = [
  ["percent", "% of the plan"],
  ["rate", "requests/s"],
  ["users", "users"],
];

/** What the server said of a command, and whether it was refused. */
interface Said {
  text: string;
  isRefused: boolean;
}

/** Sends a command; returns what came of it as a sentence. */
export async function command(name: string, level?: NewLevel): Promise<Said> {
  try {
    const answer = await fetch(`${API}/${name}`, {
      method: "POST",
      body: level && JSON.stringify(level),
    });
    const { message, ...rest } = (await answer.json()) as Steered | Problem;
    const from = "from_s" in rest ? rest.from_s : null;
    const when = from === null ? "" : ` It holds from ${from.toFixed(2)} s on.`;
    return { text: message + when, isRefused: !answer.ok };
  } catch {
    return { text: "The server does not answer; is the run over?", isRefused: true };
  }
}

export function Controls({ state }: { state: State }) {
  const [said, setSaid] = useState<Said | null>(null);
  const send = async (name: string, level?: NewLevel) => setSaid(await command(name, level));
  if (state.phase !== "running" && state.phase !== "ending") return null;
  const { is_paused: isPaused } = state.load;
  return (
    <section class="controls" aria-label="Change the run">
      <button type="button" class="action" onClick={() => send(isPaused ? "resume" : "pause")}>
        {isPaused ? "Resume" : "Pause"}
      </button>
      <LevelForm state={state} send={(level) => send("level", level)} />
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
function LevelForm(props: { state: State; send: (level: NewLevel) => void }) {
  const { scenarios } = props.state.load;
  const isOpen = props.state.figures.asked_per_s !== null;
  const [number, setNumber] = useState("100");
  const [unit, setUnit] = useState<Unit>("percent");
  const [scenario, setScenario] = useState("");
  const counted: Unit = scenario ? "users" : unit;
  const units = UNITS.filter(
    ([one]) => one === "percent" || (scenarios.length === 0 && isOpen === (one === "rate")),
  );
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
      {scenario ? (
        "users"
      ) : (
        <select
          aria-label="What the load counts"
          value={unit}
          onChange={(event) => setUnit(event.currentTarget.value as Unit)}
        >
          {units.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
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
