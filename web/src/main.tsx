/** Reads the page's data and draws it. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import type { Page } from "./generated/page";
import { Live } from "./live/live";
import { Report } from "./report";

const data = document.getElementById("page")!.textContent!;
const page = JSON.parse(data) as Page;
const root = document.getElementById("root")!;
document.title = page.kind === "live" ? "Loadline" : `${page.title} · Loadline`;
render(page.kind === "live" ? <Live version={page.version} /> : <Report page={page} />, root);
