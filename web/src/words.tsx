/** Text whose numbers, units and options are not broken across lines. */

/** An option with its value, or a number in groups with its unit. */
const OPTION = "--?[a-z][a-z0-9-]*(?: [\\d.]+[%\\w]*)?";
const UNIT = "ns|µs|ms|s|min|h|%|[kKMG]i?B|req/s";
const NUMBER = `\\d[\\d.]*(?: \\d{3})*(?: (?:${UNIT}))?(?:/s)?`;
const WHOLE = new RegExp(`${OPTION}|${NUMBER}`, "g");

export function Words({ text }: { text: string }) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(WHOLE)) {
    const whole = found[0];
    // What has no place to break needs no help.
    if (!/[ -]/.test(whole)) continue;
    parts.push(text.slice(end, found.index));
    parts.push(
      <span class="whole" key={found.index}>
        {whole}
      </span>,
    );
    end = found.index + whole.length;
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}
