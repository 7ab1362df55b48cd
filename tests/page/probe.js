// Looks at a report as a reader would, and writes down what it saw.
(() => {
  const saw = { errors: [], plots: [], requests: [], files: [], order: [] };
  const wrong = (what) => saw.errors.push(String(what));
  addEventListener("error", (event) => wrong(event.message ?? event.target), true);
  addEventListener("unhandledrejection", (event) => wrong(event.reason));
  addEventListener("securitypolicyviolation", (event) => wrong(`fetched ${event.blockedURI}`));
  console.error = (...words) => wrong(words.join(" "));

  // How many pixels of a plot have a colour: grid and words are grey.
  const coloured = (figure) => {
    const canvas = figure.querySelector("canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let found = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      const [red, green, blue, alpha] = pixels.slice(at, at + 4);
      if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) found += 1;
    }
    return found;
  };
  // How many pixels have about this colour.
  const like = (figure, words) => {
    const wanted = words.match(/\d+/g).map(Number);
    const canvas = figure.querySelector("canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let found = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      const near = (channel) => Math.abs(pixels[at + channel] - wanted[channel]) < 24;
      if (pixels[at + 3] > 128 && near(0) && near(1) && near(2)) found += 1;
    }
    return found;
  };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // What the reader would be given to save.
  const saved = [];
  HTMLAnchorElement.prototype.click = function () {
    saved.push(fetchless(this.href, this.download));
  };
  const blobs = new Map();
  const create = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    const href = create.call(URL, blob);
    blobs.set(href, blob);
    return href;
  };
  const fetchless = async (href, name) => {
    const blob = blobs.get(href);
    const head = await blob.slice(0, 16).text();
    saw.files.push({ name, type: blob.type, size: blob.size, svg: head.startsWith("<svg") });
  };

  addEventListener("load", async () => {
    await pause(1500);
    for (const figure of document.querySelectorAll("figure.chart")) {
      const plot = { name: figure.id, coloured: coloured(figure) };
      const last = [...figure.querySelectorAll(".legend button")].at(-1);
      if (last) {
        const ink = getComputedStyle(last.querySelector(".sample")).backgroundColor;
        plot.shown = like(figure, ink);
        last.click();
        await pause(50);
        plot.hidden = like(figure, ink);
        plot.pressed = last.getAttribute("aria-pressed");
        last.click();
        await pause(50);
        plot.again = like(figure, ink);
      }
      saw.plots.push(plot);
    }
    const figure = document.querySelector("figure.chart");
    const over = figure?.querySelector(".u-over");
    if (over) {
      const { left, top, width } = over.getBoundingClientRect();
      const mouse = (type, share) =>
        over.dispatchEvent(
          new MouseEvent(type, {
            clientX: left + share * width,
            clientY: top + 50,
            bubbles: true,
            button: 0,
            movementX: 10,
          }),
        );
      for (const [type, share] of [
        ["mouseenter", 0.3],
        ["mousemove", 0.3],
        ["mousedown", 0.3],
        ["mousemove", 0.6],
      ]) {
        mouse(type, share);
        await pause(50);
      }
      saw.tip = figure.querySelector(".tip")?.textContent ?? null;
      document.dispatchEvent(
        new MouseEvent("mouseup", {
          clientX: left + 0.6 * width,
          clientY: top + 50,
          bubbles: true,
        }),
      );
      await pause(100);
      const tools = () => [...figure.querySelectorAll(".tools button")];
      const all = tools().find((button) => button.textContent === "Show all");
      saw.zoomed = all !== undefined;
      all?.click();
      await pause(100);
      saw.whole = tools().every((button) => button.textContent !== "Show all");
    }
    for (const button of figure?.querySelectorAll(".tools button") ?? []) button.click();
    for (let wait = 0; figure && saved.length < 2 && wait < 4000; wait += 1) await pause(250);
    await Promise.all(saved);
    saw.added = [...document.querySelectorAll("section.added table")].map((table) =>
      [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
    );
    const heading = [...document.querySelectorAll("table.runs thead button")][1];
    if (heading) {
      const column = () =>
        [...document.querySelectorAll("table.runs tbody tr")].map(
          (row) => row.cells[2].textContent,
        );
      for (let press = 0; press < 2; press += 1) {
        heading.click();
        await pause(100);
        saw.order.push({ sort: heading.closest("th").ariaSort, first: column()[0] });
      }
    }
    saw.requests = performance.getEntriesByType("resource").map((entry) => entry.name);
    saw.wider = document.documentElement.scrollWidth > innerWidth;
    const note = document.createElement("pre");
    note.id = "probe";
    note.textContent = JSON.stringify(saw);
    document.body.append(note);
  });
})();
