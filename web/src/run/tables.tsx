/** The words and tables of a run. */

import { count, figure } from "../format";
import type {
  CheckRow,
  ErrorResponseRow,
  ErrorRow,
  Fact,
  MetricRow,
  PercentileRow,
  StatusRow,
  TimedFigure,
  TimeRow,
  ValidityText,
} from "../generated/page";
import { Words } from "../words";
import { Scroll } from "../scroll";

const SIGNS = { good: "✓", plain: "✓", doubtful: "!", bad: "✗" };

const OUTCOMES = {
  passed: { tone: "good", text: "✓ passed" },
  failed: { tone: "bad", text: "✗ failed" },
  undecided: { tone: "", text: "? undecided" },
};

/** Whether the figures may be believed. */
export function Verdict({ validity }: { validity: ValidityText }) {
  return (
    <section class="verdicts" aria-label="Verdict">
      <div class={`verdict ${validity.tone}`}>
        <strong>
          <span aria-hidden="true">{SIGNS[validity.tone]}</span> {validity.claim}
        </strong>
        {validity.findings.length > 0 && (
          <ul>
            {validity.findings.map((finding) => (
              <li key={finding}>
                <Words text={finding} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((fact, index) => (
        <div key={index}>
          <dt>{fact.name}</dt>
          <dd>
            <Words text={fact.text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Notes({ title, notes }: { title: string; notes: string[] }) {
  if (notes.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="notes">
        {notes.map((note) => (
          <li key={note}>
            <Words text={note} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Percentiles({ rows, note }: { rows: PercentileRow[]; note: string }) {
  if (rows.length === 0) return <p>No responses, so there are no percentiles.</p>;
  const service = rows.some((row) => row.service.us !== null);
  return (
    <>
      <p class="hint kept">{note}</p>
      <PercentileTable rows={rows} service={service} />
    </>
  );
}

function PercentileTable({ rows, service }: { rows: PercentileRow[]; service: boolean }) {
  return (
    <Scroll>
      <table>
        <caption class="unseen">Percentiles of the response time</caption>
        <thead>
          <tr>
            <th scope="col">Percentile</th>
            <th scope="col" class="number">
              Response
            </th>
            <th scope="col">95 % interval</th>
            {service && (
              <th scope="col" class="number">
                Service
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              <Time of={row.response} columns={row.response.us === null ? 2 : 1} />
              {row.response.us !== null && <Interval text={row.response.interval ?? ""} />}
              {service && <Time of={row.service} />}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** An interval, and what else is said of the figure; that may go on in a further line. */
function Interval({ text }: { text: string }) {
  const [interval, ...more] = text.split("; ");
  return (
    <td class="faint wraps">
      <span class="whole">{interval}</span>
      {more.length > 0 && `; ${more.join("; ")}`}
    </td>
  );
}

function Time({ of, columns = 1 }: { of: TimedFigure; columns?: number }) {
  const words = columns === 1 ? "faint wraps number" : "faint wraps";
  return (
    <td class={of.us === null ? words : "number"} colSpan={columns}>
      {of.text}
    </td>
  );
}

export function Checks({ checks }: { checks: CheckRow[] }) {
  if (checks.length === 0) return null;
  return (
    <section>
      <h2>Checks</h2>
      <Scroll>
        <table>
          <caption class="unseen">Each check and what was measured</caption>
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Result</th>
              <th scope="col" class="number">
                Measured
              </th>
            </tr>
          </thead>
          <tbody>
            {checks.map((check) => (
              <tr key={check.text}>
                <th scope="row">
                  <code>{check.text}</code>
                </th>
                <td class={`whole ${OUTCOMES[check.outcome].tone}`}>
                  {OUTCOMES[check.outcome].text}
                </td>
                <td class="number">
                  {check.actual}
                  {check.why !== null && <div class="faint">{check.why}</div>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

interface TimesProps {
  columns: string[];
  rows: TimeRow[];
  notes: string[];
}

/** As the other headings: `Mean`, but `p50`. */
export function heading(name: string): string {
  return /^p\d/.test(name) ? name : name.charAt(0).toUpperCase() + name.slice(1);
}

export function Times({ columns, rows, notes }: TimesProps) {
  if (rows.length === 0) return null;
  const longest = Math.max(...rows.map((row) => row.mean_us));
  return (
    <section>
      <h2>Time spent</h2>
      {notes.length > 0 && <p class="hint kept">{notes.join(" ")}</p>}
      <Scroll>
        <table>
          <caption class="unseen">Where the time went</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="number">
                Count
              </th>
              {columns.map((name) => (
                <th scope="col" class="number" key={name}>
                  {heading(name)}
                </th>
              ))}
              <th scope="col" class="wide">
                Mean as a bar
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" class={row.within_service ? "inner" : ""}>
                  {row.name}
                </th>
                <td class="number">{count(row.count)}</td>
                {row.cells.map((cell, index) => (
                  <td class="number" key={index}>
                    {cell}
                  </td>
                ))}
                <td class="wide">
                  <span
                    class="bar"
                    style={{ width: `${longest > 0 ? (100 * row.mean_us) / longest : 0}%` }}
                    title={figure("us", row.mean_us)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

export function Metrics({ rows, notes }: { rows: MetricRow[]; notes: string[] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Metrics of the script</h2>
      {notes.length > 0 && <p class="hint kept">{notes.join(" ")}</p>}
      <Scroll>
        <table>
          <caption class="unseen">What the script counted by itself</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Kind</th>
              <th scope="col">Figures</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.name}</th>
                <td>{row.kind}</td>
                <td>
                  {row.figures.map(({ name, text }) => `${name} ${text}`).join(", ") || "no value"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

export function Statuses({ rows }: { rows: StatusRow[] }) {
  if (rows.length === 0) return null;
  const all = rows.reduce((sum, row) => sum + row.count, 0);
  return (
    <section>
      <h2>Statuses</h2>
      <table>
        <caption class="unseen">Responses by status</caption>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Answers
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.status}>
              <th scope="row" class={row.status >= 400 ? "bad" : ""}>
                {row.status}
              </th>
              <td class="number">{count(row.count)}</td>
              <td class="number">{figure("percent", (100 * row.count) / all)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Errors({ rows }: { rows: ErrorRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Errors</h2>
      <Scroll>
        <table>
          <caption class="unseen">Failures by kind</caption>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col">What to do</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.kind}>
                <th scope="row" class="bad">
                  {row.kind}
                </th>
                <td class="number">{count(row.count)}</td>
                <td>
                  {row.example && <code>{row.example}</code>} {row.advice}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** What servers answered with error statuses: an example of each name and status. */
export function ErrorResponses({ rows }: { rows: ErrorResponseRow[] }) {
  if (rows.length === 0) return null;
  const isNamed = rows.some((row) => row.name !== "");
  return (
    <section>
      <h2>Error responses</h2>
      <p class="hint kept">The first response of each status, with the beginning of its body.</p>
      <Scroll>
        <table class="bodies">
          <caption class="unseen">An example of each error status</caption>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col" class="number">
                Answers
              </th>
              {isNamed && <th scope="col">Name</th>}
              <th scope="col" class="number">
                First at
              </th>
              <th scope="col">Body</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.status} ${row.name}`}>
                <th scope="row" class="bad">
                  {row.status}
                  {row.is_rejected && " rejected"}
                </th>
                <td class="number">{count(row.count)}</td>
                {isNamed && <td>{row.name}</td>}
                <td class="number">{row.at}</td>
                <td>
                  {row.body ? <Body text={row.body + (row.is_cut ? " …" : "")} /> : "no body"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** The longest body that is shown without being opened, in letters. */
const SHORT = 120;

/** A body: a long one is opened by a press. */
function Body({ text }: { text: string }) {
  if (text.length <= SHORT && !text.includes("\n")) return <code>{text}</code>;
  const first = text.slice(0, SHORT).split("\n")[0];
  return (
    <details>
      <summary>
        <code>{first}</code>
      </summary>
      <pre>{text}</pre>
    </details>
  );
}
