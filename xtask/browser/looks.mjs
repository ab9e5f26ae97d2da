// Checks the appearance of a page: contrast, dashes, narrow windows, paper, and without its script.
import { readFileSync } from "node:fs";

const CONTRAST_MIN = 4.5;

const unfold = (page) =>
  page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));

/** Contrast of every text to what is painted behind it, and of every line of a chart (WCAG 2.2, 1.4.3 and 1.4.11). */
export const contrast = async (page, scheme) => {
  await unfold(page);
  const found = await page.evaluate(([textMin, lineMin]) => {
    const numbers = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const opaque = (part) => {
      for (let at = part; at; at = at.parentElement) {
        const [r, g, b, a = 1] = numbers(getComputedStyle(at).backgroundColor);
        if (a > 0.99) return [r, g, b];
      }
      return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
    };
    const light = (rgb) => {
      const [r, g, b] = rgb.map((part) => {
        const one = part / 255;
        return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (one, other) => {
      const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const problems = new Set();
    let [count, least] = [0, Infinity];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const part = node.parentElement;
      if (!node.data.trim() || !part.checkVisibility() || ["SCRIPT", "STYLE"].includes(part.tagName)) continue;
      const style = getComputedStyle(part);
      const colour = numbers(part instanceof SVGElement ? style.fill : style.color).slice(0, 3);
      const found = ratio(colour, opaque(part));
      count += 1;
      least = Math.min(least, found);
      if (found < textMin) problems.add(`${found.toFixed(2)} for ${node.data.trim().slice(0, 40)}`);
    }
    document.querySelectorAll("path.line").forEach((line) => {
      const found = ratio(numbers(getComputedStyle(line).stroke).slice(0, 3), opaque(line.closest("figure")));
      if (found < lineMin) problems.add(`${found.toFixed(2)} for a line ${line.getAttribute("class")}`);
    });
    const page = light(opaque(document.body));
    return { problems: [...problems], detail: `${count} texts, least ${least.toFixed(2)}`, page };
  }, [CONTRAST_MIN, 3]);
  if (scheme === "dark" ? found.page > 0.1 : found.page < 0.8) found.problems.push(`the ${scheme} page is not ${scheme}`);
  return found;
};

/** No two lines of a chart look the same to who sees no colours; of more than six, to who does. */
export const dashes = (page) =>
  page.evaluate(() => {
    const problems = [];
    const figures = [...document.querySelectorAll("figure.chart")];
    figures.forEach((figure) => {
      const looks = new Map();
      figure.querySelectorAll(".plot path.line").forEach((line) => {
        looks.set(line.dataset.group, line.getAttribute("class").replace(" faint", ""));
      });
      const dashes = [...looks.values()].map((look) => (looks.size <= 6 ? look.replace(/\bc\d\b/, "") : look));
      if (new Set(dashes).size < dashes.length) problems.push(`${figure.id}: ${dashes.join(", ")}`);
    });
    return { problems, detail: `${figures.length} figures` };
  });

/** Nothing makes the page scroll sideways, also where everything is unfolded and words are shown. */
export const narrow = async (page, width) => {
  const problems = [];
  const measure = async (when) => {
    const found = await page.evaluate((width) => {
      const wide = document.documentElement.scrollWidth;
      if (wide <= width) return null;
      const parts = [...document.body.querySelectorAll("*")].filter((part) => part.getBoundingClientRect().right > width + 1);
      const last = parts.filter((part) => !part.closest(".scroll, pre, .side-by-side"))[0];
      return `${wide} px: ${last?.tagName} ${last?.getAttribute("class")} ${last?.textContent.slice(0, 60)}`;
    }, width);
    if (found) problems.push(`${when}: ${found}`);
  };
  await measure("as it opens");
  await unfold(page);
  await measure("unfolded");
  const plots = await page.locator(".plot[tabindex]").all();
  for (const plot of plots.slice(0, 12)) {
    for (const key of ["Home", "End"]) {
      await plot.focus();
      await page.keyboard.press(key);
      await measure(`with words at ${key}`);
    }
  }
  return problems;
};

/** On paper: nothing beyond its edge, no figure higher than a sheet, a number of sheets that somebody would print. */
export const paper = async (page, path) => {
  await page.emulateMedia({ media: "print" });
  const found = await page.evaluate(() => {
    dispatchEvent(new Event("beforeprint"));
    const problems = [];
    const [width, height] = [innerWidth, innerHeight];
    document.body.querySelectorAll("*").forEach((part) => {
      if (!part.checkVisibility() || part.closest(".skip")) return;
      const box = part.getBoundingClientRect();
      // Curves are in a separate box that clips them.
      const drawn = part instanceof SVGElement && !part.matches("text, .main, .side");
      if (box.width && !drawn && box.right > width + 2) problems.push(`cut at the right: ${part.tagName} ${part.textContent.slice(0, 50)}`);
      const style = getComputedStyle(part);
      if (style.overflowX !== "visible" && part.scrollWidth > part.clientWidth + 1 && !(part instanceof SVGElement)) {
        problems.push(`cut inside: ${part.tagName}.${part.className}`);
      }
      if (part.matches(".plot, .legend, tr, .facts > div") && box.height > height) problems.push(`higher than a sheet: ${part.tagName}`);
    });
    const folded = document.querySelectorAll("details:not(.data, .contents-fold, [open])").length;
    const sticky = [...document.body.querySelectorAll("*")].filter((part) => part.checkVisibility() && getComputedStyle(part).position === "sticky");
    if (sticky.length) problems.push(`sticky on paper: ${sticky[0].className}`);
    if (folded && document.getElementById("chart-data")) problems.push(`${folded} parts stay folded`);
    dispatchEvent(new Event("afterprint"));
    return { problems, letters: document.body.innerText.length, charts: document.querySelectorAll("figure.chart").length };
  });
  await page.pdf({ path, format: "A4", margin: { top: "10mm", bottom: "10mm", left: "10mm", right: "10mm" } });
  const pages = readFileSync(path, "latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  // A sheet fits four charts or 3,000 letters; some more for parts that start on a new one.
  const most = 6 + Math.ceil(found.letters / 2_200) + Math.ceil(found.charts / 3);
  if (pages < 1 || pages > most) found.problems.push(`${pages} sheets for ${found.letters} letters and ${found.charts} charts`);
  return { problems: found.problems, detail: `${pages} sheets, ${found.charts} charts` };
};

/** All words and drawings are there without the script: it only adds. */
export const withoutScript = async (without, withIt) => {
  const words = (page) =>
    page.evaluate(() => {
      document.querySelectorAll("details").forEach((part) => { part.open = true; });
      document.querySelectorAll(".readout, .hint, .whole").forEach((part) => part.remove());
      const shown = [...document.querySelectorAll("svg path, svg rect, svg line, svg circle")];
      const drawn = shown.filter((part) => part.checkVisibility() && !part.matches(".cursor, .cell, .chosen")).length;
      return { text: document.body.innerText.replace(/\s+/g, " "), drawn };
    });
  const [one, other] = [await words(without), await words(withIt)];
  const problems = [];
  if (one.text.length < 200) problems.push("hardly any words");
  if (one.text !== other.text) {
    const at = [...one.text].findIndex((letter, index) => letter !== other.text[index]);
    problems.push(`other words: «${one.text.slice(at, at + 60)}» and «${other.text.slice(at, at + 60)}»`);
  }
  if (one.drawn !== other.drawn) problems.push(`${one.drawn} parts are drawn without it, ${other.drawn} with it`);
  return problems;
};

const SCREEN = 800;

/** The table of contents: its links lead somewhere, it stays in sight, and where there is little space it unfolds. */
export const contents = async (page, isNarrow) => {
  const problems = await page.evaluate(() => {
    const problems = [];
    const links = [...document.querySelectorAll(".contents a")];
    if (links.length < 3) problems.push(`${links.length} entries`);
    links.filter((link) => !document.getElementById(link.hash.slice(1))).forEach((link) => problems.push(`${link.hash} leads nowhere`));
    document.querySelectorAll("main section[id]:not(#answer), .trial[id]").forEach((part) => {
      if (!part.querySelector(`.anchor[href="#${CSS.escape(part.id)}"]`)) problems.push(`#${part.id} has no link of its own`);
    });
    return problems;
  });
  const seen = () =>
    page.evaluate(() => {
      const { top, bottom } = document.querySelector(".contents").getBoundingClientRect();
      const shown = [...document.querySelectorAll(".contents a")].filter((link) => link.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) && link.getBoundingClientRect().height > 0);
      const current = document.querySelectorAll(".contents a[aria-current]").length;
      return { inSight: bottom > 0 && top < innerHeight && top > -2, shown: shown.length, current };
    });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
  await page.waitForTimeout(100);
  const middle = await seen();
  const hasScript = await page.evaluate(() => !!document.getElementById("chart-data"));
  if (!middle.inSight) problems.push("it does not stay in sight");
  if (hasScript && middle.current !== 1) problems.push(`${middle.current} entries are marked as the part that is read`);
  if (isNarrow ? middle.shown : !middle.shown) problems.push(`${middle.shown} entries are shown before it is unfolded`);
  if (isNarrow) {
    await page.click(".contents summary");
    if (!(await seen()).shown) problems.push("it does not unfold");
    await page.click(".contents summary");
  }
  return problems;
};

/** Diagnostics are folded and no fold is empty; a link to something folded unfolds it. The detail is the page's height. */
export const folds = async (page, screensMax) => {
  const { problems, height, aim } = await page.evaluate(() => {
    const problems = [];
    document.querySelectorAll("details:not(.contents-fold)").forEach((fold) => {
      const name = fold.querySelector("summary").textContent.slice(0, 50);
      const parts = [...fold.children].filter((part) => part.tagName !== "SUMMARY");
      if (!parts.some((part) => part.textContent.trim() || part.querySelector("svg"))) problems.push(`empty: ${name}`);
      if (fold.matches(".machine, .data") && fold.open) problems.push(`open: ${name}`);
    });
    const height = document.documentElement.scrollHeight;
    const trials = [...document.querySelectorAll("details.trial[id]")].map((trial) => trial.id);
    return { problems, height, aim: trials[trials.length - 1] };
  });
  const screens = height / SCREEN;
  if (screens > screensMax) problems.push(`${screens.toFixed(1)} screens`);
  if (aim) {
    await page.evaluate((id) => { location.hash = id; }, aim);
    await page.waitForTimeout(100);
    if (!(await page.evaluate((id) => document.getElementById(id).open, aim))) problems.push(`a link to ${aim} does not unfold it`);
  }
  return { problems, detail: `${screens.toFixed(1)} screens` };
};
