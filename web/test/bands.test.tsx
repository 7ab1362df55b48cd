import { render } from "preact-render-to-string";
import { expect, test } from "vitest";
import type { Figures, PercentileSoFar } from "../src/generated/live";
import { Bands, endsOf, placeOf, wordsOf } from "../src/live/bands";

const P50: PercentileSoFar = {
  percentile: 50,
  us: 2_000,
  band: { lower_us: 1_900, upper_us: 2_150, as_of_s: 30 },
  bounds_us: [],
};
const P99: PercentileSoFar = {
  percentile: 99,
  us: 9_000,
  band: { lower_us: 7_000, upper_us: null, as_of_s: 30 },
  bounds_us: [50_000],
};

function shown(percentiles: PercentileSoFar[], isOver = false): string {
  const figures = { percentiles } as unknown as Figures;
  return render(<Bands figures={figures} isOver={isOver} />);
}

function words(html: string): string {
  return html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
}

test("all values, bands and bounds lie within the ends of the axis", () => {
  const ends = endsOf([P50, P99]);
  expect(ends).toEqual({ low: 1_000, high: 100_000 });
  expect(placeOf(1_000, ends)).toBe(0);
  expect(placeOf(10_000, ends)).toBeCloseTo(50);
  expect(placeOf(1e9, ends)).toBe(100);
  expect(endsOf([{ ...P50, us: 0, band: null }])).toEqual({ low: 1, high: 10 });
});

test("an end that is unknown is a question mark, and its band goes to the end of the axis", () => {
  expect(wordsOf(P50)).toEqual(["2\u202fms", "1.90\u202fms – 2.15\u202fms"]);
  expect(wordsOf(P99)[1]).toBe("7\u202fms – ?");
  const html = shown([P99]);
  const [, x, width] = /class="band open" x="([\d.]+)" width="([\d.]+)"/.exec(html)!;
  expect(Number(x) + Number(width)).toBeCloseTo(100);
  expect(html).toContain('class="bound"');
});

test("the caption says what the bands hold for", () => {
  expect(words(shown([P50, P99]))).toContain("hold at 95 % however often you look p50 2 ms");
  expect(words(shown([{ ...P50, band: null }]))).toContain("bands from 30 s on p50 2 ms 1 ms");
  expect(words(shown([P50], true))).toContain("Response time, with 95 % intervals");
  expect(shown([])).toBe("");
});
