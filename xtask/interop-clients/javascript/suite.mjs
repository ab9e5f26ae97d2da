// Runs actions one after the other and prints a line of JSON about each.

const WAIT_MAX_MS = 60_000

let anyFailed = false

function show (line) {
  console.log(JSON.stringify(line))
}

// Calls `action`, which gives what was seen, or throws. Names are those of the suite's table.
export async function act (name, action) {
  const start = performance.now()
  const line = { action: name }
  try {
    line.detail = String(await within(action(), `the action has no end`, 2 * WAIT_MAX_MS))
    line.ok = true
  } catch (error) {
    console.error(error)
    line.ok = false
    line.detail = wordsOf(error)
    anyFailed = true
  }
  line.seconds = (performance.now() - start) / 1_000
  show(line)
}

// The client puts what the cluster said below its own words.
function wordsOf (error) {
  const below = [error.cause, ...(error.errors ?? [])].filter(Boolean).map(wordsOf)
  return [`${error.name ?? 'Error'}: ${error.message}`, ...below].join('; ')
}

// Notes what the client has no call for.
export function cannot (name, why) {
  show({ action: name, skipped: why })
}

export function failed () {
  return anyFailed
}

export function check (holds, words) {
  if (!holds) throw new Error(words)
}

export function sleep (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}

// A promise that must come to its end in time.
export async function within (promise, words, ms = WAIT_MAX_MS) {
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${words}, after ${ms / 1_000} s`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

// Waits until `holds` gives something true.
export async function waitUntil (what, holds) {
  const end = Date.now() + WAIT_MAX_MS
  while (!(await holds())) {
    check(Date.now() < end, `not after ${WAIT_MAX_MS / 1_000} s: ${what}`)
    await sleep(50)
  }
}
