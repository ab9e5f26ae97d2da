// Records that are known again when they are read.

import { Producer, stringSerializers } from '@platformatic/kafka'

import { check } from './suite.mjs'

const MESSAGES_OF_A_CALL = 500

// Short ones and long ones, beyond ASCII.
function value (prefix, index) {
  if (index % 50 === 0) return `${prefix}-${index} ${'long '.repeat(1_000)}`
  return `${prefix}-${index} größer, 大きい`
}

function message (topic, partitions, prefix, index) {
  return {
    topic,
    partition: index % partitions,
    key: `${prefix}-${index}`,
    value: value(prefix, index),
    headers: { prefix }
  }
}

// Sends idempotently, with acks=all, as many records to each partition.
export async function send (servers, topic, partitions, count, prefix, compression = 'none') {
  const producer = new Producer({
    clientId: 'interop-javascript-producer',
    bootstrapBrokers: servers,
    serializers: stringSerializers,
    idempotent: true,
    acks: -1,
    compression
  })
  try {
    for (let from = 0; from < count; from += MESSAGES_OF_A_CALL) {
      const length = Math.min(MESSAGES_OF_A_CALL, count - from)
      const messages = Array.from({ length }, (_, at) => message(topic, partitions, prefix, from + at))
      const { offsets } = await producer.send({ messages })
      check(offsets.length > 0, 'no offsets in the answer')
    }
  } finally {
    await producer.close()
  }
  return `${count} acked`
}

// What was sent by calls with these prefixes, by key.
export function expected (prefixes, count) {
  const all = new Map()
  for (const prefix of prefixes) {
    for (let index = 0; index < count; index++) all.set(`${prefix}-${index}`, value(prefix, index))
  }
  return all
}

// Takes one record away from what is expected: each comes once, with its content.
export function tick (left, key, found) {
  check(left.has(key), `${key} came twice, or was never sent`)
  check(left.get(key) === found, `the value of ${key} differs`)
  left.delete(key)
}
