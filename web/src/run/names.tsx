/** The requests by name: the first of many, and what a reader looks for among them. */

import { useState } from "preact/hooks";
import { count } from "../format";
import type { NameRow } from "../generated/page";
import { heading } from "./tables";

/** So many rows are shown before a reader asks for more. */
const FEW = 20;

interface NamesProps {
  columns: string[];
  rows: NameRow[];
  notes: string[];
}

/** The rows whose name contains these letters; without any the first few, or all. */
export function shown(rows: NameRow[], sought: string, all: boolean): NameRow[] {
  const letters = sought.trim().toLowerCase();
  if (letters) return rows.filter((row) => row.name.toLowerCase().includes(letters));
  return all ? rows : rows.slice(0, FEW);
}

export function Names({ columns, rows, notes }: NamesProps) {
  const [sought, seek] = useState("");
  const [all, showAll] = useState(false);
  if (rows.length === 0) return null;
  const listed = shown(rows, sought, all);
  return (
    <section>
      <h2>By name</h2>
      {notes.map((note) => (
        <p class="hint kept" key={note}>
          {note}
        </p>
      ))}
      {rows.length > FEW && (
        <p class="filter">
          <label>
            Filter{" "}
            <input
              type="search"
              value={sought}
              onInput={(event) => seek(event.currentTarget.value)}
            />
          </label>{" "}
          <span class="faint" aria-live="polite">
            {count(listed.length)} of {count(rows.length)} names
          </span>{" "}
          {!sought.trim() && (
            <button type="button" class="quiet" onClick={() => showAll(!all)}>
              {all ? `Show the first ${FEW}` : "Show all"}
            </button>
          )}
        </p>
      )}
      <div class="scroll">
        <table class="named">
          <caption class="unseen">The requests by name</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {columns.map((name) => (
                <th scope="col" class="number" key={name}>
                  {heading(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {listed.map((row) => (
              <tr key={row.name}>
                <th scope="row" class={row.is_bad ? "bad" : ""}>
                  {row.name}
                </th>
                {row.cells.map((cell, index) => (
                  <td class="number" key={index}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
