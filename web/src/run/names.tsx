/** The requests by name: the first of many, and what a reader looks for among them. */

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format";
import type { NameRow } from "../generated/page";
import { heading } from "./tables";

/** So many rows are shown before a reader asks for more. */
const FEW = 20;
/** Of more rows than this only those that are in sight are drawn. */
const MANY = 60;
/** So many rows are drawn above and below what is in sight. */
const SPARE = 10;
/** The height of a row before one is measured, in pixels. */
const ROW = 31;

/** What a press on a name does, where its course can be had. */
export interface NamePress {
  chosen: string | null;
  choose: (name: string | null) => void;
  /** What stands above the table: the course of the chosen name. */
  above?: ComponentChildren;
}

export const NameContext = createContext<NamePress | null>(null);

/** The rows that are in sight: the index of the first one, and of the one after the last. */
export function inSight(count: number, top: number, height: number, row: number): [number, number] {
  if (count <= MANY) return [0, count];
  const first = Math.max(0, Math.floor(top / row) - SPARE);
  return [Math.min(first, count), Math.min(count, first + Math.ceil(height / row) + 2 * SPARE)];
}

/** What is in sight of a list, which is scrolled. On paper all of it is. */
function useSight(count: number) {
  const place = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 800, row: ROW });
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const before = () => setPrinted(true);
    const after = () => setPrinted(false);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);
  const look = () => {
    const at = place.current;
    if (!at) return;
    const row = at.querySelector<HTMLElement>("tbody tr:not(.room)")?.offsetHeight || ROW;
    setSight({ top: at.scrollTop, height: at.clientHeight, row });
  };
  const range: [number, number] = isPrinted
    ? [0, count]
    : inSight(count, sight.top, sight.height, sight.row);
  return { place, look, range, row: sight.row };
}

/** The room of rows that are not drawn. */
function Room({ rows, row }: { rows: number; row: number }) {
  if (rows === 0) return null;
  return (
    <tr class="room" aria-hidden="true">
      <td style={{ height: `${rows * row}px` }} />
    </tr>
  );
}

/** A name that shows its course when it is pressed, and hides it again. */
function NameButton({ name, press }: { name: string; press: NamePress }) {
  const isChosen = press.chosen === name;
  return (
    <button
      type="button"
      class="of-name"
      aria-pressed={isChosen}
      onClick={() => press.choose(isChosen ? null : name)}
    >
      {name}
    </button>
  );
}

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
  const listed = shown(rows, sought, all);
  const { place, look, range, row } = useSight(listed.length);
  const press = useContext(NameContext);
  if (rows.length === 0) return null;
  const [first, last] = range;
  const isVirtual = listed.length > MANY;
  return (
    <section>
      <h2>By name</h2>
      {notes.map((note) => (
        <p class="hint kept" key={note}>
          {note}
        </p>
      ))}
      {press?.above}
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
      <div
        class={isVirtual ? "scroll virtual" : "scroll"}
        ref={place}
        onScroll={look}
        tabIndex={isVirtual ? 0 : undefined}
        role={isVirtual ? "region" : undefined}
        aria-label={isVirtual ? "By name" : undefined}
      >
        <table class="named" aria-rowcount={listed.length + 1}>
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
            <Room rows={first} row={row} />
            {listed.slice(first, last).map(({ name, cells, is_bad }, index) => (
              <tr key={name} aria-rowindex={first + index + 2}>
                <th scope="row" class={is_bad ? "bad" : ""} title={isVirtual ? name : undefined}>
                  {press ? <NameButton name={name} press={press} /> : name}
                </th>
                {cells.map((cell, index) => (
                  <td class="number" key={index}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
            <Room rows={listed.length - last} row={row} />
          </tbody>
        </table>
      </div>
    </section>
  );
}
