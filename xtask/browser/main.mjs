// Tests kgauge's pages in Chromium as people use them: pointer, keys, narrow windows, dark mode, paper, no script.
// node main.mjs FOLDER PAGE...: prints a line of JSON per check; pictures go into the folder. A page that is an address is
// a run in progress. Each page has its own context. Most of the time is waiting for frames, so several pages are tested
// concurrently.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { charts, keyboard, zoom } from "./charts.mjs";
import { live } from "./live.mjs";
import { contents, contrast, dashes, folds, narrow, paper, withoutScript } from "./looks.mjs";

const BYTES_MAX = 2 * 1024 * 1024;
/** Of a quick study: bytes, and screens with everything folded. */
const STUDY_MAX = { bytes: 1024 * 1024, screens: 12 };
/** So many pages that are files are looked at side by side. */
const BESIDE = 3;
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

// Violations by a page: requests, errors and warnings, dialogs, policy violations.
const watch = (page, own) => {
  const found = [];
  const isOwn = (url) => (own.startsWith("http:") ? url.startsWith(own) : url.split("#")[0] === own);
  page.on("request", (request) => isOwn(request.url()) || found.push(`request of ${request.url()}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) found.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => found.push(`thrown: ${error.message}`));
  page.on("dialog", (dialog) => { found.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
  page.on("popup", () => found.push("a further window"));
  return found;
};

const open = async (browser, address, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const found = watch(page, address);
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`forbidden: ${event.violatedDirective}`));
  });
  await page.goto(address, { waitUntil: "load" });
  return { context, page, found };
};

// A broken observer would accept every page: this page does everything that must be detected.
const watcherSees = async (browser, folder) => {
  const { writeFileSync } = await import("node:fs");
  const path = `${folder}/bad.html`;
  writeFileSync(path, `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="img-src 'none'">
    <img src="file:///forbidden.png"><script>console.warn("w"); alert("a"); fetch("http://127.0.0.1:9/").catch(() => 0);
    throw new Error("t")</script>`);
  const { context, found } = await open(browser, pathToFileURL(path).href);
  await context.close();
  const missing = ["request of http:", "warning: w", "dialog: a", "thrown: t", "forbidden"]
    .filter((start) => !found.some((text) => text.includes(start)));
  return missing.length ? [`not seen: ${missing.join(", ")}`] : [];
};

const tell = (page, check, problems, detail = "") =>
  process.stdout.write(`${JSON.stringify({ page, check, problems: problems.slice(0, 8), detail: String(detail) })}\n`);

/** The same for one page, at its end: lines of pages side by side would mix. */
const together = async (job) => {
  const told = [];
  try {
    await job((...words) => told.push(words));
  } finally {
    told.forEach((words) => tell(...words));
  }
};

const look = async (browser, path, folder, tell) => {
  const name = basename(path, ".html");
  const address = pathToFileURL(path).href;
  const bytes = statSync(path).size;
  const isStudy = /-20\d\d$/.test(name);
  tell(name, "size", bytes < (isStudy ? STUDY_MAX.bytes : BYTES_MAX) ? [] : [`${bytes} bytes`], `${bytes} bytes`);
  for (const width of [1280, 390]) {
    const { context, page } = await open(browser, address, { viewport: { width, height: 800 } });
    tell(name, `contents, ${width} px`, await contents(page, width < 1000));
    if (width > 1000) {
      const folded = await folds(page, isStudy ? STUDY_MAX.screens : Infinity);
      tell(name, "folds and links", folded.problems, folded.detail);
    }
    await context.close();
  }
  for (const scheme of ["light", "dark"]) {
    const { context, page, found } = await open(browser, address, { colorScheme: scheme });
    await page.screenshot({ path: `${folder}/${name}-${scheme}.png` });
    if (scheme === "light") {
      const chartsFound = await charts(page);
      tell(name, "values under the pointer, legends", chartsFound.problems, chartsFound.detail);
      const keys = await keyboard(page);
      tell(name, "keyboard and tables", keys.problems, keys.detail);
      const zoomed = await zoom(page);
      tell(name, "zoom", zoomed.problems, zoomed.detail);
      const dashed = await dashes(page);
      tell(name, "lines differ without colours", dashed.problems, dashed.detail);
    }
    const contrasts = await contrast(page, scheme);
    tell(name, `contrast, ${scheme}`, contrasts.problems, contrasts.detail);
    tell(name, `no request, error or warning, ${scheme}`, found);
    await context.close();
  }
  for (const width of [360, 390, 768]) {
    const { context, page } = await open(browser, address, { viewport: { width, height: 800 }, hasTouch: width < 500 });
    const problems = await narrow(page, width);
    tell(name, `nothing wider than ${width} px`, problems);
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: `${folder}/${name}-${width}.png` });
    await context.close();
  }
  const printed = await open(browser, address, { viewport: { width: 718, height: 1047 } });
  const pages = await paper(printed.page, `${folder}/${name}.pdf`);
  tell(name, "paper", pages.problems, pages.detail);
  await printed.context.close();
  const without = await open(browser, address, { javaScriptEnabled: false });
  const withIt = await open(browser, address);
  tell(name, "whole without script", await withoutScript(without.page, withIt.page));
  await without.context.close();
  await withIt.context.close();
};

const [folder, ...paths] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS });
try {
  tell("bad", "the checks see what they look for", await watcherSees(browser, folder));
  const isRun = (path) => path.startsWith("http:");
  const waiting = paths.filter((path) => !isRun(path));
  const runs = paths.filter(isRun);
  const resolvers = [];
  const tested = runs.map(() => new Promise((resolve) => { resolvers.push(resolve); }));
  const next = async () => {
    await Promise.all(tested);
    for (let path = waiting.shift(); path; path = waiting.shift()) {
      await together((tell) => look(browser, path, folder, tell));
    }
  };
  await Promise.all([
    ...runs.map((path, index) =>
      together((tell) => live((address) => open(browser, address), path, folder, tell, resolvers[index]))),
    ...Array.from({ length: BESIDE }, next),
  ]);
} finally {
  await browser.close();
}
