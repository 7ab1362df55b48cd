/** The page as a whole: what is common to all kinds, and the kind that the data is of. */

import { Frame } from "./frame";
import type { Page } from "./generated/page";
import { RunReport } from "./run/run";
import { SearchReport } from "./search/search";
import { SeriesReport } from "./series/series";
import { StudyReport } from "./study/study";

/** A page whose data it holds itself. */
export type Report = Exclude<Page, { kind: "live" }>;

export function Report({ page }: { page: Report }) {
  return (
    <Frame>
      <main>
        <Content page={page} />
      </main>
      <footer>
        Loadline {page.version}, started at{" "}
        <time dateTime={page.started_at}>{moment(page.started_at)}</time>.
      </footer>
    </Frame>
  );
}

function Content({ page }: { page: Report }) {
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
