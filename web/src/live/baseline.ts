/** An earlier run underneath: its lines in the plots of the run that goes on. */

import { useEffect, useState } from "preact/hooks";
import type { Chart, Page, RunPage, Series } from "../generated/page";
import { call } from "./calls";

/** The colour of what lies underneath. */
const UNDERNEATH = -1;

/** The page of the baseline; none without one, and of a baseline of several runs. */
export function useBaseline(name: string | null): RunPage | null {
  const base = useBaselinePage(name);
  return base && runOf(base);
}

/** The page of the baseline, whatever is in it. */
export function useBaselinePage(name: string | null): Page | null {
  const [base, setBase] = useState<Page | null>(null);
  useEffect(() => {
    setBase(null);
    if (name === null) return;
    let isCurrent = true;
    call<Page>("baseline").then((made) => {
      if (isCurrent && "answer" in made) setBase(made.answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [name]);
  return base;
}

/** The run of a page; none of a page of several. */
function runOf(page: Page): RunPage | null {
  return page.kind === "run" ? page : null;
}

/** The page with the lines of an earlier run below its own, in each plot that both have. */
export function withBaseline(page: RunPage, base: RunPage): RunPage {
  const { course, shared_x } = page.plots;
  const offset = shared_x.length;
  const lines = new Map(base.plots.course.map((chart) => [chart.name, linesOf(chart, offset)]));
  const below = (chart: Chart): Chart => {
    const found = chart.heatmap ? undefined : lines.get(chart.name);
    return found ? { ...chart, series: [...found, ...chart.series] } : chart;
  };
  return {
    ...page,
    plots: {
      ...page.plots,
      course: course.map(below),
      shared_x: [...shared_x, ...base.plots.shared_x],
    },
  };
}

function linesOf(chart: Chart, offset: number): Series[] {
  const shown = chart.series.filter((one) => !one.is_hidden && one.mark === "line");
  return shown.map((one) => ({
    ...one,
    name: `baseline: ${one.name}`,
    x: one.x + offset,
    colour: UNDERNEATH,
  }));
}
