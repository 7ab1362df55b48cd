/** Data that are asked for while the line is cut. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { awaited } from "../src/live/calls";

const cut = () => Promise.reject(new TypeError("Failed to fetch"));
const answer = (data: unknown) => () => Promise.resolve(new Response(JSON.stringify(data)));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("data are asked for until they come, and then no more", async () => {
  const fetch = vi.fn().mockImplementationOnce(cut).mockImplementationOnce(cut);
  fetch.mockImplementation(answer({ files: [] }));
  vi.stubGlobal("fetch", fetch);
  const taken: unknown[] = [];
  awaited("offer", (offer) => taken.push(offer));
  await vi.advanceTimersByTimeAsync(1_500);
  expect(taken).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(taken).toEqual([{ files: [] }]);
  expect(fetch).toHaveBeenCalledTimes(3);
});

test("data that are not wanted any more are not taken", async () => {
  vi.stubGlobal("fetch", vi.fn(answer({ files: [] })));
  const take = vi.fn();
  awaited("offer", take)();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(take).not.toHaveBeenCalled();
});
