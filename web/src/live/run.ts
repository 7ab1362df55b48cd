/** The run as the server tells it: all of it once, then what changes each second. */

import { useEffect, useState } from "preact/hooks";
import type { Event as Change, State } from "../generated/live";
import { applied } from "./patch";

/** Where the API is. */
export const API = "/api/v1";

/** How the page is connected to its server. */
export type Connection = "connected" | "lost" | "over";

export interface Watched {
  /** The run; nothing before the server has told of it. */
  state: State | null;
  connection: Connection;
}

/** The lines of the log that are kept. */
const MOST_LINES = 200;

/** The run after a change. */
export function changed(state: State, { page, search, log, ...rest }: Change): State {
  const lines = rest.phase === "preparing" ? [] : [...state.log, ...(log ?? [])];
  return {
    ...rest,
    log: lines.slice(-MOST_LINES),
    page: applied(state.page, page),
    search: search ? applied(state.search, search) : state.search,
  };
}

/** Whether a search goes on: its trials begin and end meanwhile. */
export function isSearching(state: State): boolean {
  return Boolean(state.search) && !state.is_over && !state.can_start;
}

/** Whether there is something to end: between the runs of a series and trials, too. */
export function goesOn(state: State): boolean {
  const isUnderWay = state.phase === "running" || state.phase === "ending";
  return isUnderWay || state.has_more || isSearching(state);
}

/** Whether notes are kept with a run that has ended. */
export function takesLateNotes(state: State): boolean {
  const isOver = state.phase === "ended" && !goesOn(state);
  return isOver && Boolean(state.page) && !state.search;
}

/** The pause before a browser asks again that has given up, in milliseconds. */
const PAUSE = 3_000;

/**
 * Follows the run. A browser that was cut off asks again by itself, with the number of the last
 * event that it has: what it missed follows, or the whole state if that is too much. One that a
 * proxy refused meanwhile gives up: then the page asks again.
 */
export function useRun(): Watched {
  const [watched, setWatched] = useState<Watched>({ state: null, connection: "lost" });
  useEffect(() => {
    let timer = 0;
    let source = follow(setWatched, again);
    function again() {
      timer = window.setTimeout(() => (source = follow(setWatched, again)), PAUSE);
    }
    return () => {
      window.clearTimeout(timer);
      source.close();
    };
  }, []);
  return watched;
}

type SetWatched = (next: (before: Watched) => Watched) => void;

/** Follows the run over one source of events; `lost` is called if that will have no more. */
function follow(setWatched: SetWatched, lost: () => void): EventSource {
  const source = new EventSource(`${API}/events`);
  const data = (event: Event) => JSON.parse((event as MessageEvent<string>).data);
  const take = (event: Event) => {
    const change = data(event) as Change;
    setWatched(({ state }) => ({
      state: state && changed(state, change),
      connection: "connected",
    }));
  };
  source.addEventListener("state", (event) => {
    const state = data(event) as State;
    setWatched(() => ({ state, connection: "connected" }));
  });
  source.addEventListener("interval", take);
  source.addEventListener("over", (event) => {
    source.close();
    take(event);
    setWatched(({ state }) => ({ state, connection: "over" }));
  });
  source.addEventListener("error", () => {
    const hasGivenUp = source.readyState === EventSource.CLOSED;
    setWatched(({ state }) => {
      // A page that is opened behind the end is told the state, and nothing more.
      if (!state?.is_over) return { state, connection: "lost" };
      source.close();
      return { state, connection: "over" };
    });
    if (hasGivenUp) lost();
  });
  return source;
}
