/** The page as a whole: what is common to all kinds, and the kind that the data is of. */

import { useCallback, useState } from "preact/hooks";
import { Drop, pageWithin, type Taken } from "./drop";
import { Frame } from "./frame";
import type { Page, RunPage } from "./generated/page";
import { withBaseline } from "./live/baseline";
import { RunReport } from "./run/run";
import { SearchReport } from "./search/search";
import { SeriesReport } from "./series/series";
import { StudyReport } from "./study/study";

/** A page whose data it holds itself. */
export type Report = Exclude<Page, { kind: "live" }>;

export function Report({ page: own }: { page: Report }) {
  const [page, setPage] = useState(own);
  const [underneath, lay] = useState<RunPage | null>(null);
  const take = useCallback(
    async (file: File): Promise<Taken> => {
      const dropped = pageWithin(await file.text());
      if (!dropped) {
        const text = `${file.name} is no report. Drop one that ends in .html; \
saved runs are opened by loadline web.`;
        return { text, isRefused: true };
      }
      if (dropped.kind === "run" && page.kind === "run") {
        lay(dropped);
        const text = `Grey, underneath: ${file.name}, started at ${moment(dropped.started_at)}.`;
        return { text, isRefused: false };
      }
      setPage(dropped);
      lay(null);
      return { text: `This is ${file.name}.`, isRefused: false };
    },
    [page],
  );
  const shown =
    page.kind === "run" && underneath ? { ...page, ...withBaseline(page, underneath) } : page;
  return (
    <Frame>
      <main>
        <Content page={shown} />
        <Drop label="Drop another report here, or choose one:" accept=".html" take={take} />
      </main>
      <footer>
        Loadline {page.version}, started at{" "}
        <time dateTime={page.started_at}>{moment(page.started_at)}</time>.
      </footer>
    </Frame>
  );
}

/** A report without what stands around it. */
export function Content({ page }: { page: Report }) {
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
