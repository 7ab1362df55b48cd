/** The figures that a reader looks for first, in large type. */

import type { Headline } from "../generated/page";
import { Words } from "../words";

const SIGNS = { good: "✓ ", plain: "", doubtful: "? ", bad: "✗ " };

export function Headlines({ headlines }: { headlines: Headline[] }) {
  if (headlines.length === 0) return null;
  return (
    <section class="headlines" aria-label="The result in short">
      {headlines.map(({ name, figure, note, tone }) => (
        <div key={name} class={`headline ${tone}`}>
          <h2>{name}</h2>
          <strong>
            <span aria-hidden="true">{SIGNS[tone]}</span>
            <Words text={figure} />
          </strong>
          {note && (
            <p>
              <Words text={note} />
            </p>
          )}
        </div>
      ))}
    </section>
  );
}
