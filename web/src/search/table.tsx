/** Trials in rows: the ladder, or all of them. */

import type { TrialRow } from "../generated/page";

const LOOKS = {
  passed: { tone: "good", sign: "✓" },
  failed: { tone: "bad", sign: "✗" },
  discarded: { tone: "faint", sign: "–" },
  warm_up: { tone: "faint", sign: "–" },
};

export function TrialTable(props: {
  caption: string;
  columns: string[];
  rows: TrialRow[];
  /** What the column is called that says what a trial was for. */
  named: string;
  /** Whether trials are numbered. */
  numbered?: boolean;
}) {
  const { caption, columns, rows, named, numbered } = props;
  return (
    <div class={numbered ? "scroll tall" : "scroll"}>
      <table class="trials">
        <caption class={numbered ? "unseen" : ""}>{caption}</caption>
        <thead>
          <tr>
            {numbered && (
              <th scope="col" class="number">
                Trial
              </th>
            )}
            <th scope="col">{named}</th>
            {columns.map((column) => (
              <th scope="col" class="number" key={column}>
                {column}
              </th>
            ))}
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.number} ${row.purpose}`} row={row} numbered={numbered} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A trial. Its sign stands with its name, where it is in sight on a narrow screen as well. */
function Row({ row, numbered }: { row: TrialRow; numbered?: boolean }) {
  const { tone, sign } = LOOKS[row.ended];
  return (
    <tr>
      {numbered && <td class="number">{row.number}</td>}
      <th scope="row">
        <span class={tone} aria-hidden="true">
          {sign}
        </span>{" "}
        {row.purpose}
      </th>
      {row.cells.map((cell, index) => (
        <td class="number" key={index}>
          {cell}
        </td>
      ))}
      <td class={tone}>{row.text}</td>
    </tr>
  );
}
