// Checks what the page's script adds to charts: values under pointer and keys, legends, zoom. Compares the shown values
// with the page's data block, using separate arithmetic.

const UNITS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

/** A written value as a number in its axis' unit: `1.23 ms` is 1.23e6 of nanoseconds. */
export const parsed = (text, unit) => {
  if (/^\d+(:\d\d)+$/.test(text)) return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  const [, number, suffix] = /^(-?[\d.,]+)\s*(\S*)$/.exec(text.trim()) || [];
  if (number === undefined) return NaN;
  const value = Number(number.replaceAll(",", ""));
  if (unit === "quantile") return value / 100;
  return ["ns", "B"].includes(unit) ? value * UNITS[suffix] : value;
};

const near = (one, other) => Math.abs(one - other) <= 0.006 * Math.abs(other) + 1e-9;

const share = (axis, value) => {
  if (axis.scale === "linear") return (value - axis.low) / (axis.high - axis.low);
  if (axis.scale === "log") return Math.log(value / axis.low) / Math.log(axis.high / axis.low);
  return -Math.log10(1 - value) / axis.high;
};

const data = (page) =>
  page.evaluate(() => JSON.parse(document.getElementById("chart-data")?.textContent ?? "[]"));

const unfold = (page) =>
  page.evaluate(() => document.querySelectorAll("details:not(.data)").forEach((part) => { part.open = true; }));

/** Scrolls to a chart's plot and says where it stands. */
const plot = async (page, id) => {
  const box = await page.evaluate((id) => {
    const main = document.getElementById(id)?.querySelector(".main");
    if (!main) return null;
    main.scrollIntoView({ block: "center" });
    const { left, top, width, height } = main.getBoundingClientRect();
    return { left, top, width, height };
  }, id);
  return box;
};

const readout = (page, id) =>
  page.evaluate((id) => {
    const part = document.getElementById(id).querySelector(".readout");
    return part ? [...part.children].map((row) => row.textContent) : [];
  }, id);

/** Why the words of a line chart at this share of its width are not those of its data. */
const wrongLines = (chart, at, rows) => {
  if (!rows.length) return ["no words"];
  // Points beyond the axis, such as a sample after the end, cannot be pointed at.
  const inside = (x) => share(chart.x, x) >= -1e-9 && share(chart.x, x) <= 1 + 1e-9;
  const places = [...new Set(chart.lines.flatMap((line) => line.x))].filter(inside);
  const least = Math.min(...places.map((x) => Math.abs(share(chart.x, x) - at)));
  // Of two equally near points, either is correct.
  const nearest = places.filter((x) => Math.abs(share(chart.x, x) - at) <= least + 1e-3);
  const head = parsed(rows[0].split(" · ")[0], chart.x.unit);
  const x = nearest.find((x) => (chart.x.unit === "quantile" ? Math.abs(head - x) < 1e-7 : near(head, x)));
  if (x === undefined) return [`${rows[0]} is none of ${nearest.join(", ")}`];
  const wrong = [];
  chart.lines.forEach((line) => {
    const index = line.x.indexOf(x);
    if (index < 0 || line.y[index] === null) return;
    const name = [chart.groups[line.group], line.name].filter(Boolean).join(", ");
    const written = rows.filter((row) => row.startsWith(`${name}: `)).map((row) => row.slice(name.length + 2));
    const found = written.some((text) => near(parsed(text.replace(" %", ""), chart.y.unit), line.y[index]));
    if (!found) wrong.push(`${name} at ${x} is ${line.y[index]}, shown as ${written.join(" or ") || "nothing"}`);
  });
  return wrong;
};

const pointAtLines = async (page, chart, box) => {
  const wrong = [];
  for (const at of [0.03, 0.35, 0.5, 0.77, 0.98]) {
    await page.mouse.move(box.left + at * box.width, box.top + 90);
    wrong.push(...wrongLines(chart, at, await readout(page, chart.id)));
    const cursor = await page.evaluate((id) => {
      const line = document.getElementById(id).querySelector(".cursor");
      return line && getComputedStyle(line).display !== "none";
    }, chart.id);
    if (!cursor) wrong.push("no line at the place");
  }
  return wrong.map((words) => `${chart.id}: ${words}`);
};

const pointAtCells = async (page, chart, box) => {
  const wrong = [];
  const rows = chart.borders.length - 1;
  for (const column of [0, Math.floor(chart.cells.length / 2), chart.cells.length - 1]) {
    const [first, ...counts] = chart.cells[column];
    const row = counts.length ? first + counts.indexOf(Math.max(...counts)) : 0;
    const middle = ((column + 0.5) * chart.step) / chart.x.high;
    if (middle >= 1) continue;
    await page.mouse.move(box.left + middle * box.width, box.top + 18 + 220 * (1 - (row + 0.5) / rows));
    const [, band = "", count = ""] = await readout(page, chart.id);
    const wanted = counts[row - first] || 0;
    if (Number(count.split(" ")[0].replaceAll(",", "")) !== wanted) wrong.push(`${count} is not ${wanted}`);
    if (!near(parsed(band.split(" to ")[0], "ns"), chart.borders[row])) wrong.push(`${band}, not ${chart.borders[row]}`);
  }
  return wrong.map((words) => `${chart.id}: ${words}`);
};

/** Each entry of a legend hides its lines, and shows them again. */
const toggleAll = (page, id) =>
  page.evaluate((id) => {
    const wrong = [];
    const figure = document.getElementById(id);
    figure.querySelectorAll(".legend li").forEach((entry) => {
      const parts = [...figure.querySelectorAll(`.plot [data-group="${entry.dataset.group}"]`)];
      const shown = () => parts.filter((part) => getComputedStyle(part).display !== "none").length;
      const button = entry.querySelector("button");
      const before = shown();
      button?.click();
      const hidden = shown();
      button?.click();
      if (!parts.length || !before || hidden || shown() !== before) {
        wrong.push(`${id}: ${entry.textContent}: ${before}, ${hidden}, ${shown()} of ${parts.length} shown`);
      }
    });
    return wrong;
  }, id);

/** Points at every chart, and switches every line off and on. */
export const charts = async (page) => {
  const problems = [];
  await unfold(page);
  const all = await data(page);
  for (const chart of all) {
    const box = await plot(page, chart.id);
    if (!box) continue;
    problems.push(...(chart.cells ? await pointAtCells(page, chart, box) : await pointAtLines(page, chart, box)));
    if (!chart.cells) problems.push(...(await toggleAll(page, chart.id)));
    await page.mouse.move(1, 1);
    if ((await readout(page, chart.id)).length) problems.push(`${chart.id}: words stay when the pointer has left`);
  }
  return { problems, detail: `${all.length} charts` };
};

/** What has the focus: the id of a chart whose plot it is, or what kind of thing. */
const focused = (page) =>
  page.evaluate(() => {
    const part = document.activeElement;
    if (!part || part === document.body) return { kind: "end" };
    if (part.classList.contains("plot")) return { kind: "plot", id: part.closest("figure").id };
    if (part.tagName === "SUMMARY") {
      const table = part.parentNode.classList.contains("data");
      return { kind: table ? "table" : "summary", open: part.parentNode.open };
    }
    return { kind: "other" };
  });

const readByKeys = async (page, id) => {
  // Two points may be so close that their texts are equal; the cursor distinguishes them.
  const said = async (key) => {
    await page.keyboard.press(key);
    const at = await page.evaluate((id) => {
      const part = document.getElementById(id).querySelector(".cursor, .cell");
      return ["x", "x1", "y"].map((name) => part?.getAttribute(name) ?? "").join(" ");
    }, id);
    const words = (await readout(page, id)).join("; ");
    return words && `${words} at ${at}`;
  };
  const wrong = [];
  const first = await said("Home");
  const last = await said("End");
  if (!first || !last) wrong.push("Home or End says nothing");
  const before = await said("ArrowLeft");
  const single = first === last;
  if (!single && before === last) wrong.push("the left arrow changes nothing");
  if ((await said("ArrowRight")) !== last && !single) wrong.push("the right arrow does not come back to the end");
  if ((await said("Escape")) !== "") wrong.push("Escape does not end it");
  return wrong.map((words) => `${id}: ${words}`);
};

/** Goes through the whole page with Tab alone, unfolds what is folded, and reads every chart. */
export const keyboard = async (page) => {
  const all = await data(page);
  const problems = [];
  const read = new Set();
  let [tables, stops] = [0, 0];
  await page.evaluate(() => {
    document.querySelectorAll("details[open]").forEach((part) => { part.open = false; });
    scrollTo(0, 0);
    document.activeElement?.blur();
  });
  for (; stops < 5_000; stops += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    if (now.kind === "end") break;
    if (now.kind === "plot") {
      problems.push(...(await readByKeys(page, now.id)));
      read.add(now.id);
    }
    if (["summary", "table"].includes(now.kind) && !now.open) await page.keyboard.press("Enter");
    if (now.kind === "table") {
      tables += 1;
      const cells = await page.evaluate(() => {
        const part = document.activeElement.parentNode;
        return part.open ? part.querySelectorAll("tbody td").length : 0;
      });
      if (!cells) problems.push("a table of data does not open, or is empty");
    }
  }
  const drawn = await page.evaluate((ids) => ids.filter((id) => document.getElementById(id)?.querySelector(".plot")),
    all.map((chart) => chart.id));
  drawn.filter((id) => !read.has(id)).forEach((id) => problems.push(`${id} cannot be reached by Tab`));
  return { problems, detail: `${read.size} charts read, ${tables} tables opened, ${stops} stops` };
};

const drawing = (page, id) =>
  page.evaluate((id) => {
    const main = document.getElementById(id).querySelector(".main");
    const parts = [...main.querySelectorAll("*")].filter((part) => !part.matches(".cursor, .cell, .chosen"));
    const number = (text) => (/^[\d.e-]+%$/.test(text) ? `${Number(Number.parseFloat(text).toFixed(3))}%` : text);
    return parts.map((part) => [part.tagName, getComputedStyle(part).display,
      ...["x", "x1", "x2", "width", "viewBox"].map((name) => number(part.getAttribute(name) ?? ""))].join(" ")).join("\n");
  }, id);

/** The time that the head of a readout names. */
const seconds = (rows) => parsed((rows[0] ?? "").split(" · ")[0].split(" to ")[0].replace(" s", ""), "s");

const zoomOne = async (page, chart) => {
  const wrong = [];
  const box = await plot(page, chart.id);
  if (!box) return [];
  const whole = await drawing(page, chart.id);
  const span = chart.x.high - chart.x.low;
  const [from, to] = [chart.x.low + span * 0.25, chart.x.low + span * 0.75];
  const key = async (name) => { await page.keyboard.press(name); return readout(page, chart.id); };
  await page.mouse.move(box.left + box.width * 0.25, box.top + 90);
  await page.mouse.down();
  await page.mouse.move(box.left + box.width * 0.5, box.top + 92, { steps: 3 });
  await page.mouse.move(box.left + box.width * 0.75, box.top + 95, { steps: 3 });
  await page.mouse.up();
  if ((await drawing(page, chart.id)) === whole) wrong.push("dragging does not zoom");
  const ticks = await page.evaluate((id) => {
    const texts = [...document.getElementById(id).querySelectorAll(".main text[y='257']")];
    return texts.filter((text) => getComputedStyle(text).display !== "none").map((text) => text.textContent);
  }, chart.id);
  const times = ticks.map((text) => parsed(text.replace(" s", ""), "s"));
  if (times.length < 2 || times.some((time) => time < from - span * 0.02 || time > to + span * 0.02)) {
    wrong.push(`labels ${ticks.join(", ")} of ${from} to ${to}`);
  }
  if (!chart.cells) {
    for (const at of [0.2, 0.8]) {
      await page.mouse.move(box.left + box.width * at, box.top + 90);
      const places = [...new Set(chart.lines.flatMap((line) => line.x))];
      const value = from + at * (to - from);
      const inside = places.filter((x) => x >= from && x <= to);
      const least = Math.min(...inside.map((x) => Math.abs(x - value)));
      const found = seconds(await readout(page, chart.id));
      if (inside.length && Math.abs(Math.abs(found - value) - least) > span * 0.03) wrong.push(`${found} s under the pointer at ${value} s`);
    }
  }
  await page.mouse.dblclick(box.left + box.width * 0.5, box.top + 90);
  if ((await drawing(page, chart.id)) !== whole) wrong.push("double click does not show all");
  await page.mouse.move(1, 1);
  await page.focus(`#${chart.id} .plot`);
  const first = seconds(await key("Home"));
  await key("End");
  await key("+");
  await key("+");
  const later = seconds(await key("Home"));
  if (!(later > first) && new Set(chart.cells ? chart.cells.keys() : chart.lines.flatMap((line) => line.x)).size > 8) {
    wrong.push(`after + at the end, Home reads ${later} s`);
  }
  const close = await drawing(page, chart.id);
  await key("-");
  if (close === whole || (await drawing(page, chart.id)) === close) wrong.push("the keys + and - do not zoom");
  await key("Escape");
  if ((await drawing(page, chart.id)) !== whole) wrong.push("Escape does not show all");
  return wrong.map((words) => `${chart.id}: ${words}`);
};

/** Zooms every chart over time by drag and by keys, and back. */
export const zoom = async (page) => {
  await unfold(page);
  const timed = (await data(page)).filter((chart) => chart.x.unit === "s" && chart.x.scale === "linear");
  const problems = [];
  for (const chart of timed) problems.push(...(await zoomOne(page, chart)));
  return { problems, detail: `${timed.length} charts` };
};
