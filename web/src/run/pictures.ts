/** The plots of one run. */

import type { AxisSpec, ChartSpec, SeriesSpec } from "../charts/spec";
import { heatmapEnds } from "../charts/heatmap";
import { ninesOf } from "../format";
import { MEASURES, trackOf } from "../measures";
import type { Measure, RunPage } from "../generated/page";

/** All plots over time have one cursor. */
export const GROUP = "run";

export const TIME: AxisSpec = { title: "time since the end of warm-up", quantity: "seconds" };

/** The last colour of the palette, black or white. */
const INK = 6;

type Drawn = ChartSpec | null;

export function rateSpec(page: RunPage): Drawn {
  return overTime(page, ["asked_rate", "rate", "failed_rate"], {
    name: "rate",
    title: "Rate",
    y: { title: "requests a second", quantity: "per_second" },
  });
}

export function responseSpec(page: RunPage): Drawn {
  // What is drawn later lies above: the p99 is not to be hidden by that of the service time.
  const measures: Measure[] = [
    "service_p99",
    "response_p50",
    "response_p90",
    "response_p99",
    "response_max",
  ];
  return overTime(page, measures, {
    name: "response-time",
    title: "Response time",
    note: "Percentiles of each second, on a logarithmic scale.",
    y: { title: "response time", quantity: "us", log: true },
  });
}

export function inFlightSpec(page: RunPage): Drawn {
  return overTime(page, ["in_flight"], {
    name: "in-flight",
    title: "Requests in flight",
    y: { title: "requests", quantity: "count" },
  });
}

function overTime(
  page: RunPage,
  measures: Measure[],
  of: Pick<ChartSpec, "name" | "title" | "note" | "y">,
): Drawn {
  const found = measures.flatMap((measure) => trackOf(page.timeline.tracks, measure) ?? []);
  const series = found.map((track): SeriesSpec => ({
    label: MEASURES[track.measure].title,
    values: track.values,
    mark: "line",
    ...look(track.measure, measures),
  }));
  if (series.length === 0) return null;
  return { ...of, x: fromStart(page), xs: page.timeline.time_s, series, group: GROUP };
}

/** What was asked is no measurement. The service time stands apart from the colours of the response time. */
function look(measure: Measure, measures: Measure[]): Pick<SeriesSpec, "colour" | "wanted"> {
  const colours = measures.filter((one) => one !== "asked_rate" && one !== "service_p99");
  if (measure === "asked_rate") return { colour: INK, wanted: true };
  return { colour: measure === "service_p99" ? INK : colours.indexOf(measure) };
}

/** Time from zero on, so that all plots of a run begin and end alike. */
export function fromStart(page: RunPage): AxisSpec {
  const times = page.timeline.time_s;
  const last = times[times.length - 1] ?? 1;
  const step = times.length > 1 ? last - times[times.length - 2]! : last;
  const end = page.heatmap ? heatmapEnds(page.heatmap).x[1] : last + step / 2;
  return { ...TIME, ends: [0, Math.max(end, last)] };
}

export function spectrumSpec(page: RunPage): Drawn {
  const spectra = page.spectra.filter((spectrum) => spectrum.us.length > 0);
  if (spectra.length === 0) return null;
  const places = spectra.map((spectrum) => spectrum.percentile.map(ninesOf));
  const xs = [...new Set(places.flat())].sort((a, b) => a - b);
  const at = new Map(xs.map((x, index) => [x, index]));
  const series = spectra.map((spectrum, colour): SeriesSpec => {
    // `undefined` is passed by, so that the lines of both go through.
    const values: (number | null | undefined)[] = new Array(xs.length).fill(undefined);
    places[colour]!.forEach((place, index) => (values[at.get(place)!] = spectrum.us[index]!));
    return { label: spectrum.name, values: values as (number | null)[], mark: "line", colour };
  });
  return {
    name: "spectrum",
    title: "Percentile spectrum",
    note: "Each further nine has the same room: the tail is where it can be seen.",
    x: { title: "percentile", quantity: "percentile", ends: [0, Math.ceil(xs[xs.length - 1]!)] },
    y: { title: "time", quantity: "us", log: true },
    xs,
    series,
  };
}

export function heatmapSpec(page: RunPage): Drawn {
  const map = page.heatmap;
  if (!map) return null;
  const ends = heatmapEnds(map);
  return {
    name: "heatmap",
    title: "Heatmap of response times",
    note: "How many answers took how long, and when: what percentiles leave out.",
    x: fromStart(page),
    y: { title: "response time", quantity: "us", log: true, ends: ends.y },
    xs: map.columns.map((column) => (column.start_s + column.end_s) / 2),
    series: [],
    heatmap: map,
    group: GROUP,
  };
}
