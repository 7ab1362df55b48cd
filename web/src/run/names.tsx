/** The requests by name: the first of many, what a reader looks for, and groups of them. */

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { count } from "../format";
import type { NameGroup, NameRow } from "../generated/page";
import { folded, type Line } from "./fold";
import { Spark } from "./spark";
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
  groups: NameGroup[];
  notes: string[];
}

/** The rows whose name contains these letters; without any the first few, or all. */
export function shown(rows: NameRow[], sought: string, all: boolean): NameRow[] {
  const letters = sought.trim().toLowerCase();
  if (letters) return rows.filter((row) => row.name.toLowerCase().includes(letters));
  return all ? rows : rows.slice(0, FEW);
}

/** The names that are listed, and what a reader chooses of them. */
function useListed(rows: NameRow[], groups: NameGroup[]) {
  const [sought, seek] = useState("");
  const [all, showAll] = useState(false);
  const [isFolded, fold] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (prefix: string) => {
    const next = new Set(open);
    if (!next.delete(prefix)) next.add(prefix);
    setOpen(next);
  };
  const found = shown(rows, sought, all || isFolded);
  const lines: Line[] =
    isFolded && !sought.trim()
      ? folded(found, groups, open)
      : found.map((row) => ({ row, isMember: false }));
  return { sought, seek, all, showAll, isFolded, fold, toggle, found, lines };
}

function Cells({ cells }: { cells: string[] }) {
  return (
    <>
      {cells.map((cell, index) => (
        <td class="number" key={index}>
          {cell}
        </td>
      ))}
    </>
  );
}

export function Names({ columns, rows, groups = [], notes }: NamesProps) {
  const { found, lines, toggle, ...listed } = useListed(rows, groups);
  const { place, look, range, row } = useSight(lines.length);
  const press = useContext(NameContext);
  if (rows.length === 0) return null;
  const [first, last] = range;
  const isVirtual = lines.length > MANY;
  const hasCourse = rows.some(({ course }) => course?.length > 0);
  const head = (name: string, isBad: boolean, inside: ComponentChildren, className = "") => (
    <th
      scope="row"
      class={`${className}${isBad ? " bad" : ""}`.trim()}
      title={isVirtual ? name : undefined}
    >
      {inside}
    </th>
  );
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
              value={listed.sought}
              onInput={(event) => listed.seek(event.currentTarget.value)}
            />
          </label>{" "}
          <span class="faint" aria-live="polite">
            {count(found.length)} of {count(rows.length)} names
          </span>{" "}
          {!listed.sought.trim() && !listed.isFolded && (
            <button type="button" class="quiet" onClick={() => listed.showAll(!listed.all)}>
              {listed.all ? `Show the first ${FEW}` : "Show all"}
            </button>
          )}{" "}
          {groups.length > 0 && !listed.sought.trim() && (
            <button
              type="button"
              class="quiet"
              aria-pressed={listed.isFolded}
              onClick={() => listed.fold(!listed.isFolded)}
            >
              Fold
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
        <table class="named" aria-rowcount={lines.length + 1}>
          <caption class="unseen">The requests by name</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {columns.map((name) => (
                <th scope="col" class="number" key={name}>
                  {heading(name)}
                </th>
              ))}
              {hasCourse && <th scope="col">Rate over time</th>}
            </tr>
          </thead>
          <tbody>
            <Room rows={first} row={row} />
            {lines.slice(first, last).map((line, index) =>
              "group" in line ? (
                <tr key={line.group.prefix} aria-rowindex={first + index + 2} class="group">
                  {head(
                    line.group.prefix,
                    line.group.is_bad,
                    <button
                      type="button"
                      class="of-name"
                      aria-expanded={line.isOpen}
                      onClick={() => toggle(line.group.prefix)}
                    >
                      {line.isOpen ? "▾" : "▸"} {line.group.prefix}…{" "}
                      <span class="faint">{count(line.group.names)} names</span>
                    </button>,
                  )}
                  <Cells cells={line.group.cells} />
                  {hasCourse && <td />}
                </tr>
              ) : (
                <tr key={line.row.name} aria-rowindex={first + index + 2}>
                  {head(
                    line.row.name,
                    line.row.is_bad,
                    press ? <NameButton name={line.row.name} press={press} /> : line.row.name,
                    line.isMember ? "member" : "",
                  )}
                  <Cells cells={line.row.cells} />
                  {hasCourse && (
                    <td>
                      <Spark values={line.row.course ?? []} />
                    </td>
                  )}
                </tr>
              ),
            )}
            <Room rows={lines.length - last} row={row} />
          </tbody>
        </table>
      </div>
    </section>
  );
}
