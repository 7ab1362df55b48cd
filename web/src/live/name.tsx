/** The course of one name over the run: its rate, failures and response times. */

import { useEffect, useState } from "preact/hooks";
import { Charts } from "../charts/charts";
import type { NameCourse as CourseData } from "../generated/live";
import type { RunPlots } from "../generated/page";
import { call } from "./calls";

/** The events after which the course is asked for anew: every other second. */
const EVERY = 2;

/** The charts of a name beside those of the run: each figure of a page has an id of its own. */
export function ofName(plots: RunPlots): RunPlots {
  const course = plots.course.map((chart) => ({ ...chart, name: `of-name-${chart.name}` }));
  return { ...plots, course };
}

/** The plots of a name, or why there are none. */
function usePlots(name: string, number: number): RunPlots | string | null {
  const [found, setFound] = useState<{ name: string; plots: RunPlots | string } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    call<CourseData>(`name?${new URLSearchParams({ name })}`).then((made) => {
      if (!isCurrent) return;
      const plots = "answer" in made ? ofName(made.answer.plots as RunPlots) : made.problem;
      setFound({ name, plots });
    });
    return () => {
      isCurrent = false;
    };
  }, [name, Math.floor(number / EVERY)]);
  return found?.name === name ? found.plots : null;
}

export function NameCourse(props: { name: string; number: number; close: () => void }) {
  const { name, number, close } = props;
  const plots = usePlots(name, number);
  return (
    <section class="of-name" aria-label={`The course of ${name}`}>
      <h3>
        {name}{" "}
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </h3>
      {typeof plots === "string" && <p class="bad">{plots}</p>}
      {plots && typeof plots !== "string" && (
        <>
          {plots.notes && <p class="hint">{plots.notes.join(" ")}</p>}
          <Charts charts={plots.course} sharedX={plots.shared_x} />
        </>
      )}
    </section>
  );
}
