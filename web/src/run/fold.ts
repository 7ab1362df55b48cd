/** Names that begin alike, as one line each that can be opened. */

import type { NameGroup, NameRow } from "../generated/page";

/** A line of the table: a name, or a group of names. */
export type Line = { row: NameRow; isMember: boolean } | { group: NameGroup; isOpen: boolean };

/** The groups, each followed by its names if it is open, then the names that are in none. */
export function folded(rows: NameRow[], groups: NameGroup[], open: ReadonlySet<string>): Line[] {
  const members = new Map<string, NameRow[]>(groups.map(({ prefix }) => [prefix, []]));
  const alone: NameRow[] = [];
  for (const row of rows) {
    const group = groups.find(({ prefix }) => row.name.startsWith(prefix));
    (group ? members.get(group.prefix)! : alone).push(row);
  }
  const lines: Line[] = groups.flatMap((group) => {
    const isOpen = open.has(group.prefix);
    const inside = isOpen ? members.get(group.prefix)! : [];
    return [{ group, isOpen }, ...inside.map((row) => ({ row, isMember: true }))];
  });
  return [...lines, ...alone.map((row) => ({ row, isMember: false }))];
}
