/** The table of runs: sortable by each column, with a tick for runs whose timeline is shown. */

import { useState } from "preact/hooks";
import { figure } from "../format";
import type { Cell, Column, StudyPage, StudyRow } from "../generated/page";
import { recorded } from "./timelines";

export interface Order {
  column: number;
  descending: boolean;
}

export function RunTable(props: {
  page: StudyPage;
  chosen: ReadonlySet<string>;
  choose: (name: string) => void;
}) {
  const { page, chosen, choose } = props;
  const withTimeline = recorded(page);
  const [order, setOrder] = useState<Order | null>(null);
  const press = (column: number) =>
    setOrder({ column, descending: order?.column === column && !order.descending });
  const rows = order ? sorted(page.rows, order) : page.rows;
  return (
    <div class="scroll tall">
      <table class="runs">
        <caption class="unseen">All runs; press a heading to sort by it</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Timeline</span>
            </th>
            {page.columns.map((column, index) => (
              <th
                scope="col"
                key={column.name}
                class={alignment(column)}
                aria-sort={direction(order, index)}
              >
                <button type="button" title={column.name} onClick={() => press(index)}>
                  {column.title}
                  <span aria-hidden="true">{arrow(order, index)}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.name}
              class={row.finding ? "doubtful" : ""}
              title={row.finding ?? undefined}
            >
              <td>
                {withTimeline.has(row.name) && (
                  <input
                    type="checkbox"
                    aria-label={`Show the timeline of ${row.name}`}
                    checked={chosen.has(row.name)}
                    onChange={() => choose(row.name)}
                  />
                )}
              </td>
              {row.cells.map((cell, index) => (
                <td key={index} class={alignment(page.columns[index]!)}>
                  {shown(page.columns[index]!, cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The rows by one column; what has no number there comes last, whichever way. */
export function sorted(rows: StudyRow[], { column, descending }: Order): StudyRow[] {
  const compare = (a: StudyRow, b: StudyRow): number => {
    const [one, two] = [a.cells[column] ?? null, b.cells[column] ?? null];
    if (one === null || two === null) return Number(one === null) - Number(two === null);
    const rising =
      typeof one === "number" && typeof two === "number"
        ? one - two
        : String(one).localeCompare(String(two), "en", { numeric: true });
    return descending ? -rising : rising;
  };
  return [...rows].sort(compare);
}

function shown(column: Column, cell: Cell): string {
  if (cell === null) return "–";
  return typeof cell === "number" ? figure(column.unit, cell) : cell;
}

function alignment(column: Column): string {
  return column.unit === "text" ? "" : "number";
}

function direction(order: Order | null, column: number): "ascending" | "descending" | undefined {
  if (order?.column !== column) return undefined;
  return order.descending ? "descending" : "ascending";
}

function arrow(order: Order | null, column: number): string {
  const sort = direction(order, column);
  return sort ? (sort === "ascending" ? " ▲" : " ▼") : "";
}
