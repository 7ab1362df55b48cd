import type { UserConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { study, run } from "./test/sample";

/** Where the program writes the data of a page. */
const PLACE = "__LOADLINE_PAGE__";

/** While one works on the page (`npx vite`), it shows a made-up run; with PAGE=study, a study. */
const sample = {
  name: "sample",
  apply: "serve" as const,
  transformIndexHtml: (html: string) => {
    const page = process.env.PAGE === "study" ? study() : run();
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
