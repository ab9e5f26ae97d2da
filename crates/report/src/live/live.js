// Follows a run: fetches the part of the page that changes, about once a second, and puts it in place. What a reader has
// done stays: zooms, lines that are switched off, folds, the value under pointer or arrow keys, the focus, the place on the
// page.
(() => {
  const nothing = () => {};
  const charts = () => JSON.parse((document.getElementById("chart-data") || { textContent: "[]" }).textContent);
  const start = () => attach(nothing, { hash: "" });
  const PERIOD = 1000;
  const PATIENCE = 4000;
  let tag = "";
  let failures = 0;
  let pointer = null;
  // Somebody drags a span, or selects: nothing is put in place until he lets go.
  let held = false;
  const follow = (event) => {
    pointer = { x: event.clientX, y: event.clientY };
    held = event.buttons > 0;
  };
  ["pointermove", "pointerdown", "pointerup", "pointercancel"].forEach((type) => addEventListener(type, follow, { passive: true }));
  addEventListener("blur", () => { held = false; });

  const link = (words) => {
    const badge = document.getElementById("link");
    if (!badge) return;
    badge.hidden = !words;
    badge.textContent = words;
  };

  // Where a reader is in a picture, in its own terms: the value on the axis, since the axis grows with the run.
  const reading = (figure, chart) => {
    const mark = figure.querySelector(".main > .cursor:not(.off), .main > .cell:not(.off)");
    if (!mark || !chart) return null;
    const percent = (name) => parseFloat(mark.getAttribute(name) || "0") / 100;
    const share = mark.classList.contains("cell") ? percent("x") + percent("width") / 2 : percent("x1");
    const [from, to] = span(figure) || [chart.x.low, chart.x.high];
    return {
      value: chart.x.scale === "linear" ? from + share * (to - from) : null,
      share,
      // Of a heat map: how long.
      time: chart.borders ? Math.sqrt(chart.borders[rowOf(mark, chart)] * chart.borders[rowOf(mark, chart) + 1]) : null,
    };
  };
  // The part of the time that is zoomed to; null where all of it is shown.
  const span = (figure) => {
    const plot = figure.querySelector(".plot[data-span]");
    return plot ? JSON.parse(plot.dataset.span) : null;
  };
  const [TOP, HEIGHT] = [18, 220];
  const rowOf = (mark, chart) => {
    const rows = chart.borders.length - 1;
    const y = parseFloat(mark.getAttribute("y")) + parseFloat(mark.getAttribute("height")) / 2;
    return Math.max(0, Math.min(rows - 1, Math.floor(((TOP + HEIGHT - y) / HEIGHT) * rows)));
  };

  const remember = () => {
    const numbers = new Map(charts().map((chart) => [chart.id, chart]));
    const kept = { figures: new Map(), folds: new Map(), focus: null, scroll: [], anchor: anchor() };
    document.querySelectorAll("#live figure[id]").forEach((figure) => {
      const off = [...figure.querySelectorAll('.legend button[aria-pressed="false"]')].map((button) => button.textContent);
      const plot = figure.querySelector(".plot");
      kept.figures.set(figure.id, {
        off,
        span: span(figure),
        reading: reading(figure, numbers.get(figure.id)),
        hovered: !!plot && plot.matches(":hover"),
      });
      const table = figure.querySelector(".scroll");
      if (table && (table.scrollLeft || table.scrollTop)) kept.scroll.push([figure.id, table.scrollLeft, table.scrollTop]);
    });
    document.querySelectorAll("#live details").forEach((fold) => kept.folds.set(foldName(fold), fold.open));
    const active = document.activeElement;
    const figure = active && active.closest && active.closest("#live figure[id]");
    if (figure) {
      const entry = active.closest("[data-group]");
      const kinds = [".plot", ".whole", "summary"];
      const what = kinds.find((kind) => active.matches(kind)) || null;
      kept.focus = { id: figure.id, what, name: entry && active.textContent };
    } else if (active && active.tagName === "SUMMARY" && active.closest("#live")) {
      kept.focus = { fold: foldName(active.parentElement) };
    }
    return kept;
  };
  const foldName = (fold) => {
    const figure = fold.closest("figure[id]");
    if (figure) return `${figure.id} ${fold.className}`;
    const summary = fold.querySelector("summary");
    return `${fold.id} ${fold.className} ${summary ? summary.textContent : ""}`;
  };

  // What stands at the top of the window, and where: what is above it may come and go. At the page's own top nothing moves.
  const anchor = () => {
    if (scrollY === 0) return null;
    const parts = [...document.querySelectorAll("#live section[id], #live figure[id], #live details.machine > summary")];
    const found = parts.find((part) => part.getBoundingClientRect().bottom > 0 && part.getClientRects().length);
    return found && { name: anchorName(found), top: found.getBoundingClientRect().top };
  };
  const anchorName = (part) => part.id || foldName(part.parentElement);
  const comeBack = (was) => {
    if (!was) return;
    const parts = [...document.querySelectorAll("#live section[id], #live figure[id], #live details.machine > summary")];
    const found = parts.find((part) => anchorName(part) === was.name);
    if (found) scrollBy({ top: found.getBoundingClientRect().top - was.top, behavior: "instant" });
  };

  const restore = (kept) => {
    document.querySelectorAll("#live details").forEach((fold) => {
      const open = kept.folds.get(foldName(fold));
      if (open !== undefined) fold.open = open;
    });
    const numbers = new Map(charts().map((chart) => [chart.id, chart]));
    if (kept.focus) {
      const figure = kept.focus.id && document.getElementById(kept.focus.id);
      let aim = null;
      if (figure && kept.focus.what) aim = figure.querySelector(kept.focus.what);
      if (figure && kept.focus.name !== null && kept.focus.name !== undefined) {
        aim = [...figure.querySelectorAll(".legend button")].find((button) => button.textContent === kept.focus.name);
      }
      if (kept.focus.fold) {
        aim = [...document.querySelectorAll("#live summary")].find((one) => foldName(one.parentElement) === kept.focus.fold);
      }
      if (aim) aim.focus({ preventScroll: true });
    }
    kept.figures.forEach((was, id) => {
      const figure = document.getElementById(id);
      if (!figure) return;
      figure.querySelectorAll(".legend button").forEach((button) => {
        if (was.off.includes(button.textContent)) button.click();
      });
      const plot = figure.querySelector(".plot");
      if (was.span && plot) plot.dispatchEvent(new CustomEvent("span", { detail: was.span }));
      if (was.reading) point(figure, numbers.get(id), was);
    });
    kept.scroll.forEach(([id, left, top]) => {
      const figure = document.getElementById(id);
      const table = figure && figure.querySelector(".scroll");
      if (table) table.scrollTo(left, top);
    });
    comeBack(kept.anchor);
  };

  // Reads the same place again: under the pointer where it rests there, else the same value.
  const point = (figure, chart, was) => {
    const [plot, main] = [figure.querySelector(".plot"), figure.querySelector(".main")];
    if (!plot || !main || !chart) return;
    const box = main.getBoundingClientRect();
    const [from, to] = span(figure) || [chart.x.low, chart.x.high];
    let share = was.reading.share;
    if (was.reading.value !== null && chart.x.scale === "linear") share = (was.reading.value - from) / (to - from);
    let [x, y] = [box.left + Math.max(0, Math.min(1, share)) * box.width, box.top + TOP + HEIGHT / 2];
    if (was.reading.time && chart.borders) {
      const [first, last] = [chart.borders[0], chart.borders[chart.borders.length - 1]];
      const part = Math.log(was.reading.time / first) / Math.log(last / first);
      y = box.top + TOP + HEIGHT - Math.max(0.001, Math.min(0.999, part)) * HEIGHT;
    }
    if (was.hovered && pointer) [x, y] = [pointer.x, pointer.y];
    plot.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
  };

  const isSelecting = () => {
    if (held) return true;
    const selection = getSelection();
    const live = document.getElementById("live");
    return selection && !selection.isCollapsed && live && live.contains(selection.anchorNode);
  };

  const put = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    const old = document.getElementById("live");
    if (!fresh || !old) return;
    const kept = remember();
    old.replaceWith(document.adoptNode(fresh));
    start();
    restore(kept);
    const title = document.getElementById("title");
    if (title) document.title = `${title.textContent} · kgauge, live`;
  };

  // At the end: the final report is loaded at once, since kgauge will not wait for long. Without one the last words stay.
  const goToReport = () => {
    const links = [...document.querySelectorAll("#reports a")];
    const last = links[links.length - 1];
    if (last) location.replace(last.getAttribute("href"));
    else link("ended");
  };

  const look = async () => {
    // While an answer is awaited nobody else asks.
    timer = null;
    let next = PERIOD;
    const began = performance.now();
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const answer = await fetch("live.html", { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      if (answer.status !== 200 && answer.status !== 304) throw new Error(`status ${answer.status}`);
      failures = 0;
      if (answer.status === 200) {
        const text = await answer.text();
        const isOver = /data-phase="over"/.test(text);
        if (isOver || !isSelecting()) {
          tag = answer.headers.get("ETag") || "";
          put(text);
        }
        if (isOver) return goToReport();
      }
      link("");
    } catch {
      failures += 1;
      const live = document.getElementById("live");
      const stopping = live && live.dataset.phase === "stopping";
      if (failures > 1) link(stopping ? "kgauge has ended; the report is in the run folder" : "kgauge does not answer: it has ended, or cannot be reached");
      next = Math.min(10000, PERIOD * failures);
    }
    // Pages that nobody sees ask less often.
    if (document.hidden) next = Math.max(next, 5000);
    timer = setTimeout(look, Math.max(100, next - (performance.now() - began)));
  };
  let timer = setTimeout(look, PERIOD);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || timer === null) return;
    clearTimeout(timer);
    look();
  });

  start();
})();
