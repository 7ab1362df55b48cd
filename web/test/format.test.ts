import { expect, test } from "vitest";
import { count, figure, ninesOf, percentileOf, tick, type Quantity } from "../src/format";

const plain = (text: string) => text.replaceAll("\u202f", " ");

test("a figure has three digits and the unit that fits", () => {
  const shown: [Quantity, number, string][] = [
    ["us", 0.85, "0.850 µs"],
    ["us", 152.3, "152 µs"],
    ["us", 999.6, "1 ms"],
    ["us", 1_024_000, "1.02 s"],
    ["us", 3_600e6, "3 600 s"],
    ["bytes", 4_800_000, "4.80 MB"],
    ["bytes_per_second", 1_234, "1.23 kB/s"],
    ["per_second", 138_412.4, "138 412/s"],
    ["percent", 37, "37 %"],
    ["seconds", 0.5, "0.500 s"],
    ["count", 0, "0"],
    ["percentile", 3, "p99.9"],
  ];
  for (const [quantity, value, text] of shown) {
    expect(plain(figure(quantity, value))).toBe(text);
  }
  expect(figure("us", null)).toBe("–");
});

test("ticks have no zero at their end", () => {
  expect(plain(tick("us", 200_000))).toBe("200 ms");
  expect(plain(tick("us", 1_500))).toBe("1.5 ms");
  expect(plain(tick("count", 0.5))).toBe("0.5");
  expect(plain(tick("per_second", 20_000))).toBe("20 000/s");
  expect(tick("percentile", 2)).toBe("99");
  expect(tick("percentile", Math.log10(2))).toBe("50");
});

test("each further nine has the same room", () => {
  for (const percentile of [0, 50, 90, 99, 99.9, 99.999]) {
    expect(percentileOf(ninesOf(percentile))).toBeCloseTo(percentile, 6);
  }
  expect(ninesOf(99.9) - ninesOf(99)).toBeCloseTo(1, 9);
});

test("whole numbers are grouped by threes", () => {
  expect(plain(count(1_384_120))).toBe("1 384 120");
});
