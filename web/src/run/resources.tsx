/** What the target, the generator and the machine used. */

import { Chart } from "../charts/chart";
import type { ChartSpec, SeriesSpec } from "../charts/spec";
import { drawn, MEASURES, trackOf } from "../measures";
import type { Measure, RunPage } from "../generated/page";
import { fromStart, GROUP } from "./pictures";

interface Picture {
  name: string;
  title: string;
  y: string;
  note?: string;
  measures: Measure[];
}

const PICTURES: Picture[] = [
  { name: "cpu", title: "CPU", y: "CPU", note: "100 % is one core.", measures: ["cpu"] },
  {
    name: "memory",
    title: "Memory",
    y: "resident memory",
    note: "Of the host: what is not available.",
    measures: ["memory"],
  },
  { name: "sockets", title: "Open sockets", y: "sockets", measures: ["sockets"] },
  { name: "network", title: "Network", y: "bytes a second", measures: ["bytes_in", "bytes_out"] },
  {
    name: "pressure",
    title: "Waiting for a core",
    y: "share of the time",
    note: "Time in which at least one task of the host waited.",
    measures: ["cpu_pressure"],
  },
];

export function Resources({ page }: { page: RunPage }) {
  const specs = PICTURES.flatMap((picture) => resourceSpec(page, picture) ?? []);
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
      <div class="charts">
        {specs.map((spec) => (
          <Chart key={spec.name} spec={spec} />
        ))}
      </div>
    </section>
  );
}

/** One measure of all resources, or several of those that have them. */
export function resourceSpec(page: RunPage, picture: Picture): ChartSpec | null {
  const series = page.resources.flatMap((resource, index) =>
    picture.measures.flatMap((measure, turn): SeriesSpec[] => {
      const track = trackOf(resource.tracks, measure);
      if (!track) return [];
      const label =
        picture.measures.length > 1 ? `${resource.name} ${MEASURES[measure].title}` : resource.name;
      return [{ label, values: drawn(track), mark: "line", colour: index + turn }];
    }),
  );
  if (series.length === 0) return null;
  return {
    name: picture.name,
    title: picture.title,
    note: picture.note,
    x: fromStart(page),
    y: { title: picture.y, quantity: MEASURES[picture.measures[0]!].quantity },
    xs: page.timeline.time_s,
    series,
    group: GROUP,
  };
}
