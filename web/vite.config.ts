import type { UserConfig } from "vite";
import type { Page } from "./src/generated/page";
import { viteSingleFile } from "vite-plugin-singlefile";
import { run, search, series, study } from "./test/sample";

/** Where the program writes the data of a page. */
const PLACE = "__LOADLINE_PAGE__";

const samples: Record<string, () => Page> = {
  run: () => ({ kind: "run", ...run() }),
  series: () => ({ kind: "series", ...series() }),
  study: () => ({ kind: "study", ...study() }),
  search: () => ({ kind: "search", ...search() }),
};

/**
 * `npx vite` shows a made-up run, for work on the page; with `PAGE=series`, `PAGE=study` or
 * `PAGE=search` one of these.
 */
const sample = {
  name: "sample",
  apply: "serve" as const,
  transformIndexHtml: (html: string) => {
    const page = (samples[process.env.PAGE ?? "run"] ?? samples.run!)();
    // Vite's own scripts want to talk to its server.
    const open = html.replace(/<meta\s+http-equiv[^>]*>/, "");
    return open.replace(PLACE, JSON.stringify(page).replaceAll("<", "\\u003c"));
  },
};

const config: UserConfig & { test: { include: string[] } } = {
  plugins: [sample, viteSingleFile({ removeViteModuleLoader: true })],
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: { target: "es2022", modulePreload: false },
  test: { include: ["test/**/*.test.{ts,tsx}"] },
};
export default config;
