/** Reads the page's data and draws it. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import type { Page } from "./generated/page";
import { Report } from "./report";

const data = document.getElementById("page")!.textContent!;
const page = JSON.parse(data) as Page;
document.title = `${page.title} · Loadline`;
render(<Report page={page} />, document.getElementById("root")!);
