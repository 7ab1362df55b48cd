/** What happened in the course of a run: what people wrote, and what the record shows by itself. */

import type { NoteRow } from "../generated/page";
import { Words } from "../words";

export function Course({ notes }: { notes: NoteRow[] }) {
  if (notes.length === 0) return null;
  return (
    <section class="course">
      <h2>Notes</h2>
      <ul class="notes">
        {notes.map((note, index) => (
          <li key={index} class={note.is_written ? "written" : ""}>
            <span class="whole faint">{note.at}</span>{" "}
            {note.is_written ? <strong>{note.text}</strong> : <Words text={note.text} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
