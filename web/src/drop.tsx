/** A file that is dropped onto the page, or chosen by those who do not drag. */

import { useEffect, useState } from "preact/hooks";
import type { Page } from "./generated/page";

/** What came of a file, as a sentence, and whether it was refused. */
export interface Taken {
  text: string;
  isRefused: boolean;
}

export function Drop(props: {
  label: string;
  accept: string;
  take: (file: File) => Promise<Taken>;
}) {
  const { label, accept, take } = props;
  const [taken, setTaken] = useState<Taken | null>(null);
  const [isOver, setOver] = useState(false);
  const receive = async (file: File | undefined) => {
    if (file) setTaken(await take(file));
  };
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      // Without this the browser leaves the page for the file.
      event.preventDefault();
      setOver(true);
    };
    const leave = () => setOver(false);
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      receive(event.dataTransfer?.files[0]);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [take]);
  return (
    <p class={isOver ? "drop over" : "drop"}>
      <label>
        {label}{" "}
        <input
          type="file"
          accept={accept}
          onChange={(event) => {
            receive(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </label>{" "}
      <span class={taken?.isRefused ? "bad" : "faint"} role="status">
        {taken?.text}
      </span>
    </p>
  );
}

/** The data of a report's page; none of another document. */
export function pageWithin(html: string): Exclude<Page, { kind: "live" }> | null {
  const begin = html.indexOf('id="page"');
  const from = html.indexOf(">", begin) + 1;
  const to = html.indexOf("</script>", from);
  if (begin < 0 || from === 0 || to < 0) return null;
  try {
    const page = JSON.parse(html.slice(from, to)) as Page;
    const isReport = page.kind !== "live" && typeof page.title === "string";
    return isReport ? page : null;
  } catch {
    return null;
  }
}
