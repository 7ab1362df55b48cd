/**
 * A chart: title, legend that toggles, plot with hover and zoom, and its files.
 *
 * Given other values for the same series it draws on; given other series, another size or another
 * theme it is made anew.
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { figure } from "../format";
import { colour, heat, isRing, useColours, type Colours } from "../theme";
import { cellAt, densest } from "./heatmap";
import { options } from "./options";
import { png, save, svg, type Shown } from "./picture";
import { placeable, type ChartSpec, type SeriesSpec } from "./spec";

const HEIGHT = 290;

interface Hover {
  left: number;
  top: number;
  /** Whether the words stand left of the cursor, for want of room. */
  flipped: boolean;
  index: number;
  value: number;
}

export function Chart({ spec }: { spec: ChartSpec }) {
  const { theme } = useColours();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const ticks = useRef<Shown["ticks"]>({ x: [], y: [] });
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [zoomed, setZoomed] = useState(false);
  const [hover, setHover] = useState<Hover | null>(null);
  const width = useWidth(place);

  const shape = JSON.stringify([
    theme,
    width,
    spec.y.log,
    spec.series.map((one) => [one.label, one.colour, one.mark]),
  ]);
  useLayoutEffect(() => {
    if (width === 0) return;
    const listener = {
      hover: (shown: uPlot, index: number | null) => setHover(hovering(shown, index)),
      zoomed: setZoomed,
      ticks: (axis: "x" | "y", found: [number, string][]) => (ticks.current[axis] = found),
    };
    const made = new uPlot(
      options(spec, theme, { width, height: HEIGHT }, listener),
      dataOf(spec),
      place.current!,
    );
    spec.series.forEach((one, index) => {
      if (hidden.has(one.label)) made.setSeries(index + 1, { show: false });
    });
    chart.current = made;
    return () => {
      made.destroy();
      chart.current = null;
    };
  }, [shape]);
  useEffect(() => chart.current?.setData(dataOf(spec)), [spec.xs, spec.series]);

  const toggle = (label: string) => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    const index = spec.series.findIndex((one) => one.label === label);
    chart.current?.setSeries(index + 1, { show: !next.has(label) });
    setHidden(next);
  };
  const reset = () => chart.current?.setData(dataOf(spec), true);
  const markup = () => svg(spec, shownOf(chart.current!, ticks.current, hidden));

  return (
    <figure class="chart" id={spec.name}>
      <figcaption>
        <h3>{spec.title}</h3>
        <span class="tools">
          {zoomed && (
            <button type="button" class="quiet" onClick={reset}>
              Show all
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label={`Save ${spec.title} as SVG`}
            onClick={() =>
              save(`${spec.name}.svg`, new Blob([markup()], { type: "image/svg+xml" }))
            }
          >
            SVG
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Save ${spec.title} as PNG`}
            onClick={async () => save(`${spec.name}.png`, await png(markup()))}
          >
            PNG
          </button>
        </span>
        {spec.note && <p>{spec.note}</p>}
      </figcaption>
      {spec.heatmap ? <Ramp spec={spec} /> : <Legend spec={spec} hidden={hidden} toggle={toggle} />}
      <div class="plot">
        <div ref={place} role="img" aria-label={described(spec)} />
        {hover && <Tip spec={spec} hover={hover} hidden={hidden} />}
      </div>
    </figure>
  );
}

/** The width there is, which changes with the window. */
function useWidth(place: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const plot = place.current!.parentElement!;
    const measure = () => setWidth(plot.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(plot);
    return () => observer.disconnect();
  }, []);
  return width;
}

function dataOf(spec: ChartSpec): uPlot.AlignedData {
  return [spec.xs, ...spec.series.map((one) => placeable(spec.y, one.values))];
}

function shownOf(chart: uPlot, ticks: Shown["ticks"], hidden: ReadonlySet<string>): Shown {
  const ends = (key: string): [number, number] => [
    chart.scales[key]!.min!,
    chart.scales[key]!.max!,
  ];
  return { x: ends("x"), y: ends("y"), ticks, hidden };
}

function hovering(chart: uPlot, index: number | null): Hover | null {
  const { left, top } = chart.cursor;
  if (index === null || left === undefined || left < 0) return null;
  const pixels = devicePixelRatio;
  const flipped = left > chart.bbox.width / pixels / 2;
  return {
    left: left + chart.bbox.left / pixels,
    top: Math.max(top ?? 0, 0) + chart.bbox.top / pixels,
    flipped,
    index,
    value: chart.posToVal(Math.max(top ?? 0, 0), "y"),
  };
}

function described(spec: ChartSpec): string {
  const series = spec.series.map((one) => one.label).join(", ");
  const rules = (spec.rules ?? []).map((rule) => `; ${rule.label}`).join("");
  return `${spec.title}: ${spec.y.title} by ${spec.x.title}${series ? ` of ${series}` : ""}${rules}`;
}

function Legend(props: {
  spec: ChartSpec;
  hidden: ReadonlySet<string>;
  toggle: (label: string) => void;
}) {
  const { colours } = useColours();
  if (props.spec.series.length < 2) return null;
  return (
    <ul class="legend" aria-label="Legend: press to hide or show">
      {props.spec.series.map((one) => (
        <li key={one.label}>
          <button
            type="button"
            aria-pressed={!props.hidden.has(one.label)}
            onClick={() => props.toggle(one.label)}
          >
            <span
              class={one.mark === "dots" ? "sample dot" : "sample"}
              style={sampleStyle(colours, one)}
            />
            {one.label}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** How a series is drawn, in small. */
function sampleStyle(colours: Colours, { mark, colour: index }: SeriesSpec) {
  const ink = colour(colours, index);
  if (mark === "dots" && isRing(index)) return { border: `2px solid ${ink}` };
  return { background: ink };
}

/** The colours of a heatmap and what they mean. */
function Ramp({ spec }: { spec: ChartSpec }) {
  const { theme } = useColours();
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => heat(theme, share)).join(",");
  return (
    <p class="legend">
      <span>1</span>
      <span class="ramp" style={{ background: `linear-gradient(90deg,${stops})` }} />
      <span>{figure("count", densest(spec.heatmap!))} answers in a cell (logarithmic)</span>
    </p>
  );
}

/** What is under the cursor. */
function Tip(props: { spec: ChartSpec; hover: Hover; hidden: ReadonlySet<string> }) {
  const { spec, hover, hidden } = props;
  const { colours } = useColours();
  const rows = spec.series.filter(
    (one) => !hidden.has(one.label) && typeof one.values[hover.index] === "number",
  );
  const x = spec.xs[hover.index]!;
  const cell = spec.heatmap && cellAt(spec.heatmap, x, hover.value);
  if (rows.length === 0 && !cell) return null;
  const side = hover.flipped
    ? { right: `calc(100% - ${hover.left - 12}px)` }
    : { left: `${hover.left + 12}px` };
  return (
    <div class="tip" style={{ ...side, top: `${hover.top}px` }}>
      <strong>
        {spec.names?.[hover.index] ?? ""} {figure(spec.x.quantity, x)}
      </strong>
      {cell && (
        <div>
          {figure("us", cell.bottom)} to {figure("us", cell.top)}: {figure("count", cell.count)}
        </div>
      )}
      {rows.map((one) => (
        <div key={one.label}>
          <span class="sample dot" style={sampleStyle(colours, one)} />
          {one.label} <b>{figure(spec.y.quantity, one.values[hover.index])}</b>
        </div>
      ))}
    </div>
  );
}
