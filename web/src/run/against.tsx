/** The run beside its baseline: what is faster, what is slower, and what can't be told. */

import type { Against, AgainstRow, Relation } from "../generated/page";
import { Scroll } from "../scroll";
import { Words } from "../words";

const RELATIONS: Record<Relation, { tone: string; text: string }> = {
  faster: { tone: "good", text: "faster" },
  slower: { tone: "bad", text: "slower" },
  open: { tone: "faint", text: "can't tell yet" },
};

const TONES: Record<string, string> = { good: "good", bad: "bad" };

export function BesideBaseline({ against }: { against: Against | null }) {
  if (against === null) return null;
  return (
    <section class="against">
      <h2>Beside {against.baseline}</h2>
      <p>
        <strong class={TONES[against.tone] ?? ""}>
          <Words text={against.claim} />
        </strong>
      </p>
      {against.rows.length > 0 && (
        <Scroll>
          <table>
            <caption class="unseen">This run beside {against.baseline}</caption>
            <thead>
              <tr>
                <th scope="col">Requests</th>
                <th scope="col">Figure</th>
                <th scope="col" class="number">
                  Baseline
                </th>
                <th scope="col" class="number">
                  This run
                </th>
                <th scope="col" class="number">
                  Ratio
                </th>
                <th scope="col">Interval</th>
                <th scope="col">Result</th>
              </tr>
            </thead>
            <tbody>{against.rows.flatMap((row) => rowsOf(row))}</tbody>
          </table>
        </Scroll>
      )}
      {against.notes.map((note) => (
        <p key={note} class="hint kept">
          {note}
        </p>
      ))}
    </section>
  );
}

function rowsOf(row: AgainstRow) {
  return row.figures.map((figure, index) => {
    const { tone, text } = RELATIONS[figure.relation];
    return (
      <tr key={`${row.name} ${figure.figure}`}>
        {index === 0 && (
          <th scope="rowgroup" rowSpan={row.figures.length}>
            {row.name}
            <RelationText relation={row.relation} />
          </th>
        )}
        <td>{figure.figure}</td>
        <td class="number">{figure.base}</td>
        <td class="number">{figure.with}</td>
        <td class="number">{figure.ratio}</td>
        <td class="whole faint">{figure.interval}</td>
        <td class={tone}>{text}</td>
      </tr>
    );
  });
}

/** What all figures of a name come to. */
function RelationText({ relation }: { relation: Relation }) {
  const { tone, text } = RELATIONS[relation];
  return <div class={tone}>{text}</div>;
}
