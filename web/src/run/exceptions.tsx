/** What a script threw and did not handle: equal exceptions together, each with its stack. */

import { count } from "../format";
import type { ExceptionRow } from "../generated/page";
import { Scroll } from "../scroll";

export function Exceptions({ rows, leftOut }: { rows: ExceptionRow[]; leftOut: string }) {
  if (rows.length === 0) return null;
  const hasParts = rows.some((row) => row.parts !== "");
  return (
    <section>
      <h2>Exceptions</h2>
      <p class="hint kept">
        What the script threw and did not handle. The message is that of the first one.
      </p>
      <Scroll>
        <table class="bodies">
          <caption class="unseen">The exceptions of the script by their stacks</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                Count
              </th>
              <th scope="col" class="number">
                First at
              </th>
              {hasParts && <th scope="col">Where</th>}
              <th scope="col">Exception</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.kind}\n${row.trace || row.message}`}>
                <td class="number">{count(row.count)}</td>
                <td class="number">{row.at}</td>
                {hasParts && <td>{row.parts}</td>}
                <td>
                  <Thrown row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {leftOut && <p class="hint kept">{leftOut}</p>}
    </section>
  );
}

/** An exception, whose stack is opened by a press. */
function Thrown({ row }: { row: ExceptionRow }) {
  const what = [row.kind, row.message].filter((text) => text !== "").join(": ");
  if (row.trace === "") return <code>{what}</code>;
  return (
    <details>
      <summary>
        <code>{what || "an exception"}</code>
      </summary>
      <pre>{row.trace}</pre>
    </details>
  );
}
