/**
 * A chart: title, legend that toggles, plot with hover and zoom, and its files.
 *
 * Given other values for the same series it draws on; given other series, another size or another
 * theme it is made anew.
 */

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { figure } from "../format";
import { colour, heat, useColours, type Colours } from "../theme";
import { cellAt, densest, type HeatCell } from "./heatmap";
import { options } from "./options";
import { png, save, svg, type Shown } from "./file";
import { hiddenOf, isRing, placeable, quantityOf, type Plot, type PlotSeries } from "./plot";

const HEIGHT = 290;

/** A part of the time that charts show, in seconds. */
export interface Part {
  from: number;
  to: number;
}

/** Receives the part of the time to which a reader has zoomed; none if all is shown again. */
export const SpanContext = createContext<(part: Part | null) => void>(() => {});

/** Receives what a reader presses in a plot over time. */
export interface Press {
  /** An instant on the axis of time, in seconds. */
  time?: (at: number) => void;
  /** A cell of a heatmap. */
  cell?: (cell: HeatCell) => void;
  /** What stands below a heatmap. */
  below?: ComponentChildren;
}

export const PressContext = createContext<Press>({});

interface Hover {
  left: number;
  top: number;
  /** Whether the words stand left of the cursor, for want of room. */
  flipped: boolean;
  index: number;
  value: number;
}

export function Chart({ plot }: { plot: Plot }) {
  const { theme } = useColours();
  const span = useContext(SpanContext);
  const press = useContext(PressContext);
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const current = useRef(plot);
  current.current = plot;
  const ticks = useRef<Shown["ticks"]>({ x: [], y: [] });
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => hiddenOf(plot));
  const [zoomed, setZoomed] = useState(false);
  const [hover, setHover] = useState<Hover | null>(null);
  const width = useWidth(place);

  const shape = JSON.stringify([
    theme,
    width,
    plot.y.scale,
    plot.heatmap !== null,
    plot.series.map((one) => [one.name, one.colour, one.mark]),
  ]);
  useLayoutEffect(() => {
    if (width === 0) return;
    const listener = {
      hover: (shown: uPlot, index: number | null) => setHover(hovering(shown, index)),
      zoomed: (zoomed: boolean, shown: uPlot) => {
        setZoomed(zoomed);
        const { min, max } = shown.scales.x!;
        if (plot.x.unit === "seconds") span(zoomed ? { from: min!, to: max! } : null);
      },
      ticks: (axis: "x" | "y", found: [number, string][]) => (ticks.current[axis] = found),
    };
    const made = new uPlot(
      options(() => current.current, theme, { width, height: HEIGHT }, listener),
      dataOf(plot),
      place.current!,
    );
    plot.series.forEach((one, index) => {
      if (hidden.has(one.name)) made.setSeries(index + 1, { show: false });
    });
    chart.current = made;
    return () => {
      made.destroy();
      chart.current = null;
    };
  }, [shape]);
  // What is zoomed to stays while a run goes on.
  useEffect(() => {
    chart.current?.setData(dataOf(plot), !zoomed);
    if (zoomed) chart.current?.redraw();
  }, [plot.xs, plot.series]);

  const toggle = (label: string) => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    const index = plot.series.findIndex((one) => one.name === label);
    chart.current?.setSeries(index + 1, { show: !next.has(label) });
    setHidden(next);
  };
  const pressed = (event: MouseEvent) => {
    const shown = chart.current;
    if (!shown || plot.x.unit !== "seconds") return;
    const box = shown.over.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (left < 0 || left > box.width || top < 0) return;
    const at = Math.max(0, shown.posToVal(left, "x"));
    if (top > box.height) return press.time?.(at);
    const cell = plot.heatmap && cellAt(plot.heatmap, at, shown.posToVal(top, "y"));
    if (cell) press.cell?.(cell);
  };
  const reset = () => chart.current?.setData(dataOf(plot), true);
  const markup = () => svg(plot, shownOf(chart.current!, ticks.current, hidden));

  return (
    <figure class="chart" id={plot.name}>
      <figcaption>
        <h3>{plot.title}</h3>
        <span class="tools">
          {zoomed && (
            <button type="button" class="quiet" onClick={reset}>
              Show all
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label={`Save ${plot.title} as SVG`}
            onClick={() =>
              save(`${plot.name}.svg`, new Blob([markup()], { type: "image/svg+xml" }))
            }
          >
            SVG
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Save ${plot.title} as PNG`}
            onClick={async () => save(`${plot.name}.png`, await png(markup()))}
          >
            PNG
          </button>
        </span>
        {plot.note && <p>{plot.note}</p>}
      </figcaption>
      {plot.heatmap ? <Ramp plot={plot} /> : <Legend plot={plot} hidden={hidden} toggle={toggle} />}
      <div class="plot">
        <div ref={place} role="img" aria-label={described(plot)} onClick={pressed} />
        {hover && <Tip plot={plot} hover={hover} hidden={hidden} />}
      </div>
      {plot.heatmap && press.below}
    </figure>
  );
}

/** The width there is, which changes with the window. */
function useWidth(place: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const parent = place.current!.parentElement!;
    const measure = () => setWidth(parent.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);
  return width;
}

function dataOf(plot: Plot): uPlot.AlignedData {
  return [plot.xs, ...plot.series.map((one) => placeable(plot.y, one.values))];
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

function described(plot: Plot): string {
  const series = plot.series.map((one) => one.name).join(", ");
  const rules = plot.reference_lines.map((line) => `; ${line.label}`).join("");
  const of = series ? ` of ${series}` : "";
  return `${plot.title}: ${plot.y.title} by ${plot.x.title}${of}${rules}`;
}

function Legend(props: {
  plot: Plot;
  hidden: ReadonlySet<string>;
  toggle: (label: string) => void;
}) {
  const { colours } = useColours();
  if (props.plot.series.length < 2) return null;
  return (
    <ul class="legend" aria-label="Legend: press to hide or show">
      {props.plot.series.map((one) => (
        <li key={one.name}>
          <button
            type="button"
            aria-pressed={!props.hidden.has(one.name)}
            onClick={() => props.toggle(one.name)}
          >
            <span
              class={one.mark === "dots" ? "sample dot" : "sample"}
              style={sampleStyle(colours, one)}
            />
            {one.name}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** How a series is drawn, in small. */
function sampleStyle(colours: Colours, { mark, colour: index }: PlotSeries) {
  const ink = colour(colours, index);
  if (mark === "dots" && isRing(index)) return { border: `2px solid ${ink}` };
  return { background: ink };
}

/** The colours of a heatmap and what they mean. */
function Ramp({ plot }: { plot: Plot }) {
  const { theme } = useColours();
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => heat(theme, share)).join(",");
  return (
    <p class="legend">
      <span>1</span>
      <span class="ramp" style={{ background: `linear-gradient(90deg,${stops})` }} />
      <span>{figure("count", densest(plot.heatmap!))} responses in a cell (logarithmic)</span>
    </p>
  );
}

/** What is under the cursor. */
function Tip(props: { plot: Plot; hover: Hover; hidden: ReadonlySet<string> }) {
  const { plot, hover, hidden } = props;
  const { colours } = useColours();
  const rows = plot.series.filter(
    (one) => !hidden.has(one.name) && typeof one.values[hover.index] === "number",
  );
  const x = plot.xs[hover.index]!;
  const cell = plot.heatmap && cellAt(plot.heatmap, x, hover.value);
  if (rows.length === 0 && !cell) return null;
  const side = hover.flipped
    ? { right: `calc(100% - ${hover.left - 12}px)` }
    : { left: `${hover.left + 12}px` };
  return (
    <div class="tip" style={{ ...side, top: `${hover.top}px` }}>
      <strong>
        {plot.names?.[hover.index] ?? ""} {figure(quantityOf(plot.x), x)}
      </strong>
      {cell && (
        <div>
          {figure("us", cell.bottom)} to {figure("us", cell.top)}: {figure("count", cell.count)}
        </div>
      )}
      {rows.map((one) => (
        <div key={one.name}>
          <span class="sample dot" style={sampleStyle(colours, one)} />
          {one.name} <b>{figure(quantityOf(plot.y), one.values[hover.index])}</b>
        </div>
      ))}
    </div>
  );
}
