"use strict";
// Adds to a page that is complete without it: values under pointer and arrow keys, a zoom of the time axis,
// a legend that switches lines on and off, the part of the contents that is read, everything unfolded for printing.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const block = document.getElementById("chart-data");
  const charts = block ? JSON.parse(block.textContent) : [];

  // Numbers as the rest of the page writes them: three or four significant digits and a unit.
  const digits = (value, count) =>
    value.toLocaleString("en-US", { maximumSignificantDigits: count, minimumSignificantDigits: 1 });
  const scaled = (value, steps) => {
    const [divisor, unit] = steps.find(([size]) => Math.abs(value) >= size * 0.9995) || steps[steps.length - 1];
    return `${digits(value / divisor, 3)} ${unit}`;
  };
  const write = {
    s: (value) => {
      if (value < 100) return `${digits(value, 3)} s`;
      const two = (number) => String(number).padStart(2, "0");
      const whole = Math.round(value);
      const hours = Math.floor(whole / 3600);
      const minutes = Math.floor((whole % 3600) / 60);
      return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
    },
    ns: (value) => scaled(value, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]),
    B: (value) => scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]),
    quantile: (value) => `${+(value * 100).toFixed(6)} %`,
    "records/s": (value) => digits(value, 4),
    "MB/s": (value) => digits(value, 3),
    cores: (value) => digits(value, 3),
    "%": (value) => `${digits(value, 3)} %`,
    "": (value) => digits(value, 4),
  };

  const place = (axis, value) => {
    if (axis.scale === "linear") return (value - axis.low) / (axis.high - axis.low);
    if (axis.scale === "log") return Math.log(value / axis.low) / Math.log(axis.high / axis.low);
    return Math.log10(1 / (1 - value)) / axis.high;
  };

  // The last index whose x is nearest to a place; lines rise in x.
  const nearest = (axis, line, target) => {
    let best = -1;
    let distance = Infinity;
    line.x.forEach((x, index) => {
      const away = Math.abs(place(axis, x) - target);
      if (line.y[index] !== null && away < distance) [best, distance] = [index, away];
    });
    return best;
  };

  // What a picture needs to be read by pointer and keys: its plot, a place for the words, and a mark in the drawing.
  const readable = (figure, shape, name, label) => {
    const plot = figure.querySelector(".plot");
    const main = figure.querySelector(".main");
    if (!plot || !main) return null;
    const readout = document.createElement("div");
    readout.className = "readout";
    readout.setAttribute("role", "status");
    plot.append(readout);
    const mark = document.createElementNS(SVG, shape);
    mark.setAttribute("class", `${name} off`);
    main.append(mark);
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", label);
    return { plot, main, readout, mark };
  };

  // The words beside a place of the plot, on the side with more room, and never beyond the figure.
  const putReadout = ({ plot, main, readout }, share, apart) => {
    const box = main.getBoundingClientRect();
    const middle = box.left - plot.getBoundingClientRect().left + share * box.width;
    const left = share > 0.5 ? middle - apart - readout.offsetWidth : middle + apart;
    readout.style.left = `${Math.max(0, Math.min(plot.clientWidth - readout.offsetWidth, left))}px`;
  };

  // Labels of a part of the time axis: about five, at steps that people count in.
  const timeTicks = (from, to) => {
    const fine = [1, 2, 5, 10, 20, 50].map((step) => step * 10 ** Math.floor(Math.log10(Math.max(to - from, 1e-6)) - 1));
    const steps = [...fine, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
    const step = steps.sort((a, b) => a - b).find((size) => (to - from) / size <= 6) || to - from;
    const ticks = [];
    for (let n = Math.ceil(from / step - 1e-9); n * step <= to + step * 1e-9; n += 1) ticks.push(n * step);
    return ticks;
  };

  // A zoom of the time axis. Places in the drawing are shares of the plot's width, so another span is the same
  // drawing with its shares moved and the curves' own box cut. Drag with a mouse or pen, or the keys + and -;
  // double click or Escape shows all of it again.
  const addZoom = (parts, axis, changed) => {
    const { plot, main } = parts;
    const zoom = { from: 0, to: 1, seen: (share) => (share - zoom.from) / (zoom.to - zoom.from) };
    zoom.isWhole = () => zoom.from === 0 && zoom.to === 1;
    zoom.under = (event) => {
      const box = main.getBoundingClientRect();
      return (event.clientX - box.left) / box.width;
    };
    if (axis.unit !== "s" || axis.scale !== "linear") return zoom;

    const inner = [...main.children].find((part) => part.hasAttribute("viewBox"));
    const box = inner ? inner.getAttribute("viewBox") : "";
    const [, , width, height] = box.split(" ").map(Number);
    const share = (part, name) => {
      const text = part.getAttribute(name) || "";
      return text.endsWith("%") ? Number.parseFloat(text) / 100 : null;
    };
    const moved = [];
    const labels = [];
    [...main.querySelectorAll("*")].forEach((part) => {
      if (part === parts.mark || part.classList.contains("end") || (inner && inner.contains(part))) return;
      const start = share(part, "x") ?? share(part, "x1") ?? (part.classList.contains("band") ? 0 : null);
      if (start === null || part.parentNode.closest("svg") !== main) return;
      const written = ["x", "x1", "x2", "width"].map((name) => [name, part.getAttribute(name)]);
      if (Number(part.getAttribute("y") ?? part.getAttribute("y1")) >= 238) return labels.push(part);
      moved.push({ part, start, width: share(part, "width"), line: part.hasAttribute("x1"), written });
    });
    const ticks = document.createElementNS(SVG, "g");
    main.append(ticks);

    const drawTicks = () => {
      ticks.replaceChildren();
      if (zoom.isWhole()) return;
      const value = (at) => axis.low + at * (axis.high - axis.low);
      timeTicks(value(zoom.from), value(zoom.to)).forEach((tick) => {
        const x = `${zoom.seen(place(axis, tick)) * 100}%`;
        const line = document.createElementNS(SVG, "line");
        Object.entries({ class: "axis", x1: x, x2: x, y1: 238, y2: 243 }).forEach((pair) => line.setAttribute(...pair));
        const text = document.createElementNS(SVG, "text");
        Object.entries({ x, y: 257, "text-anchor": "middle" }).forEach((pair) => text.setAttribute(...pair));
        text.textContent = write.s(Number(tick.toPrecision(9)));
        ticks.append(line, text);
      });
    };
    const draw = () => {
      const cut = `${zoom.from * width} 0 ${(zoom.to - zoom.from) * width} ${height}`;
      if (inner) inner.setAttribute("viewBox", zoom.isWhole() ? box : cut);
      moved.forEach(({ part, start, width: length, line, written }) => {
        const from = Math.max(zoom.seen(start), length === null ? -Infinity : 0);
        const to = length === null ? from : Math.min(zoom.seen(start + length), 1);
        (line ? ["x1", "x2"] : ["x"]).forEach((name) => part.setAttribute(name, `${from * 100}%`));
        if (length !== null) part.setAttribute("width", `${Math.max(0, to - from) * 100}%`);
        if (zoom.isWhole()) written.forEach(([name, text]) => text !== null && part.setAttribute(name, text));
        part.classList.toggle("beyond", to < -1e-9 || from > 1 + 1e-9 || (length !== null && to <= from));
      });
      labels.forEach((part) => part.classList.toggle("beyond", !zoom.isWhole()));
      drawTicks();
      whole.hidden = zoom.isWhole();
      // Whoever draws the chart anew can show the same span again.
      const value = (at) => axis.low + at * (axis.high - axis.low);
      if (zoom.isWhole()) delete plot.dataset.span;
      else plot.dataset.span = JSON.stringify([value(zoom.from), value(zoom.to)]);
      changed();
    };
    // At least a two-hundredth of the axis, and at least a tenth of a second, is shown.
    const least = Math.min(1, Math.max(0.005, 0.1 / (axis.high - axis.low)));
    zoom.show = (from, to) => {
      const span = Math.min(1, Math.max(least, to - from));
      zoom.from = Math.max(0, Math.min(1 - span, from));
      zoom.to = span === 1 ? 1 : zoom.from + span;
      draw();
    };
    zoom.reset = () => zoom.isWhole() || zoom.show(0, 1);
    plot.addEventListener("span", ({ detail: [from, to] }) => zoom.show(place(axis, from), place(axis, to)));

    const whole = document.createElement("button");
    whole.type = "button";
    whole.className = "whole";
    whole.textContent = "Show the whole time";
    whole.hidden = true;
    whole.addEventListener("click", () => { zoom.reset(); plot.focus(); });
    plot.after(whole);

    const shade = document.createElementNS(SVG, "rect");
    Object.entries({ class: "chosen off", y: 18, height: 220 }).forEach((pair) => shade.setAttribute(...pair));
    main.append(shade);
    let dragStart = null;
    const chosen = (event) => {
      const now = Math.max(0, Math.min(1, zoom.under(event)));
      return [Math.min(dragStart, now), Math.max(dragStart, now)];
    };
    plot.addEventListener("pointerdown", (event) => {
      const at = zoom.under(event);
      if (event.pointerType === "touch" || event.button !== 0 || at < 0 || at > 1) return;
      dragStart = at;
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      if (dragStart === null) return;
      const [from, to] = chosen(event);
      shade.setAttribute("x", `${from * 100}%`);
      shade.setAttribute("width", `${(to - from) * 100}%`);
      shade.setAttribute("class", "chosen");
    });
    const end = (event) => {
      if (dragStart === null) return;
      const [from, to] = chosen(event);
      dragStart = null;
      shade.setAttribute("class", "chosen off");
      if (event.type === "pointercancel" || to - from < 0.02) return;
      const span = zoom.to - zoom.from;
      zoom.show(zoom.from + from * span, zoom.from + to * span);
    };
    plot.addEventListener("pointerup", end);
    plot.addEventListener("pointercancel", end);
    plot.addEventListener("dblclick", zoom.reset);
    return zoom;
  };

  // The keys of the zoom around a place; true when one of them was pressed.
  const zoomKey = (zoom, event, middle) => {
    const factor = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (!zoom.show || !factor || event.ctrlKey || event.metaKey || event.altKey) return false;
    event.preventDefault();
    const span = (zoom.to - zoom.from) * factor;
    zoom.show(middle - span / 2, middle + span / 2);
    return true;
  };

  const addReadout = (figure, chart) => {
    const timed = chart.x.unit === "s" && chart.x.scale === "linear";
    const keys = timed ? ", + and - zoom, Escape shows all" : "";
    const label = `${figure.querySelector("figcaption strong").textContent}: arrow keys read values${keys}`;
    const parts = readable(figure, "line", "cursor", label);
    if (!parts) return;
    const { plot, main, readout, mark: cursor } = parts;
    cursor.setAttribute("y1", "18");
    cursor.setAttribute("y2", "238");

    const places = [...new Set(chart.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    let current = -1;
    const hidden = (group) =>
      figure.querySelector(`.legend [data-group="${group}"] button[aria-pressed="false"]`) !== null;

    // The first and the last place that the zoom lets see.
    const inView = () => {
      const seen = (x) => zoom.seen(place(chart.x, x));
      const found = places.flatMap((x, index) => (seen(x) >= -1e-9 && seen(x) <= 1 + 1e-9 ? [index] : []));
      return found.length ? [found[0], found[found.length - 1]] : null;
    };

    const show = (index) => {
      const ends = inView();
      if (!ends) return;
      current = Math.max(ends[0], Math.min(ends[1], index));
      const x = places[current];
      const target = place(chart.x, x);
      const tolerance = places.length > 1 ? 1.5 / places.length : 1;
      readout.replaceChildren();
      const head = document.createElement("b");
      const named = ["records/s", "MB/s", "cores"].includes(chart.y.unit) ? ` · ${chart.y.unit}` : "";
      head.textContent = (write[chart.x.unit] || write[""])(x) + named;
      readout.append(head);
      chart.lines.forEach((line) => {
        const at = nearest(chart.x, line, target);
        if (at < 0 || hidden(line.group)) return;
        const exact = line.x[at] === x || Math.abs(place(chart.x, line.x[at]) - target) < tolerance;
        if (!exact) return;
        const row = document.createElement("div");
        const name = [chart.groups[line.group], line.name].filter(Boolean).join(", ");
        row.textContent = `${name}: ${(write[chart.y.unit] || write[""])(line.y[at])}`;
        readout.append(row);
      });
      const share = zoom.seen(target);
      cursor.setAttribute("x1", `${share * 100}%`);
      cursor.setAttribute("x2", `${share * 100}%`);
      cursor.setAttribute("class", "cursor");
      putReadout(parts, share, 12);
    };
    const hide = () => {
      current = -1;
      readout.replaceChildren();
      cursor.setAttribute("class", "cursor off");
    };
    const zoom = addZoom(parts, chart.x, () => (current < 0 ? hide() : show(current)));
    const follow = (event) => {
      const share = zoom.under(event);
      if (share < -0.02 || share > 1.02) return hide();
      const away = (index) => Math.abs(zoom.seen(place(chart.x, places[index])) - share);
      show(places.reduce((best, _, index) => (away(index) < away(best) ? index : best), 0));
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const middle = current < 0 ? (zoom.from + zoom.to) / 2 : place(chart.x, places[current]);
      if (event.key === "Escape") {
        hide();
        return zoom.reset && zoom.reset();
      }
      if (zoomKey(zoom, event, middle)) return;
      const first = (inView() || [0])[0];
      const right = current < 0 ? first : current + 1;
      const steps = { ArrowRight: right, ArrowLeft: current - 1, Home: 0, End: places.length - 1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      show(steps[event.key]);
    });
  };

  // A heat map: the cell under the pointer, and what is slower in the same column. Arrow keys move both ways.
  const addCells = (figure, chart) => {
    const title = figure.querySelector("figcaption strong").textContent;
    const label = `${title}: arrow keys read cells, + and - zoom, Escape shows all`;
    const parts = readable(figure, "rect", "cell", label);
    if (!parts) return;
    const { plot, main, readout, mark: frame } = parts;
    const [top, height, rows] = [18, 220, chart.borders.length - 1];
    const count = (column, row) => chart.cells[column][1 + row - chart.cells[column][0]] || 0;
    const fullest = (column) => {
      const [first, ...counts] = chart.cells[column];
      return counts.length ? first + counts.indexOf(Math.max(...counts)) : 0;
    };
    let at = null;

    const show = (column, row) => {
      const [first, last] = ends();
      at = [Math.max(first, Math.min(last, column)), Math.max(0, Math.min(rows - 1, row))];
      [column, row] = at;
      const line = (text, tag) => {
        const part = document.createElement(tag);
        part.textContent = text;
        readout.append(part);
      };
      const [from, to] = [column * chart.step, (column + 1) * chart.step];
      const [, ...counts] = chart.cells[column];
      const sum = (values) => values.reduce((one, next) => one + next, 0);
      const slower = sum(counts.slice(Math.max(0, row + 1 - (chart.cells[column][0] || 0))));
      readout.replaceChildren();
      line(`${write.s(from)} to ${write.s(to)}`, "b");
      line(`${write.ns(chart.borders[row])} to ${write.ns(chart.borders[row + 1])}`, "div");
      line(`${digits(count(column, row), 15)} ${chart.counted}`, "div");
      line(`slower: ${digits(slower, 15)} of ${digits(sum(counts), 15)}`, "div");
      const [x, end] = [from, to].map((at) => Math.max(0, Math.min(1, zoom.seen(place(chart.x, at)))));
      frame.setAttribute("x", `${x * 100}%`);
      frame.setAttribute("width", `${(end - x) * 100}%`);
      frame.setAttribute("y", top + height - ((row + 1) * height) / rows);
      frame.setAttribute("height", height / rows);
      frame.setAttribute("class", "cell");
      putReadout(parts, (x + end) / 2, 14);
    };
    const hide = () => {
      at = null;
      readout.replaceChildren();
      frame.setAttribute("class", "cell off");
    };
    const zoom = addZoom(parts, chart.x, () => (at ? show(...at) : hide()));
    // The first and the last column that the zoom lets see.
    const ends = () => {
      const column = (share) => (share * chart.x.high) / chart.step;
      const last = Math.ceil(column(zoom.to) - 1e-9) - 1;
      const most = chart.cells.length - 1;
      return [Math.min(most, Math.floor(column(zoom.from) + 1e-9)), Math.min(most, last)];
    };
    const follow = (event) => {
      const box = main.getBoundingClientRect();
      const share = zoom.under(event);
      const row = Math.floor(((top + height - (event.clientY - box.top)) / height) * rows);
      const column = Math.floor(((zoom.from + share * (zoom.to - zoom.from)) * chart.x.high) / chart.step);
      if (share < 0 || share > 1 || row < 0 || row >= rows || column >= chart.cells.length) return hide();
      show(column, row);
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const [first, last] = ends();
      const edges = { Home: first, End: last };
      if (event.key === "Escape") {
        hide();
        return zoom.reset && zoom.reset();
      }
      const middle = at ? ((at[0] + 0.5) * chart.step) / chart.x.high : (zoom.from + zoom.to) / 2;
      if (zoomKey(zoom, event, middle)) return;
      if (!(event.key in moves) && !(event.key in edges)) return;
      event.preventDefault();
      if (event.key in edges) return show(edges[event.key], fullest(edges[event.key]));
      if (!at) return show(first, fullest(first));
      show(at[0] + moves[event.key][0], at[1] + moves[event.key][1]);
    });
  };

  const addToggles = (figure) => {
    figure.querySelectorAll(".legend li").forEach((entry) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(...entry.childNodes);
      entry.append(button);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        figure
          .querySelectorAll(`.plot [data-group="${entry.dataset.group}"]`)
          .forEach((part) => part.classList.toggle("off", !on));
      });
    });
  };

  // One hint on how to read the charts, before the first of them.
  const first = document.querySelector(".charts");
  if (first && charts.length) {
    const hint = document.createElement("p");
    hint.className = "note hint";
    hint.textContent =
      "Point at a chart, or select it with Tab and use the arrow keys, to read values. In charts over time, drag or " +
      "press + and - to zoom; double click or Escape resets the zoom.";
    first.before(hint);
  }

  charts.forEach((chart) => {
    const figure = document.getElementById(chart.id);
    if (!figure) return;
    if (chart.cells) return addCells(figure, chart);
    addReadout(figure, chart);
    addToggles(figure);
  });

  // A link to something folded unfolds it.
  const unfold = () => {
    const aim = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    let fold = aim && aim.closest("details");
    if (!fold) return;
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
    aim.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // The table of contents marks the part that is read; as a bar it folds when a link is followed.
  const links = [...document.querySelectorAll(".contents a")];
  const aims = links.map((link) => document.getElementById(link.hash.slice(1)));
  const contents = document.querySelector(".contents-fold");
  const mark = () => {
    const tops = aims.map((aim) => (aim ? aim.getBoundingClientRect().top : Infinity));
    const isEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const at = isEnd ? links.length - 1 : tops.reduce((last, top, index) => (top <= 120 ? index : last), 0);
    links.forEach((link, index) => {
      if (index === at) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  if (links.length) {
    let asked = false;
    const later = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; mark(); });
    };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    links.forEach((link) => link.addEventListener("click", () => { contents.open = false; }));
    mark();
  }

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not(.data, .contents-fold, [open])")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
