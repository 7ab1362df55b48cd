/** What each measure of a timeline is called, and in which unit it is. */

import type { Quantity } from "./format";
import type { Measure, Timeline, Track } from "./generated/page";

export const MEASURES: Record<Measure, { title: string; quantity: Quantity; log?: boolean }> = {
  rate: { title: "answered", quantity: "per_second" },
  asked_rate: { title: "asked", quantity: "per_second" },
  failed_rate: { title: "failed", quantity: "per_second" },
  response_p50: { title: "p50", quantity: "us", log: true },
  response_p90: { title: "p90", quantity: "us", log: true },
  response_p99: { title: "p99", quantity: "us", log: true },
  response_max: { title: "max", quantity: "us", log: true },
  service_p99: { title: "p99 of the service time", quantity: "us", log: true },
  in_flight: { title: "in flight", quantity: "count" },
  cpu: { title: "CPU", quantity: "percent" },
  memory: { title: "memory", quantity: "bytes" },
  sockets: { title: "open sockets", quantity: "count" },
  threads: { title: "threads", quantity: "count" },
  bytes_in: { title: "received", quantity: "bytes_per_second" },
  bytes_out: { title: "sent", quantity: "bytes_per_second" },
  bandwidth: { title: "bandwidth", quantity: "bytes_per_second" },
  cpu_pressure: { title: "waiting for a core", quantity: "percent" },
};

/** The track of a measure, if there is one with a number in it. */
export function trackOf(tracks: Track[], measure: Measure): Track | undefined {
  return tracks.find((track) => track.measure === measure && track.values.some((v) => v !== null));
}

/**
 * The values of a track as they are drawn. Sockets stay open between two counts of them, and are not
 * counted each second where that costs too much: their line passes by what is not known.
 */
export function drawn({ measure, values }: Track): (number | null)[] {
  if (measure !== "sockets") return values;
  return values.map((value) => value ?? undefined) as (number | null)[];
}

/** The timelines' moments together, and each timeline's values of a measure at these. */
export function joined(
  timelines: Timeline[],
  measure: Measure,
): { xs: number[]; values: (number | null)[][] } {
  const xs = [...new Set(timelines.flatMap((timeline) => timeline.time_s))].sort((a, b) => a - b);
  const at = new Map(xs.map((x, index) => [x, index]));
  const values = timelines.map((timeline) => {
    // `undefined` would be drawn as a gap; a moment that only others have is none.
    const column: (number | null | undefined)[] = new Array(xs.length).fill(undefined);
    const track = trackOf(timeline.tracks, measure);
    const known = track && drawn(track);
    timeline.time_s.forEach((time, index) => {
      column[at.get(time)!] = known ? known[index] : null;
    });
    return column as (number | null)[];
  });
  return { xs, values };
}
