// The Agents tab: polls agents/live every two seconds, fills the tables and Bokeh's sources. All text goes in as text.
"use strict";
(() => {
  const here = new URL(".", document.currentScript.src), every_ms = 2000;
  const given = window.templateArgs || {};
  const is_ours = Boolean(given.agents && given.agents.length && !given.show_userclass_picker);
  if (is_ours) given.missing_host_warning = false;  // the scenario has it
  const $ = (name) => panel.querySelector(`[data-${name}]`);
  const url = () => new URLSearchParams(location.search);

  // Before Locust's own script has read the address: our tab is the one that is open.
  if (!url().has("tab")) {
    const first = new URL(location.href);
    first.searchParams.set("tab", "agents");
    history.replaceState(null, "", first);
  }

  const panel = document.createElement("section");
  panel.id = "agents";
  panel.hidden = true;
  panel.innerHTML = `
    <div class="state"><b data-name></b><span data-state></span><span data-totals></span></div>
    <p class="quiet" data-said></p><details class="quiet" data-heard hidden><summary></summary><ul></ul></details><p class="bad" data-error></p><p class="bad" data-faults></p>
    <p class="client" data-client hidden></p><div data-doubts></div>
    <div data-end hidden><h3>The run's end: <span data-verdict></span></h3><pre data-text></pre><p class="quiet" data-folder></p></div>
    <div data-body hidden>
      <div data-doing><h3>Who is doing what now</h3><div class="wide tall" data-now></div></div>
      <h3>Over time</h3>
      <p class="quiet">Line: median, dashed: p95 (from 20 turns on), of the last 30 s. Dot: the worst. Triangle: not ended
        when it was given up. A click in a legend hides a line.</p>
      <div class="charts"><div class="chart half" id="agents-ttft"></div><div class="chart half" id="agents-stall"></div>
        <div class="chart" id="agents-prefill"></div><div class="chart" id="agents-reuse"></div><div class="chart" id="agents-open"></div></div>
      <h3>Turns so far</h3><div class="wide" data-table></div>
      <div class="two"><div><h3>Cluster</h3><div class="wide" data-ranks></div><p data-cache></p></div>
        <div><h3>What happened in it</h3><ul data-notes></ul></div></div>
    </div>`;

  const element = (kind, text, name) => {
    const made = document.createElement(kind);
    if (text !== undefined && text !== null) made.textContent = text;
    if (name) made.className = name;
    return made;
  };

  function table(head, rows, words) {
    const made = element("table"), top = element("tr");
    head.forEach((text, n) => top.append(element("th", text, n < words ? "words" : "")));
    made.append(element("thead"), element("tbody"));
    made.tHead.append(top);
    for (const cells of rows) {
      const row = element("tr", null, cells.name);
      cells.forEach((cell, n) => {
        const place = element("td", cell instanceof Node ? null : cell, n < words ? "words" : "");
        if (cell instanceof Node) place.append(cell);
        else if (n < words) place.title = cell;
        row.append(place);
      });
      made.tBodies[0].append(row);
    }
    return made;
  }

  function clock(seconds) {
    const whole = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
    return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  }

  function doing(row) {
    if (row.phase !== "prefill" || !row.total) return row.phase;
    const made = element("span"), bar = element("span", null, "bar"), full = element("i");
    full.style.width = `${Math.min(100, (100 * row.done) / row.total)}%`;
    bar.append(full);
    made.append(bar, `${Math.floor((100 * row.done) / row.total)} % of ${row.total.toLocaleString("en")} tokens`);
    return made;
  }

  function nowRows(rows) {
    return rows.map((row) => {
      const speed = row.speed === null || row.speed === undefined ? "" : `${row.is_bound ? "≥ " : ""}${row.speed.toLocaleString("en")}`;
      const open = row.turn !== undefined;
      const cells = [row.agent, open ? row.kind : "", doing(row), open ? String(row.turn) : "", speed, open ? row.for_s.toFixed(1) : ""];
      cells.name = open ? "" : "pause";
      return cells;
    });
  }

  // What the client itself did to the figures: one line, and below it why they are not to be trusted.
  function client(parts, doubts) {
    $("client").hidden = !parts.length;
    $("client").replaceChildren(element("b", "client"), ...parts.map(([name, value]) => {
      const made = element("span", `${name} `);
      made.append(element("b", value));
      return made;
    }));
    $("doubts").replaceChildren(...doubts.map((doubt) => element("p", `doubt: ${doubt}`, "bad doubt")));
  }

  const happened = (notes) => notes.map(({ at, what }) => element("li", `${new Date(at * 1000).toLocaleTimeString("en-GB")}  ${what}`));

  // While it is prepared the last sentence; all that was said before stays to be read, also by who opens the page later.
  function heard(said, is_waiting) {
    $("said").textContent = is_waiting && said.length ? said.at(-1).what : "";
    $("heard").hidden = !said.length;
    $("heard").querySelector("summary").textContent = `What was said (${said.length})`;
    $("heard").querySelector("ul").replaceChildren(...happened(said));
  }

  const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  function show(told) {
    $("name").textContent = told.name;
    $("state").textContent = told.elapsed_s === null ? (told.on ? "preparing" : "not started")
      : `${told.on ? (told.draining ? "draining" : "running") : "ended"}, ${clock(told.elapsed_s)}`;
    heard(told.said, told.elapsed_s === null);
    $("error").textContent = told.error || "";
    const has = told.elapsed_s !== null;
    $("body").hidden = !has;
    $("totals").textContent = has ? [plural(told.turns, "turn"), `${told.failures} failed`,
      ...(told.cut ? [`${told.cut} cut`] : []),
      `${plural(told.now.filter((row) => row.turn !== undefined).length, "turn")} open`].join(" · ") : "";
    $("faults").textContent = has ? told.faults.join(" · ") : "";
    client(has ? told.client : [], has ? told.doubts : []);
    $("end").hidden = !(has && told.end);
    if (!has) return;
    if (told.end) {
      $("verdict").textContent = `${told.end.word} (status ${told.end.status})`;
      $("text").textContent = told.end.text;
      $("folder").textContent = told.end.folder && `All of it: ${told.end.folder}`;
    }
    $("doing").hidden = !told.on;
    const rows = table(["agent", "kind", "doing", "turn", "prefill tokens/s", "for, s"], nowRows(told.now), 3);
    $("now").replaceChildren(rows, ...(told.more ? [element("p", `and ${told.more} more`, "quiet")] : []));
    $("table").replaceChildren(table(told.table.head, told.table.rows, 2));
    const { ranks, cache, notes, url: server, epoch } = told.cluster;
    $("ranks").replaceChildren(table(["rank", "host", "memory", "most"], ranks, 2));
    $("cache").textContent = `Prompt cache: ${cache}. Server: ${server || "–"}${epoch > 1 ? `, start ${epoch}` : ""}`;
    $("notes").replaceChildren(...(notes.length ? [] : [element("li", "nothing yet", "quiet")]), ...happened(notes));
  }

  // ---- charts: Bokeh's documents come from the server, for a light or a dark page
  let drawn = "", drawing = false;
  const documents = [], managers = [];

  const is_dark = () => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
    return red + green + blue < 384;
  };

  function loaded() {
    return window.Bokeh ? Promise.resolve() : new Promise((done, failed) => {
      const script = element("script");
      Object.assign(script, { src: new URL("bokeh.min.js", here), onload: done, onerror: failed });
      document.head.append(script);
    });
  }

  async function draw(wanted, look) {
    drawing = true;
    try {
      await loaded();
      const items = await (await fetch(new URL(`charts/${look}`, here))).json();
      managers.splice(0).forEach((one) => one.clear());
      documents.splice(0).forEach((one) => Bokeh.documents.splice(Bokeh.documents.indexOf(one), 1));
      for (const [name, item] of Object.entries(items)) {
        const place = document.getElementById(`agents-${name}`);
        place.replaceChildren();
        const before = new Set(Bokeh.documents);
        managers.push(await Bokeh.embed.embed_item(item, place.id));
        documents.push(...Bokeh.documents.filter((one) => !before.has(one)));
      }
      drawn = wanted;
      fill(latest);
    } finally {
      drawing = false;
    }
  }

  // What the mouse is told of a figure, by its column; seconds where none is named.
  const whole = (value) => Math.round(value).toLocaleString("en"), mean = (value) => value.toFixed(1);
  const formats = { t: clock, prefill: whole, bound: whole, queued: mean, prefilling: mean, decoding: mean,
    reuse: (value) => `${Math.floor(value * 100 + 1e-6)} %` };
  const seconds = (value) => (value < 0.0995 ? `${Math.round(value * 1000)} ms` : `${value.toPrecision(3)} s`);

  function said_of(key, values) {
    return values.map((value) => (value === null ? "–" : (formats[key] || seconds)(value)));
  }

  function data_of(columns) {
    return Object.fromEntries(Object.entries(columns).flatMap(([key, values]) => [
      [key, Float64Array.from(values, (value) => (value === null ? NaN : value))],
      [`${key}_said`, said_of(key, values)],
    ]));
  }

  function fill(told) {
    const all = Object.entries(told.columns).map(([name, columns]) => [name, data_of(columns)]);
    for (const one of documents) {
      for (const [name, data] of all) {
        const source = one.get_model_by_name(name);
        if (source) source.data = data;
      }
    }
  }

  function redraw() {
    if (!latest || !latest.columns || drawing || panel.hidden || !panel.isConnected) return;
    const look = is_dark() ? "dark" : "light", wanted = JSON.stringify([latest.run, latest.entries, look]);
    panel.classList.toggle("dark", look === "dark");
    panel.style.setProperty("--paper", getComputedStyle(document.body).backgroundColor);
    if (wanted === drawn) fill(latest);
    else draw(wanted, look).catch((error) => console.warn("the charts could not be drawn", error));
  }

  // ---- where it is put: below Locust's tabs, when ours is chosen
  let latest = null;

  function place() {
    const tabs = document.querySelector("#root .MuiTabs-root"), room = tabs && tabs.closest(".MuiContainer-root");
    const was_hidden = panel.hidden, was_dark = panel.classList.contains("dark");
    panel.hidden = !room || url().get("tab") !== "agents";
    if (room && panel.parentElement !== room) room.append(panel);
    if (was_hidden && !panel.hidden) refresh();
    else if (was_dark !== is_dark()) redraw();
    numbers();
  }

  // Locust's two fields beside a scenario would change nothing: a sentence stands in their place.
  function numbers() {
    if (!is_ours) return;
    document.documentElement.classList.add("agents-scenario");
    for (const input of document.querySelectorAll('form input[name="userCount"]')) {
      const form = input.closest("form");
      if (form.querySelector("#agents-numbers")) continue;
      const said = element("p", `The scenario says how many agents there are: ${given.agents.map(([name, n]) => `${name} ${n}`).join(", ")}.`);
      said.id = "agents-numbers";
      input.closest(".MuiFormControl-root").before(said);
      const more = [...form.querySelectorAll(".MuiAccordionSummary-root")].find((one) => one.textContent.includes("Custom"));
      if (more && more.getAttribute("aria-expanded") !== "true") more.click();
    }
  }

  async function refresh() {
    if (panel.hidden || !panel.isConnected || document.hidden) return;
    try {
      const answer = await fetch(new URL("live", here), { redirect: "error" });
      if (!answer.ok) throw new Error(answer.status);
      latest = await answer.json();
    } catch {
      $("state").textContent = "Locust does not answer";
      return;
    }
    show(latest);
    redraw();
  }

  new MutationObserver(place).observe(document.getElementById("root"), { childList: true, subtree: true });
  addEventListener("popstate", place);
  addEventListener("click", () => requestAnimationFrame(place));
  place();
  setInterval(refresh, every_ms);
})();
