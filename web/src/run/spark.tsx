/** The course of a figure as a line of the size of a word, without axes: its form is seen. */

const WIDTH = 80;
const HEIGHT = 18;
/** With fewer values there is no form. */
const FEWEST = 3;

/** The corners of the line: from zero at the bottom to the highest value at the top. */
export function corners(values: number[]): string {
  const most = Math.max(...values) || 1;
  const x = (index: number) => ((index * WIDTH) / (values.length - 1)).toFixed(1);
  const y = (value: number) => (HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1);
  return values.map((value, index) => `${x(index)},${y(value)}`).join(" ");
}

export function Spark({ values }: { values: number[] }) {
  if (values.length < FEWEST) return null;
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline points={corners(values)} />
    </svg>
  );
}
