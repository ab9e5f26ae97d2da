// node picture.mjs PAGE FOLDER: pictures of a report's figures, in light and dark mode.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, folder] = process.argv.slice(2);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: flags });
try {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1020, height: 900 }, colorScheme });
    const shown = await context.newPage();
    await shown.goto(pathToFileURL(page).href);
    // The report's title, its notices, the answer, and the charts of the first trial, as far as they fit.
    await shown.evaluate(() => {
      const keep = ["-latency-", "-percentiles", "-heat-1"];
      document.querySelectorAll(".verdicts, .hint, .data, .note").forEach((part) => part.remove());
      const trial = document.querySelector("details.trial");
      trial.open = true;
      [...trial.querySelectorAll("figure")].forEach((figure) => {
        if (!keep.some((part) => figure.id.includes(part))) figure.remove();
      });
      trial.querySelectorAll(".machine").forEach((part) => part.remove());
      const main = document.querySelector("main");
      const scenario = trial.closest("section");
      [...scenario.children].forEach((part) => {
        if (part !== trial && part.tagName !== "H2") part.remove();
      });
      const answers = main.querySelector("section");
      const notices = document.querySelectorAll("main > .notice");
      main.replaceChildren(...[...notices, answers, scenario].filter(Boolean));
      document.querySelector("footer")?.remove();
    });
    const plot = shown.locator('figure[id*="-percentiles"] .plot[tabindex]').first();
    await plot.hover({ position: { x: 330, y: 200 } });
    const height = await shown.evaluate(() => document.body.scrollHeight);
    await shown.setViewportSize({ width: 1020, height: Math.min(height, 1500) });
    await shown.evaluate(() => scrollTo(0, 0));
    await plot.hover({ position: { x: 330, y: 200 } });
    await shown.screenshot({ path: `${folder}/report-${colorScheme}.png` });
    await context.close();
  }
} finally {
  await browser.close();
}
