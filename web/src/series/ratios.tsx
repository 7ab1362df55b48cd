/** The ratios of two sides with their intervals, on one logarithmic axis around 1. */

import type { RatioBar } from "../generated/page";
import { Scroll } from "../scroll";

const WIDTH = 640;
const NAMES = 70;
const WORDS = 190;
const ROW = 26;
/** The axis reaches at least this far on both sides of 1, as a logarithm: 5 %. */
const NEAREST = 0.05;

export function Ratios({ ratios }: { ratios: RatioBar[] }) {
  if (ratios.length === 0) return null;
  const ends = (bar: RatioBar) => [bar.lower ?? bar.ratio, bar.upper ?? bar.ratio];
  const logs = ratios.flatMap(ends).map(Math.log);
  const from = Math.min(-NEAREST, ...logs);
  const to = Math.max(NEAREST, ...logs);
  const px = (ratio: number) =>
    NAMES + ((Math.log(ratio) - from) / (to - from)) * (WIDTH - NAMES - WORDS - 10);
  const height = ROW * ratios.length + 22;
  const axis = height - 18;
  return (
    <Scroll>
      <svg
        class="ratios"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`B / A: ${ratios.map((bar) => `${bar.name} ${bar.text}`).join(", ")}`}
      >
        <line x1={px(1)} x2={px(1)} y1="0" y2={axis} class="axis" stroke-dasharray="4 3" />
        {ratios.map((bar, index) => {
          const y = ROW * index + ROW / 2;
          const [lower, upper] = ends(bar) as [number, number];
          return (
            <g key={bar.name} class={bar.tone}>
              <text x="0" y={y + 4}>
                {bar.name}
              </text>
              <line x1={px(lower)} x2={px(upper)} y1={y} y2={y} class="whisker" />
              {[lower, upper].map((end, at) => (
                <line key={at} x1={px(end)} x2={px(end)} y1={y - 5} y2={y + 5} class="whisker" />
              ))}
              <circle cx={px(bar.ratio)} cy={y} r="5" />
              <text x={WIDTH - WORDS} y={y + 4}>
                {bar.text}
              </text>
            </g>
          );
        })}
        <text x={px(1)} y={height - 4} text-anchor="middle" class="faint">
          B / A = 1
        </text>
      </svg>
    </Scroll>
  );
}
