/** A note on the run: on the instant that was clicked, or on now. */

import { useEffect, useRef, useState } from "preact/hooks";
import { figure } from "../format";
import type { NewNote } from "../generated/live";
import type { CommandResult } from "./controls";

export function NoteForm(props: {
  /** The instant that was clicked, in seconds; none for now. */
  at: number | null;
  /** What a note without an instant is about; it is about now while the run lasts. */
  now?: string;
  setAt: (at: number | null) => void;
  send: (note: NewNote) => Promise<CommandResult>;
}) {
  const { at, setAt, send, now = "now" } = props;
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (at !== null) field.current?.focus();
  }, [at]);
  const submit = async (event: Event) => {
    event.preventDefault();
    const said = await send({ text, ...(at === null ? {} : { at_s: at }) });
    if (said.isRefused) return;
    setText("");
    setAt(null);
  };
  return (
    <form onSubmit={submit}>
      <label>
        Note {at === null ? now : `at ${figure("seconds", at)}`}{" "}
        <input
          ref={field}
          type="text"
          name="note"
          required
          maxLength={500}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>{" "}
      {at !== null && (
        <button type="button" class="quiet" onClick={() => setAt(null)}>
          {now === "now" ? "Now" : "At the end"}
        </button>
      )}{" "}
      <button type="submit" class="action">
        Write
      </button>
    </form>
  );
}
