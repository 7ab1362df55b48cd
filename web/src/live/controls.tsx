/** What changes the run: pause, level, stop. */

import { useEffect, useRef, useState } from "preact/hooks";
import type {
  LevelUnit,
  Load,
  NewCheck,
  NewEnd,
  NewLevel,
  NewNote,
  State,
  Steered,
} from "../generated/live";
import { call } from "./calls";
import { NoteForm } from "./note";
import { goesOn, takesLateNotes } from "./run";

const UNITS: Record<LevelUnit, string> = {
  percent: "% of the plan",
  rate: "requests/s",
  users: "users",
};

/** Where the slider of the load ends, in percent of the plan; what is typed may be more. */
const MOST_PERCENT = 200;
/** The same for users, where few are planned. */
const FEW_USERS = 20;

/** What the server said of a command, and whether it was refused. */
export interface CommandResult {
  text: string;
  isRefused: boolean;
}

type Body = NewLevel | NewNote | NewCheck | NewEnd;

/** Sends a command; returns what came of it as a sentence. */
export async function command(name: string, body?: Body): Promise<CommandResult> {
  const made = await call<Steered>(name, body ?? null);
  if ("problem" in made) return { text: made.problem, isRefused: true };
  const { message, from_s: from } = made.answer;
  const when = from === null ? "" : ` It holds from ${from.toFixed(2)} s on.`;
  return { text: message + when, isRefused: false };
}

export function Controls(props: {
  state: State;
  /** The instant that a note is to be about; none for now. */
  noteAt: number | null;
  setNoteAt: (at: number | null) => void;
}) {
  const { state } = props;
  const [said, setSaid] = useState<CommandResult | null>(null);
  // What was said of a run is not true of the next one, nor of one that has ended.
  useEffect(() => setSaid(null), [goesOn(state), state.phase === "preparing"]);
  const going = useRef(goesOn(state));
  going.current = goesOn(state);
  const send = async (name: string, body?: Body) => {
    const went = going.current;
    const said = await command(name, body);
    // The run may have ended before the answer came.
    if (went === going.current) setSaid(said);
    return said;
  };
  if (!goesOn(state)) return <LateNote {...props} said={said} send={send} />;
  const { is_paused: isPaused, can_pause: canPause, levels } = state.load;
  return (
    <section class="controls" aria-label="Change the run">
      {canPause && (
        <button type="button" class="action" onClick={() => send(isPaused ? "resume" : "pause")}>
          {isPaused ? "Resume" : "Pause"}
        </button>
      )}
      {levels.length > 0 && <LevelForm load={state.load} send={(level) => send("level", level)} />}
      <button type="button" class="action" onClick={() => send("stop")}>
        Stop
      </button>
      {state.phase === "running" && state.can_decide && (
        <label class="tick">
          <input
            type="checkbox"
            name="when_decided"
            checked={state.stops_when_decided}
            onChange={(event) => send("end", { when_decided: event.currentTarget.checked })}
          />{" "}
          Stop when decided
        </label>
      )}
      {state.phase === "ending" && (
        <button type="button" class="action" onClick={() => send("abort")}>
          End at once
        </button>
      )}
      <NoteForm at={props.noteAt} setAt={props.setNoteAt} send={(note) => send("note", note)} />
      {state.phase === "running" && <CheckForm send={(check) => send("check", check)} />}
      <p class={said?.isRefused ? "said bad" : "said"} role="status">
        {said?.text}
      </p>
    </section>
  );
}

/** A check that is added while the run lasts. */
function CheckForm({ send }: { send: (check: NewCheck) => Promise<CommandResult> }) {
  const [check, setCheck] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!(await send({ check })).isRefused) setCheck("");
  };
  return (
    <form onSubmit={submit}>
      <label>
        Check{" "}
        <input
          type="text"
          name="check"
          required
          placeholder="p99<300ms"
          value={check}
          onInput={(event) => setCheck(event.currentTarget.value)}
        />
      </label>{" "}
      <button type="submit" class="action">
        Add
      </button>
    </form>
  );
}

/** A note on a run that has ended; nothing where none can be written. */
function LateNote(props: {
  state: State;
  noteAt: number | null;
  setNoteAt: (at: number | null) => void;
  said: CommandResult | null;
  send: (name: string, body: NewNote) => Promise<CommandResult>;
}) {
  const { state, said, send } = props;
  if (!takesLateNotes(state)) return null;
  return (
    <section class="controls" aria-label="Write on the run">
      <NoteForm
        at={props.noteAt}
        setAt={props.setNoteAt}
        now="at the end"
        send={(note) => send("note", note)}
      />
      <p class={said?.isRefused ? "said bad" : "said"} role="status">
        {said?.text}
      </p>
    </section>
  );
}

/** The number of a unit since the last change, or as planned; empty where that is not known. */
export function current(unit: LevelUnit, load: Load): string {
  if (load.now?.unit === unit) return String(load.now.number);
  if (unit === "percent") return "100";
  return unit === "users" && load.users !== null ? String(load.users) : "";
}

/** Where the slider of a unit ends; null for one that has none. */
export function sliderEnd(unit: LevelUnit, load: Load): number | null {
  if (unit === "percent") return MOST_PERCENT;
  if (unit !== "users" || load.users === null) return null;
  return Math.max(FEW_USERS, 2 * load.users, Number(current(unit, load)));
}

/** A new level of the load: a number, and what it counts. */
function LevelForm(props: { load: Load; send: (level: NewLevel) => Promise<CommandResult> }) {
  const { load } = props;
  const { levels: units, scenarios } = load;
  const [unit, setUnit] = useState<LevelUnit>(units[0]!);
  const [number, setNumber] = useState(current(units[0]!, load));
  // What is typed stays until it is sent, whatever others do meanwhile.
  const [isTyped, setTyped] = useState(false);
  const [spawnRate, setSpawnRate] = useState("");
  const [scenario, setScenario] = useState("");
  const counted: LevelUnit = scenario ? "users" : unit;
  const end = scenario ? null : sliderEnd(counted, load);
  const choose = (unit: LevelUnit) => {
    setUnit(unit);
    setNumber(current(unit, load));
    setTyped(false);
  };
  const type = (number: string) => {
    setNumber(number);
    setTyped(true);
  };
  const { unit: newUnit, number: newNumber } = load.now ?? {};
  useEffect(() => {
    if (newUnit && units.includes(newUnit) && !isTyped && !scenario) choose(newUnit);
  }, [newUnit, newNumber]);
  const submit = async (event: Event) => {
    event.preventDefault();
    const sent = await props.send({
      [counted]: Number(number),
      ...(scenario ? { scenario } : {}),
      ...(load.spawns && spawnRate !== "" ? { spawn_rate: Number(spawnRate) } : {}),
    });
    if (!sent.isRefused) setTyped(false);
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
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>{" "}
      {end !== null && (
        <>
          <input
            type="range"
            aria-label={`Load in ${UNITS[counted]}`}
            min="0"
            max={end}
            step={counted === "percent" ? "5" : "1"}
            value={number}
            onInput={(event) => type(event.currentTarget.value)}
          />{" "}
        </>
      )}
      {scenario || units.length === 1 ? (
        UNITS[counted]
      ) : (
        <select
          aria-label="What the load counts"
          value={unit}
          onChange={(event) => choose(event.currentTarget.value as LevelUnit)}
        >
          {units.map((one) => (
            <option key={one} value={one}>
              {UNITS[one]}
            </option>
          ))}
        </select>
      )}{" "}
      {load.spawns && (
        <label>
          at{" "}
          <input
            type="number"
            name="spawn-rate"
            min="0"
            step="any"
            placeholder="as before"
            value={spawnRate}
            onInput={(event) => setSpawnRate(event.currentTarget.value)}
          />{" "}
          /s
        </label>
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
