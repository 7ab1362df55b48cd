/** Requests to the page's server. */

import type { Problem } from "../generated/live";
import { API } from "./run";

/** What came of a request: an answer, or why there is none, as a sentence. */
export type Answer<T> = { answer: T } | { problem: string };

const SILENT = "The server does not answer; is it still running?";

/** Asks for data; with a body it is sent by POST. */
export function call<T>(path: string, body?: unknown): Promise<Answer<T>> {
  return request(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
}

/** The pause before data are asked for again, in milliseconds. */
const PAUSE = 1_000;

/**
 * Asks for data, again and again while the line is cut, and gives them to `take`; returns what ends
 * that, as effects do.
 */
export function awaited<T>(path: string, take: (answer: T) => void): () => void {
  let timer = 0;
  let isWanted = true;
  const attempt = async () => {
    const made = await call<T>(path);
    if (!isWanted) return;
    if ("answer" in made) take(made.answer);
    else timer = window.setTimeout(attempt, PAUSE);
  };
  attempt();
  return () => {
    isWanted = false;
    window.clearTimeout(timer);
  };
}

/** Sends a file. */
export function send<T>(path: string, file: File): Promise<Answer<T>> {
  return request(path, { method: "POST", body: file });
}

async function request<T>(path: string, asked: RequestInit): Promise<Answer<T>> {
  try {
    const answer = await fetch(`${API}/${path}`, asked);
    const data = (await answer.json()) as T & Problem;
    return answer.ok ? { answer: data } : { problem: data.message };
  } catch {
    return { problem: SILENT };
  }
}
