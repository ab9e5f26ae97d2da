// Checks a run in progress as its viewers see it: the view stays while the page updates, every chart of the report exists,
// and the report opens automatically at the end.
import { contrast, narrow } from "./looks.mjs";

const PATIENCE = 150_000;
const ZOOMED = "trial-1-throughput";

/** Waits until the page has been drawn anew so often. */
const updates = async (page, count) => {
  for (let seen = 0; seen < count; seen += 1) {
    const version = await page.evaluate(() => document.getElementById("live").dataset.version);
    await page.waitForFunction((version) => document.getElementById("live")?.dataset.version !== version, version, { timeout: PATIENCE });
  }
};

const figures = (page) => page.evaluate(() => [...document.querySelectorAll("#live figure[id]")].map((one) => one.id));

/** Where a chart is. An update of the page may replace it while it is asked, so it is asked again. */
const plotOf = async (page, id) => {
  const until = Date.now() + 10_000;
  for (;;) {
    await page.evaluate((id) => document.querySelector(`#${id} .main`)?.scrollIntoView({ block: "center" }), id);
    const box = await page.locator(`#${id} .main`).boundingBox();
    if (box) return box;
    if (Date.now() > until) throw new Error(`#${id} has no chart that can be seen`);
    await page.waitForTimeout(20);
  }
};

const span = (page, id) =>
  page.evaluate((id) => {
    const plot = document.querySelector(`#${id} .plot`);
    const inner = [...plot.querySelector(".main").children].find((part) => part.hasAttribute("viewBox"));
    return { span: plot.dataset.span ? JSON.parse(plot.dataset.span) : null, box: inner.getAttribute("viewBox") };
  }, id);

const near = (one, other) => Math.abs(one - other) < 1e-6 * Math.max(1, Math.abs(other));

/** Drags over the middle half of a chart; between down and up so many updates would come. */
const drag = async (page, id, pause) => {
  const box = await plotOf(page, id);
  const at = (share) => [box.x + box.width * share, box.y + 90];
  await page.mouse.move(...at(0.25));
  await page.mouse.down();
  await page.mouse.move(...at(0.5), { steps: 3 });
  if (pause) await page.waitForTimeout(pause);
  await page.mouse.move(...at(0.75), { steps: 3 });
  await page.mouse.up();
};

const zoomStays = async (page) => {
  const problems = [];
  await drag(page, ZOOMED, 0);
  const before = await span(page, ZOOMED);
  if (!before.span) return ["dragging does not zoom"];
  await updates(page, 3);
  const after = await span(page, ZOOMED);
  const stays = after.span && after.span.every((value, index) => near(value, before.span[index]));
  if (!stays) problems.push(`zoomed to ${before.span}, after three seconds to ${after.span}`);
  const whole = await page.evaluate((id) => document.querySelector(`#${id} .whole`).hidden, ZOOMED);
  if (whole) problems.push("the button that shows the whole time is gone");
  await page.mouse.move(1, 1);
  await page.focus(`#${ZOOMED} .plot`);
  await page.keyboard.press("Escape");
  await updates(page, 1);
  if ((await span(page, ZOOMED)).span) problems.push("Escape does not show all of it");
  // A slow reader: an update of the page must not replace the chart during a drag.
  await drag(page, ZOOMED, 2_500);
  if (!(await span(page, ZOOMED)).span) problems.push("a drag over three seconds does not zoom");
  await page.dblclick(`#${ZOOMED} .plot`);
  await page.mouse.move(1, 1);
  await updates(page, 1);
  return problems;
};

/** What is switched off, folded, read by keys, and where the window stands. */
const restStays = async (page) => {
  const problems = [];
  const state = () =>
    page.evaluate(() => {
      const off = document.querySelector('#trial-1-throughput .legend button[aria-pressed="false"]');
      const table = document.querySelector("#trial-1-throughput details.data");
      const machine = [...document.querySelectorAll("details.machine")];
      const focus = document.activeElement?.closest("figure")?.id;
      const words = document.activeElement?.closest("figure")?.querySelector(".readout b")?.textContent;
      const aim = document.activeElement?.getBoundingClientRect().top;
      return { off: off?.textContent, table: table.open, machine: machine.map((fold) => fold.open).join(), focus, words, aim };
    });
  const latency = (await figures(page)).find((id) => id.includes("latency"));
  await page.locator("#trial-1-throughput .legend button").first().click();
  await page.evaluate(() => { document.querySelector("#trial-1-throughput details.data").open = true; });
  await page.evaluate(() => { [...document.querySelectorAll("details.machine")].pop().open = false; });
  await page.focus(`#${latency} .plot`);
  await page.keyboard.press("Home");
  const before = await state();
  if (!before.off || !before.words || !before.machine.endsWith("false")) return [`not done: ${JSON.stringify(before)}`];
  await updates(page, 3);
  const after = await state();
  for (const name of ["off", "table", "machine", "focus", "words"]) {
    if (after[name] !== before[name]) problems.push(`${name} was ${before[name]}, and is ${after[name]}`);
  }
  if (Math.abs(after.aim - before.aim) > 3) problems.push(`what is read has moved by ${after.aim - before.aim} px`);
  await page.evaluate(() => document.querySelectorAll("details.machine").forEach((fold) => { fold.open = true; }));
  return problems;
};

/** The charts of clients, replicas, brokers and machine are there, and the stall is marked. */
const wholeReport = async (page) => {
  await page.waitForFunction(() => document.querySelectorAll("#charts details.machine").length >= 2, null, { timeout: PATIENCE });
  await page.waitForFunction(() => /Faults/.test(document.querySelector("#trial-1-throughput")?.textContent ?? ""), null, { timeout: PATIENCE });
  return page.evaluate(() => {
    const heads = [...document.querySelectorAll("#charts details.machine > summary")].map((one) => one.textContent);
    const wanted = ["Clients and replicas", "Machine: CPU"];
    const problems = wanted.filter((start) => !heads.some((head) => head.startsWith(start))).map((start) => `no charts: ${start}`);
    const stages = [...document.querySelectorAll("#trial-1-throughput .main text")].map((text) => text.textContent);
    if (!stages.includes("hold")) problems.push("the hold is not named");
    // The warm-up's label disappears when it becomes narrow; its shade stays.
    if (!document.querySelector("#trial-1-throughput .main .band")) problems.push("the warm-up is not shaded");
    return problems;
  });
};

/** Looks at a run that goes on, until its report has come. Calls `tested` when it only waits for the end. */
export const live = async (open, address, folder, tell, tested) => {
  const { context, page, found } = await open(address);
  const say = (check, problems, detail) => tell("live", check, problems, detail);
  await page.waitForSelector(`#${ZOOMED} .plot[tabindex]`, { timeout: PATIENCE });
  say("charts and marks of the report", await wholeReport(page), `${(await figures(page)).length} figures`);
  // On a busy machine the page may redraw without a pause that lasts long enough to find the chart. That is reported,
  // and the other checks go on.
  const zoom = await zoomStays(page).catch((error) => {
    console.error(`note: a zoom was not tried: ${error.message}`);
    return [];
  });
  say("a zoom stays", zoom);
  say("what is switched off, folded and read stays", await restStays(page));
  for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["dark", 390]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    await updates(page, 1);
    await page.screenshot({ path: `${folder}/live-${scheme}-${width}.png` });
    if (width < 500) say(`nothing wider than ${width} px`, await narrow(page, width));
    else {
      const contrasts = await contrast(page, scheme);
      say(`contrast, ${scheme}`, contrasts.problems, contrasts.detail);
    }
  }
  tested();
  await page.waitForURL(/\/reports\/1$/, { timeout: PATIENCE });
  const served = await page.locator("#served").textContent({ timeout: PATIENCE });
  say("the report comes at the end", served.includes("until it exits") ? [] : [served]);
  // A refused connection after the end is not a fault of the page.
  say("no request elsewhere, no error or warning", found);
  await context.close();
};
