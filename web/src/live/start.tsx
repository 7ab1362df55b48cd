/** The form that starts a run: it becomes a command line, which is shown before the start. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Composed, FileKind, NewRun, Offer, Steered } from "../generated/live";
import { call } from "./calls";

/** What was typed, by field. */
export interface Typed {
  target: string;
  users: string;
  rate: string;
  stages: string;
  duration: string;
  checks: string;
  host: string;
  spawnRate: string;
  classes: string;
  options: string;
  variables: string;
  /** Whether the load line is searched: "yes", or empty. */
  search: string;
}

export const NOTHING: Typed = {
  target: "",
  users: "",
  rate: "",
  stages: "",
  duration: "",
  checks: "",
  host: "",
  spawnRate: "",
  classes: "",
  options: "",
  variables: "",
  search: "",
};

/** The time without a key after which the command line is made anew, in milliseconds. */
const PAUSE = 250;

/** The run that was typed: what its kind has, and no empty field. */
export function newRun(typed: Typed, kind: FileKind): NewRun {
  const { target, users, stages, duration, checks, host, spawnRate } = typed;
  const lines = (text: string) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  const isSearch = kind === "plan" && typed.search !== "";
  const fields: Partial<Record<keyof NewRun, string | string[]>> = isSearch
    ? { duration, checks: lines(checks) }
    : kind === "plan"
      ? { users, rate: typed.rate, stages, duration, checks: lines(checks) }
      : kind === "k6"
        ? { users, stages, duration, variables: lines(typed.variables) }
        : {
            users,
            duration,
            host,
            spawn_rate: spawnRate,
            checks: lines(checks),
            classes: typed.classes.split(/[\s,]+/).filter((name) => name !== ""),
            options: lines(typed.options),
          };
  const given = Object.entries(fields).filter(([, value]) => value.length > 0);
  const run: Record<string, string | string[]> = Object.fromEntries(given);
  const search = isSearch ? { search: true } : {};
  return { ...run, ...search, target: target.trim() } as unknown as NewRun;
}

/** What a target is: one of the files of the folder, or else a URL. */
export function kindOf(target: string, offer: Offer): FileKind {
  return offer.files.find((file) => file.name === target.trim())?.kind ?? "plan";
}

export function Start(props: { offer: Offer; typed: Typed; type: (typed: Typed) => void }) {
  const { offer, typed, type } = props;
  const [composed, setComposed] = useState<Composed | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const kind = kindOf(typed.target, offer);
  const isSearch = kind === "plan" && typed.search !== "";
  useEffect(() => {
    setComposed(null);
    if (typed.target.trim() === "") return;
    let isCurrent = true;
    const compose = async () => {
      const made = await call<Composed>("compose", newRun(typed, kind));
      if (!isCurrent) return;
      setComposed("answer" in made ? made.answer : null);
      setSaid("answer" in made ? null : made.problem);
    };
    const timer = setTimeout(compose, PAUSE);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [JSON.stringify(typed), kind]);
  const start = async (event: Event) => {
    event.preventDefault();
    const save = composed ? { save: composed.save } : {};
    const started = await call<Steered>("start", { ...newRun(typed, kind), ...save });
    setSaid("answer" in started ? started.answer.message : started.problem);
  };
  const field = (name: keyof Typed) => ({
    value: typed[name],
    onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      type({ ...typed, [name]: event.currentTarget.value }),
  });
  return (
    <section class="start">
      <h2>Start a run</h2>
      <form onSubmit={start}>
        <Field label="What is loaded" hint={`A URL, or a file of ${offer.folder}`} isWide>
          <input
            type="text"
            name="target"
            list="offered"
            required
            autocomplete="off"
            spellcheck={false}
            placeholder="http://127.0.0.1:8080/"
            {...field("target")}
          />
          <datalist id="offered">
            {offer.files.map((file) => (
              <option key={file.name} value={file.name} />
            ))}
          </datalist>
        </Field>
        {kind === "plan" && (
          <label class="field wide-field check">
            <input
              type="checkbox"
              name="search"
              checked={isSearch}
              onChange={(event) =>
                type({ ...typed, search: event.currentTarget.checked ? "yes" : "" })
              }
            />{" "}
            Find the load line{" "}
            <small class="faint">The highest rate at which all checks pass</small>
          </label>
        )}
        {!isSearch && (
          <Field label="Users" hint={USERS[kind]}>
            <input type="text" name="users" inputMode="numeric" {...field("users")} />
          </Field>
        )}
        {kind === "plan" && !isSearch && (
          <Field label="Rate" hint="Requests/s of an open loop; empty: a closed loop">
            <input type="text" name="rate" placeholder="500" {...field("rate")} />
          </Field>
        )}
        {kind === "locust" && (
          <Field label="Spawn rate" hint="Users that start each second">
            <input type="text" name="spawn-rate" placeholder="1" {...field("spawnRate")} />
          </Field>
        )}
        <Field
          label={isSearch ? "Time limit" : "Duration"}
          hint={isSearch ? "Of the whole search; empty: 2m" : DURATION[kind]}
        >
          <input type="text" name="duration" placeholder="30s" {...field("duration")} />
        </Field>
        {kind !== "locust" && !isSearch && (
          <Field label="Stages" hint={STAGES[kind]}>
            <input type="text" name="stages" placeholder="10s:100,1m:100" {...field("stages")} />
          </Field>
        )}
        {kind === "locust" && (
          <>
            <Field label="Host" hint="If the locustfile has none">
              <input type="text" name="host" placeholder="http://…" {...field("host")} />
            </Field>
            <Field label="User classes" hint="Empty: all">
              <input type="text" name="classes" {...field("classes")} />
            </Field>
            <Field label="Options" hint="That the locustfile adds: NAME=value, one a line" isWide>
              <textarea name="options" rows={2} spellcheck={false} {...field("options")} />
            </Field>
          </>
        )}
        {kind === "k6" ? (
          <Field label="Variables" hint="NAME=value, one a line" isWide>
            <textarea name="variables" rows={2} spellcheck={false} {...field("variables")} />
          </Field>
        ) : (
          <Field label="Checks" hint="One a line, such as p99<50ms or errors<0.1%" isWide>
            <textarea name="checks" rows={2} spellcheck={false} {...field("checks")} />
          </Field>
        )}
        <button type="submit" class="action strong" disabled={!composed}>
          Start
        </button>
      </form>
      {composed && <CommandLine text={composed.command} />}
      <p class={composed ? "said" : "said bad"} role="status">
        {said}
      </p>
    </section>
  );
}

const USERS: Record<FileKind, string> = {
  plan: "Connections of a closed loop; empty: 50, or as the plan says",
  k6: "Empty: as the script says",
  locust: "Empty: 1",
};

const DURATION: Record<FileKind, string> = {
  plan: "Empty: 10s, or as the plan says",
  k6: "Empty: as the script says",
  locust: "Empty: until it is stopped",
};

const STAGES: Record<"plan" | "k6", string> = {
  plan: "Time:rate, or time:users without a rate",
  k6: "Time:users",
};

function Field(props: {
  label: string;
  hint: string;
  isWide?: boolean;
  children: ComponentChildren;
}) {
  return (
    <label class={props.isWide ? "field wide-field" : "field"}>
      <span>{props.label}</span>
      {props.children}
      <small class="faint">{props.hint}</small>
    </label>
  );
}

/** The command line that will be run, for those who want it elsewhere. */
function CommandLine({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <p class="line">
      <code>{text}</code>{" "}
      {navigator.clipboard && (
        <button type="button" class="quiet" onClick={copy}>
          {isCopied ? "Copied" : "Copy"}
        </button>
      )}
    </p>
  );
}
