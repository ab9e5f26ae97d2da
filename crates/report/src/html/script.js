"use strict";
// Adds to a page that is complete without it: values under pointer and arrow keys, a legend that switches
// lines on and off, everything unfolded for printing.
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

  // The last index whose x is nearest to the wanted place; lines rise in x.
  const nearest = (axis, line, wanted) => {
    let best = -1;
    let distance = Infinity;
    line.x.forEach((x, index) => {
      const away = Math.abs(place(axis, x) - wanted);
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

  const addReadout = (figure, chart) => {
    const label = `${chart.groups.length} lines; arrow keys read values`;
    const parts = readable(figure, "line", "cursor", label);
    if (!parts) return;
    const { plot, main, readout, mark: cursor } = parts;
    cursor.setAttribute("y1", "18");
    cursor.setAttribute("y2", "238");

    const places = [...new Set(chart.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    let current = -1;
    const hidden = (group) =>
      figure.querySelector(`.legend [data-group="${group}"] button[aria-pressed="false"]`) !== null;

    const show = (index) => {
      current = Math.max(0, Math.min(places.length - 1, index));
      const x = places[current];
      const wanted = place(chart.x, x);
      const tolerance = places.length > 1 ? 1.5 / places.length : 1;
      readout.replaceChildren();
      const head = document.createElement("b");
      const named = ["records/s", "MB/s", "cores"].includes(chart.y.unit) ? ` · ${chart.y.unit}` : "";
      head.textContent = (write[chart.x.unit] || write[""])(x) + named;
      readout.append(head);
      chart.lines.forEach((line) => {
        const at = nearest(chart.x, line, wanted);
        if (at < 0 || hidden(line.group)) return;
        const exact = line.x[at] === x || Math.abs(place(chart.x, line.x[at]) - wanted) < tolerance;
        if (!exact) return;
        const row = document.createElement("div");
        const name = [chart.groups[line.group], line.name].filter(Boolean).join(", ");
        row.textContent = `${name}: ${(write[chart.y.unit] || write[""])(line.y[at])}`;
        readout.append(row);
      });
      const share = `${wanted * 100}%`;
      cursor.setAttribute("x1", share);
      cursor.setAttribute("x2", share);
      cursor.setAttribute("class", "cursor");
      const left = main.getBoundingClientRect().left - plot.getBoundingClientRect().left;
      const middle = left + wanted * main.getBoundingClientRect().width;
      const right = wanted > 0.5;
      readout.style.left = right ? "auto" : `${middle + 12}px`;
      readout.style.right = right ? `${plot.clientWidth - middle + 12}px` : "auto";
    };
    const hide = () => {
      current = -1;
      readout.replaceChildren();
      cursor.setAttribute("class", "cursor off");
    };
    const follow = (event) => {
      const box = main.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      if (share < -0.02 || share > 1.02) return hide();
      let best = 0;
      places.forEach((x, index) => {
        if (Math.abs(place(chart.x, x) - share) < Math.abs(place(chart.x, places[best]) - share)) best = index;
      });
      show(best);
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: places.length - 1 };
      if (event.key === "Escape") return hide();
      if (!(event.key in steps)) return;
      event.preventDefault();
      show(steps[event.key]);
    });
  };

  // A heat map: the cell under the pointer, and what is slower in the same column. Arrow keys move both ways.
  const addCells = (figure, chart) => {
    const parts = readable(figure, "rect", "cell", "heat map; arrow keys read its cells");
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
      at = [Math.max(0, Math.min(chart.cells.length - 1, column)), Math.max(0, Math.min(rows - 1, row))];
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
      const [x, width] = [place(chart.x, from), place(chart.x, to) - place(chart.x, from)];
      frame.setAttribute("x", `${x * 100}%`);
      frame.setAttribute("width", `${Math.min(width, 1 - x) * 100}%`);
      frame.setAttribute("y", top + height - ((row + 1) * height) / rows);
      frame.setAttribute("height", height / rows);
      frame.setAttribute("class", "cell");
      const left = main.getBoundingClientRect().left - plot.getBoundingClientRect().left;
      const middle = left + (x + width / 2) * main.getBoundingClientRect().width;
      const right = x > 0.5;
      readout.style.left = right ? "auto" : `${middle + 14}px`;
      readout.style.right = right ? `${plot.clientWidth - middle + 14}px` : "auto";
    };
    const hide = () => {
      at = null;
      readout.replaceChildren();
      frame.setAttribute("class", "cell off");
    };
    const follow = (event) => {
      const box = main.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      const row = Math.floor(((top + height - (event.clientY - box.top)) / height) * rows);
      const column = Math.floor((share * chart.x.high) / chart.step);
      if (share < 0 || share > 1 || row < 0 || row >= rows || column >= chart.cells.length) return hide();
      show(column, row);
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const ends = { Home: 0, End: chart.cells.length - 1 };
      if (event.key === "Escape") return hide();
      if (!(event.key in moves) && !(event.key in ends)) return;
      event.preventDefault();
      if (event.key in ends) return show(ends[event.key], fullest(ends[event.key]));
      if (!at) return show(0, fullest(0));
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

  charts.forEach((chart) => {
    const figure = document.getElementById(chart.id);
    if (!figure) return;
    if (chart.cells) return addCells(figure, chart);
    addReadout(figure, chart);
    addToggles(figure);
  });

  // A link to a folded trial unfolds it.
  const unfold = () => {
    const aim = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const fold = aim && aim.closest("details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not(.data):not([open])")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
