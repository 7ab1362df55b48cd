/** Charts beside each other. */

import type { Chart as Described, SharedX } from "../generated/page";
import { Chart } from "./chart";
import { plotOf } from "./plot";

export function Charts(props: { charts: Described[]; sharedX: SharedX; small?: boolean }) {
  return (
    <div class={props.small ? "charts small" : "charts"}>
      {props.charts.map((chart) => (
        <Chart key={chart.name} plot={plotOf(chart, props.sharedX)} />
      ))}
    </div>
  );
}
