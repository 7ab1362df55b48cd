/** What the target, the generator and the machine used. */

import { Charts } from "../charts/charts";
import type { RunPage } from "../generated/page";

export function Resources({ page }: { page: RunPage }) {
  if (page.resources.length === 0) return null;
  return (
    <section>
      <h2>Resources</h2>
      <ul class="notes">
        {page.resources.map((resource) => (
          <li key={resource.name}>
            <strong>{resource.name}</strong> {resource.notes.join(" ")}
          </li>
        ))}
      </ul>
      <Charts charts={page.plots.resources} sharedX={page.plots.shared_x} />
    </section>
  );
}
