(() => {
  "use strict";
  const PAPER_PX = 680;  // A4 and Letter at 96 px an inch, without the margins
  const models = () => Bokeh.documents.flatMap((doc) => [...doc._all_models.values()]);

  // Canvases know nothing of the page's colours: their text and lines are set when these change.
  function paint(dark) {
    const ink = dark ? "#c6ccd3" : "#3a4149", rule = dark ? "#2f353b" : "#e3e7eb";
    for (const model of models()) {
      if ("major_label_text_color" in model)
        model.setv({ major_label_text_color: ink, axis_label_text_color: ink, axis_line_color: rule,
                     major_tick_line_color: rule, minor_tick_line_color: null });
      else if ("grid_line_color" in model) model.setv({ grid_line_color: rule });
      else if ("background_fill_color" in model && "border_fill_color" in model && "outline_line_color" in model)
        model.setv({ background_fill_color: null, border_fill_color: null, outline_line_color: rule });
      if (model.tags && model.tags.includes("ink"))
        for (const name of ["line_color", "text_color", "border_line_color"])
          if (name in model) model.setv({ [name]: ink });
    }
  }

  // A canvas is drawn for the screen's width: on paper it is made smaller, since it is not drawn anew.
  function fitPaper(isPaper) {
    for (const chart of document.querySelectorAll(".chart")) {
      const width = chart.offsetWidth;
      chart.style.width = isPaper ? `${width}px` : "";
      chart.style.zoom = isPaper && width > PAPER_PX ? PAPER_PX / width : "";
    }
  }

  // On a touch screen a finger on a chart scrolls the page.
  function letFingersScroll() {
    for (const model of models())
      if ("active" in model && (model.type === "BoxZoomTool" || model.type === "PanTool")) model.active = false;
  }

  function show(button) {
    const plot = models().find((model) => model.name === button.dataset.plot);
    if (!plot) return;
    const { x0, x1, y0, y1 } = button.dataset, x = plot.x_range, y = plot.y_range;
    if (button.dataset.move) {
      const by = (x.end - x.start) * Number(button.dataset.move);
      x.setv({ start: x.start + by, end: x.end + by });
    } else if (button.dataset.zoom) {
      const middle = (x.start + x.end) / 2, half = ((x.end - x.start) * Number(button.dataset.zoom)) / 2;
      x.setv({ start: middle - half, end: middle + half });
    } else {
      if (x0 !== undefined) x.setv({ start: Number(x0), end: Number(x1) });
      if (y0 !== undefined) y.setv({ start: Number(y0), end: Number(y1) });
      if (button.dataset.far) document.getElementById(button.dataset.far).scrollIntoView({ block: "center" });
    }
  }

  function begin() {
    const isDark = matchMedia("screen and (prefers-color-scheme: dark)");
    paint(isDark.matches);
    isDark.addEventListener("change", () => paint(isDark.matches));
    addEventListener("beforeprint", () => { paint(false); fitPaper(true); });
    addEventListener("afterprint", () => { fitPaper(false); paint(isDark.matches); });
    if (matchMedia("(pointer: coarse)").matches) letFingersScroll();
    for (const button of document.querySelectorAll("button[data-plot]"))
      button.addEventListener("click", () => show(button));
    document.documentElement.dataset.drawn = "yes";
  }

  // Bokeh draws in its own time; there is no event for "all documents are there" outside of it.
  const wait = () => (Bokeh.documents.length ? begin() : setTimeout(wait, 20));
  wait();
})();
