/** The page as a whole: what is common to all kinds, and the kind that the data is of. */

import type { Page } from "./generated/page";
import { RunReport } from "./run/run";
import { SearchReport } from "./search/search";
import { SeriesReport } from "./series/series";
import { StudyReport } from "./study/study";
import { ThemeContext, useTheme } from "./theme";

export function Report({ page }: { page: Page }) {
  const [theme, choose] = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <ThemeContext.Provider value={theme}>
      <header class="top">
        <span class="brand">Loadline</span>
        <button type="button" class="quiet" onClick={() => choose(other)}>
          {other === "dark" ? "Dark" : "Light"}
        </button>
      </header>
      <main>
        <Content page={page} />
      </main>
      <footer>
        Loadline {page.version}, started at{" "}
        <time dateTime={page.started_at}>{moment(page.started_at)}</time>.
      </footer>
    </ThemeContext.Provider>
  );
}

function Content({ page }: { page: Page }) {
  switch (page.kind) {
    case "run":
      return <RunReport page={page} />;
    case "series":
      return <SeriesReport page={page} />;
    case "study":
      return <StudyReport page={page} />;
    case "search":
      return <SearchReport page={page} />;
  }
}

/** `2026-01-02 03:04:05 UTC` */
function moment(rfc3339: string): string {
  return rfc3339.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
}
