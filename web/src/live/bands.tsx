/** The percentiles of a run that goes on, each with a band that holds the true one. */

import { figure, tick } from "../format";
import type { Figures, PercentileSoFar } from "../generated/live";

/** The ends of the common axis, at 1, 2 or 5 of a power of ten. */
export interface Ends {
  low: number;
  high: number;
}

/** The ends between which all values, bands and bounds lie. */
export function endsOf(percentiles: PercentileSoFar[]): Ends {
  const all = percentiles.flatMap(({ us, band, bounds_us }) => [
    us,
    ...bounds_us,
    ...(band ? [band.lower_us, band.upper_us ?? band.lower_us] : []),
  ]);
  const above = all.filter((us) => us > 0);
  if (above.length === 0) return { low: 1, high: 10 };
  const low = rounded(Math.min(...above) / 1.02, -1);
  const high = rounded(Math.max(...above) * 1.02, 1);
  return { low, high };
}

/** The next 1, 2 or 5 of a power of ten, downwards or upwards. */
function rounded(us: number, direction: -1 | 1): number {
  const power = 10 ** Math.floor(Math.log10(us));
  const steps = [1, 2, 5, 10].map((step) => step * power);
  const beyond = steps.filter((step) => (direction < 0 ? step <= us : step >= us));
  return direction < 0 ? Math.max(...beyond) : Math.min(...beyond);
}

/** The place of a time on the axis, from 0 to 100. */
export function placeOf(us: number, { low, high }: Ends): number {
  const share = Math.log(Math.max(us, low) / low) / Math.log(high / low);
  return Math.min(1, share) * 100;
}

/** A percentile and its band in words: `p99 4.2 ms, 3.9 ms – ?`. */
export function wordsOf({ us, band }: PercentileSoFar): [string, string] {
  const upper = band?.upper_us ?? null;
  const interval = band
    ? `${figure("us", band.lower_us)} – ${upper === null ? "?" : figure("us", upper)}`
    : "";
  return [figure("us", us), interval];
}

/** Each percentile on one logarithmic axis: its value, its band, and the bounds of checks. */
export function Bands({ figures, isOver }: { figures: Figures; isOver: boolean }) {
  const { percentiles } = figures;
  if (percentiles.length === 0) return null;
  const ends = endsOf(percentiles);
  const banded = percentiles.some(({ band }) => band !== null);
  return (
    <figure class="bands">
      <figcaption class="faint">{captionOf(banded, isOver)}</figcaption>
      {percentiles.map((one) => (
        <Row key={one.percentile} one={one} ends={ends} />
      ))}
      <div class="row faint" aria-hidden="true">
        <span />
        <span class="ends">
          <span>{tick("us", ends.low)}</span>
          <span>{tick("us", ends.high)}</span>
        </span>
      </div>
    </figure>
  );
}

function captionOf(banded: boolean, isOver: boolean): string {
  if (isOver) return "Response time, with 95\u202f% intervals";
  return banded
    ? "Response time so far, with bands that hold at 95\u202f% however often you look"
    : "Response time so far; bands from 30\u202fs on";
}

function Row({ one, ends }: { one: PercentileSoFar; ends: Ends }) {
  const { percentile, us, band, bounds_us } = one;
  const [value, interval] = wordsOf(one);
  const place = (us: number) => placeOf(us, ends);
  const left = band && place(band.lower_us);
  const right = band && (band.upper_us === null ? 100 : place(band.upper_us));
  return (
    <div class="row" data-percentile={percentile}>
      <strong>p{percentile}</strong>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <path class="axis" d="M0 5H100" />
        {left !== null && right !== null && (
          <rect
            class={band?.upper_us === null ? "band open" : "band"}
            x={left}
            width={Math.max(0.4, right - left)}
            y="1"
            height="8"
          />
        )}
        <path class="value" d={`M${place(us)} 1V9`} />
        {bounds_us.map((bound) => (
          <path key={bound} class="bound" d={`M${place(bound)} 0V10`} />
        ))}
      </svg>
      <span>
        {value} <span class="faint">{interval}</span>
      </span>
    </div>
  );
}
