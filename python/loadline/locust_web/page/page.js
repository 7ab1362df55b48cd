"use strict";

const args = window.templateArgs;
const RUNNING = ["spawning", "running", "cleanup", "stopping"];
const EVERY_MS = 2000;
const MOST_POINTS = 2000;

/** What is known of the test. */
const now = {
  state: args.state,
  figures: null,
  users: args.num_users || 1,
  rate: args.spawn_rate || 1,
  tab: new URLSearchParams(location.search).get("tab") || "stats",
  sort: { key: null, down: true },
  isNew: false,
  points: [],
  notes: [],
  // The instant that a note is to be about; none for now.
  noteAt: null,
  // By how much the server's clock is ahead, in milliseconds.
  ahead: 0,
};

async function ask(path, given) {
  const answer = await fetch(path, given);
  const isLogin = answer.redirected && new URL(answer.url).pathname.endsWith("/login");
  if (isLogin) location.assign(answer.url);
  if (!answer.ok) throw new Error((await answer.text()) || `${path}: ${answer.status}`);
  return answer;
}

async function post(path, body) {
  try {
    const answer = await ask(path, { method: "POST", body });
    say("");
    return answer;
  } catch (error) {
    say(String(error.message || error));
    return null;
  }
}

/** Numbers as tables have them. */
function round(value, digits = 0) {
  return (value ?? 0).toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Key of a figure, title of its column, and how it is written; columns without are text. */
const shares = args.percentiles_to_statistics;
const COLUMNS = [
  ["method", "Type"],
  ["name", "Name"],
  ["num_requests", "# Requests", round],
  ["num_failures", "# Fails", round],
  ["median_response_time", "Median (ms)", round],
  ...shares.map((one) => [
    `response_time_percentile_${one}`,
    `${+(one * 100).toFixed(6)}%ile (ms)`,
    round,
  ]),
  ["avg_response_time", "Average (ms)", (value) => round(value, 2)],
  ["min_response_time", "Min (ms)", round],
  ["max_response_time", "Max (ms)", round],
  ["avg_content_length", "Average size (bytes)", (value) => round(value, 1)],
  ["current_rps", "Current RPS", (value) => round(value, 1)],
  ["current_fail_per_sec", "Current Failures/s", (value) => round(value, 1)],
];
const FAILURES = [
  ["occurrences", "# Failures", round],
  ["method", "Method"],
  ["name", "Name"],
  ["error", "Message"],
  ["first_seen", "First Seen", moment],
  ["last_seen", "Last Seen", moment],
];
const EXCEPTIONS = [
  ["count", "# occurrences", round],
  ["msg", "Message"],
  ["traceback", "Traceback", (text) => make("pre", {}, text), "text"],
  ["nodes", "Nodes"],
];
const WORKERS = [
  ["id", "Worker"],
  ["state", "State"],
  ["user_count", "# users", round],
  ["cpu_usage", "CPU usage (%)", (value) => round(value, 1)],
  ["memory_usage", "Memory usage (MB)", (value) => round(value / 1e6, 1)],
];

function moment(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleTimeString() : "";
}

function table(columns, rows, total) {
  if (!rows.length && !total) return make("p", { className: "faint" }, "Nothing yet.");
  const body = [...sorted(rows).map((row) => line(columns, row))];
  if (total) body.push(line(columns, total, "total"));
  const head = make("tr", {}, ...columns.map(heading));
  return make(
    "div",
    { className: "wide" },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)),
  );
}

function sorted(rows) {
  const { key, down } = now.sort;
  if (!rows.length || !(key in rows[0])) return rows;
  const order = (a, b) => (a[key] > b[key] ? 1 : a[key] < b[key] ? -1 : 0);
  return [...rows].sort((a, b) => (down ? -order(a, b) : order(a, b)));
}

function heading([key, title, written, kind]) {
  const order = now.sort.key === key ? (now.sort.down ? "descending" : "ascending") : "none";
  const sort = () => {
    now.sort = { key, down: now.sort.key === key ? !now.sort.down : true };
    showTab();
  };
  const button = make("button", { type: "button", onclick: sort }, title);
  const look = kind || (written ? "" : "text");
  return make("th", { scope: "col", className: look, "aria-sort": order }, button);
}

function line(columns, row, className = "") {
  const cells = columns.map(([key, , written, kind]) => {
    const isBad = (key === "num_failures" || key === "current_fail_per_sec") && row[key] > 0;
    const look = kind || (written ? (isBad ? "bad" : "") : "text");
    return make("td", { className: look }, written ? written(row[key]) : String(row[key] ?? ""));
  });
  return make("tr", { className }, ...cells);
}

/** The tabs: title, and what its panel has; most ask for it when they are opened. */
const TABS = {
  stats: ["Statistics", () => statistics()],
  charts: ["Charts", () => charts()],
  failures: ["Failures", () => table(FAILURES, now.figures?.errors || [])],
  exceptions: [
    "Exceptions",
    async () => table(EXCEPTIONS, (await json("exceptions")).exceptions),
  ],
  ratios: ["Current Ratio", async () => ratios(await json("tasks"))],
  reports: ["Download Data", () => downloads()],
  logViewer: ["Logs", async () => logs(await json("logs"))],
};
if (args.is_distributed) {
  TABS.workers = ["Workers", () => table(WORKERS, now.figures?.workers || [])];
}
for (const { key, title } of args.extended_tabs || []) TABS[key] = [title, () => extended(key)];
if (!TABS[now.tab]) now.tab = "stats";

async function json(path) {
  return (await ask(path)).json();
}

function statistics() {
  const rows = now.figures?.stats || [];
  return table(COLUMNS, rows.slice(0, -1), rows.at(-1));
}

function charts() {
  const times = now.points.map((one) => one.time);
  const line = (name, key) => ({ name, values: now.points.map((one) => one[key]) });
  const percentiles = args.percentiles_to_chart.map((share) =>
    line(`${+(share * 100).toFixed(6)}th percentile`, `response_time_percentile_${share}`),
  );
  const rates = [line("RPS", "current_rps"), line("Failures/s", "current_fail_per_sec")];
  const users = [line("Number of Users", "user_count")];
  return make(
    "div",
    {},
    chart("Total Requests per Second", times, rates, now.notes, noteAt),
    chart("Response Times (ms)", times, percentiles, now.notes, noteAt),
    chart("Number of Users", times, users, now.notes, noteAt),
    noted(),
  );
}

/** The notes by their numbers in the charts. */
function noted() {
  if (!now.notes.length) {
    const how = "Press the axis of time below a chart for a note on that instant.";
    return make("p", { className: "faint" }, how);
  }
  const rows = now.notes.map(({ at, text }) =>
    make("li", {}, make("span", { className: "faint" }, `${clock(at)} `), text),
  );
  return make("section", {}, make("h2", {}, "Notes"), make("ol", { className: "notes" }, ...rows));
}

/** Chooses the instant that the next note is about; null is now. */
function noteAt(at) {
  now.noteAt = at;
  byId("when").textContent = at === null ? "Note on now" : `Note on ${clock(at)}`;
  byId("now").hidden = at === null;
  if (at !== null) byId("note").querySelector("input").focus();
}

async function writeNote(form) {
  const said = new URLSearchParams(new FormData(form));
  if (now.noteAt !== null) said.set("at", String(now.noteAt / 1000));
  if (!(await post("loadline/note", said))) return;
  form.reset();
  noteAt(null);
  await refresh();
}

async function takeNotes() {
  const told = await json("loadline/notes");
  now.ahead = told.now * 1000 - Date.now();
  now.notes = told.notes.map((one) => ({ ...one, at: one.at * 1000 }));
}

function ratios({ per_class, total }) {
  const level = (shares) =>
    make(
      "ul",
      {},
      ...Object.entries(shares).map(([name, { ratio, tasks }]) =>
        make("li", {}, `${(ratio * 100).toFixed(1)} % ${name}`, tasks ? level(tasks) : null),
      ),
    );
  const part = (title, shares) => make("section", {}, make("h2", {}, title), level(shares));
  return make("div", {}, part("Ratio Per Class", per_class), part("Total Ratio", total));
}

function downloads() {
  const files = [
    ["stats/requests/csv", "Download requests CSV"],
    ["stats/failures/csv", "Download failures CSV"],
    ["exceptions/csv", "Download exceptions CSV"],
    ["stats/report", "Show the report"],
    ["stats/report?download=1", "Download the report"],
    ...(args.extended_csv_files || []).map(({ href, title }) => [href, title]),
  ];
  if (args.stats_history_enabled) {
    files.push(["stats/requests_full_history/csv", "Download full request statistics history CSV"]);
  }
  const links = files.map(([href, title]) => make("li", {}, make("a", { href }, title)));
  return make("ul", {}, ...links);
}

function logs({ master, workers }) {
  const part = (title, lines) =>
    make("section", {}, make("h2", {}, title), make("pre", {}, lines.join("\n") || "Nothing."));
  const others = Object.entries(workers).map(([name, lines]) => part(name, lines));
  return make("div", {}, part("Log", master), ...others);
}

/** A table that a locustfile added, with what it added to the figures. */
function extended(key) {
  const known = (args.extended_tables || []).find((one) => one.key === key);
  const told = (now.figures?.extended_stats || []).find((one) => one.key === key);
  const columns = (known?.structure || []).map((one) => [one.key, one.title]);
  return table(columns, Array.isArray(told?.data) ? told.data : []);
}

let shownAt = 0;
async function showTab() {
  const turn = ++shownAt;
  byId("note").hidden = now.tab !== "charts";
  const [, panel] = TABS[now.tab];
  for (const button of byId("tabs").children) {
    button.setAttribute("aria-selected", String(button.dataset.tab === now.tab));
  }
  try {
    const content = await panel();
    // Another tab may have been opened meanwhile, and what is being selected is left alone.
    const isSelecting = String(getSelection() || "") && byId("panel").dataset.tab === now.tab;
    if (turn !== shownAt || isSelecting) return;
    byId("panel").dataset.tab = now.tab;
    byId("panel").replaceChildren(content);
  } catch (error) {
    say(`The page can't be reached: ${error.message}`);
  }
}

function makeTabs() {
  for (const [key, [title]] of Object.entries(TABS)) {
    const open = () => {
      now.tab = key;
      history.replaceState(null, "", `?tab=${key}`);
      showTab();
    };
    const given = { type: "button", role: "tab", onclick: open };
    const button = make("button", given, title);
    button.dataset.tab = key;
    byId("tabs").append(button);
  }
}

function showHead() {
  const told = now.figures;
  const facts = [
    ["Host", now.host || "–", "words"],
    ["Status", now.state, "words"],
    ["Users", round(told?.user_count ?? args.user_count)],
    ...(args.is_distributed ? [["Workers", round(told?.worker_count ?? args.worker_count)]] : []),
    ["RPS", round(told?.current_rps, 1)],
    ["Failures", `${round((told?.fail_ratio ?? 0) * 100, 1)} %`],
  ];
  const parts = facts.map(([name, value, look]) =>
    make("div", {}, make("dt", {}, name), make("dd", { className: look || "" }, value)),
  );
  byId("head").replaceChildren(...parts);
}

function showButtons() {
  const runs = RUNNING.includes(now.state);
  const isFirst = now.state === "ready";
  byId("edit").hidden = !runs || Boolean(args.hide_common_options);
  byId("stop").hidden = !runs;
  byId("new").hidden = runs || isFirst || now.isNew;
  byId("reset").hidden = isFirst;
  byId("start").hidden = !(isFirst || now.isNew) || runs;
  byId("shown").hidden = isFirst;
}

/** Fields of a form for the load; `isStart` for those that a running test has no more. */
function loadFields(isStart) {
  const [users, rate] = ["Number of users (peak concurrency)", "Ramp up (users started/second)"];
  const count = { type: "number", min: 0, step: 1, required: true, value: now.users };
  const speed = { type: "number", min: 0, step: "any", required: true, value: now.rate };
  const load = make("fieldset", { name: "load", className: "load" },
    field(users, "user_count", count), field(rate, "spawn_rate", speed));
  const custom = Object.entries(args.extra_options || {}).map(([name, told]) =>
    argument(name, told),
  );
  if (!isStart) return [load, ...custom];
  return [...pickers(load), args.hide_common_options ? null : load, ...hostFields(), ...custom];
}

function hostFields() {
  const warnings = [
    args.override_host_warning && "replaces the hosts of all classes",
    args.missing_host_warning && "some classes have none",
  ].filter(Boolean);
  const label = warnings.length ? `Host (${warnings.join("; ")})` : "Host";
  const required = Boolean(args.is_host_required);
  const profiles = make("datalist", { id: "profiles" },
    ...(args.all_profiles || []).map((value) => make("option", { value })));
  return [
    field(label, "host", { value: args.host || "", required }),
    field("Run time (20, 20s, 3m, 2h, 1h20m)", "run_time", { value: args.run_time || "" }),
    field("Profile", "profile", { value: args.profile || "", list: "profiles" }),
    profiles,
  ];
}

/** Classes to choose among, each with its attributes, and shapes. */
function pickers(load) {
  if (!args.show_userclass_picker) return [];
  const classes = (args.available_user_classes || []).map((name) =>
    make("div", {}, checkbox(name, "user_classes", true, name), attributes(name)),
  );
  const shapes = choice("Shape", "shape_class", args.available_shape_classes, ["Default"]);
  shapes.querySelector("select").addEventListener("change", (event) => {
    const ignored = event.target.value !== "Default" && !args.shape_use_common_options;
    load.disabled = ignored;
  });
  return [
    make("fieldset", {}, make("legend", {}, "User classes"), ...classes),
    args.available_shape_classes.length > 1 ? shapes : null,
  ];
}

function attributes(name) {
  const told = args.users[name];
  // Not fields of the form around it: they are sent for themselves.
  const inputs = Object.entries(told).map(([key, value]) => {
    const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
    const label = field(key, "", { value: text });
    label.querySelector("input").dataset.key = key;
    return label;
  });
  const box = make("details", {}, make("summary", {}, "Attributes"), ...inputs);
  const save = () => saveAttributes(name, told, box);
  box.append(make("button", { type: "button", onclick: save }, "Save"));
  return box;
}

async function saveAttributes(name, told, box) {
  const settings = { user_class_name: name };
  for (const input of box.querySelectorAll("input")) {
    settings[input.dataset.key] = likeBefore(input.value, told[input.dataset.key]);
  }
  if (await post("user", JSON.stringify(settings))) box.open = false;
}

function likeBefore(text, before) {
  if (Array.isArray(before)) return text.split(",").map((one) => one.trim()).filter(Boolean);
  if (typeof before === "number") return Number(text);
  if (before === null || before === undefined) return text || null;
  return text;
}

async function swarm(form) {
  const said = spoken(form);
  const answer = await post("swarm", said);
  if (!answer) return false;
  const told = await answer.json();
  now.host = told.host || now.host;
  if (!told.success) {
    say(told.message);
    return false;
  }
  now.users = said.get("user_count") || now.users;
  now.rate = said.get("spawn_rate") || now.rate;
  return true;
}

function makeForms() {
  const start = byId("swarm");
  start.append(...loadFields(true).filter(Boolean), make("button", { className: "main" }, "Start"));
  start.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await swarm(start))) return;
    now.isNew = false;
    now.state = "spawning";
    await refresh();
  });
  const change = byId("change");
  change.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await swarm(change)) byId("editor").close();
    await refresh();
  });
}

function openEditor() {
  const close = () => byId("editor").close();
  const cancel = make("button", { type: "button", onclick: close }, "Cancel");
  const update = make("button", { className: "main" }, "Update");
  const actions = make("div", { className: "actions" }, update, cancel);
  byId("change").replaceChildren(make("h2", {}, "Change the load"), ...loadFields(false), actions);
  byId("editor").showModal();
}

function takePoint() {
  const told = now.figures;
  if (!RUNNING.includes(told.state)) return;
  now.points.push({
    time: Date.now() + now.ahead,
    current_rps: told.current_rps,
    current_fail_per_sec: told.current_fail_per_sec,
    user_count: told.user_count,
    ...told.current_response_time_percentiles,
  });
  // Of a long test every second point stays.
  if (now.points.length > MOST_POINTS) now.points = now.points.filter((_, i) => i % 2 === 0);
}

function takeHistory() {
  for (const point of args.history || []) {
    const values = Object.entries(point).filter(([, value]) => Array.isArray(value));
    const known = Object.fromEntries(values.map(([name, value]) => [name, value[1]]));
    now.points.push({ ...known, time: Date.parse(point.time) });
  }
}

async function refresh() {
  try {
    now.figures = await json("stats/requests");
    now.state = now.figures.state;
    await takeNotes();
    takePoint();
  } catch (error) {
    say(`The page can't be reached: ${error.message}. It asks again.`);
    now.isLost = true;
    return;
  }
  if (now.isLost) say("");
  now.isLost = false;
  showHead();
  showButtons();
  if (!byId("shown").hidden && !document.hidden) await showTab();
}

async function refreshForEver() {
  await refresh();
  setTimeout(refreshForEver, EVERY_MS);
}

function begin() {
  now.host = args.host;
  byId("file").textContent = args.locustfile || "";
  takeHistory();
  makeTabs();
  makeForms();
  byId("edit").addEventListener("click", openEditor);
  byId("stop").addEventListener("click", async () => {
    await post("stop");
    await refresh();
  });
  byId("reset").addEventListener("click", async () => {
    await post("stats/reset");
    now.points = [];
    await refresh();
  });
  byId("note").addEventListener("submit", (event) => {
    event.preventDefault();
    writeNote(event.target);
  });
  byId("now").addEventListener("click", () => noteAt(null));
  byId("new").addEventListener("click", () => {
    now.isNew = true;
    showButtons();
  });
  showHead();
  showButtons();
  refreshForEver();
}

begin();
