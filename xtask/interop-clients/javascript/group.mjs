// Consumers of a group that come and go.

import { Consumer, stringDeserializers } from '@platformatic/kafka'

import { send } from './records.mjs'
import { check, waitUntil, within } from './suite.mjs'

export const GROUP_PARTITIONS = 6
const HALF = GROUP_PARTITIONS / 2
// Sent before, while and after there are two members.
const PART = 3_000

export class Member {
  seen = []
  failure = null
  #pending = new Map()
  #next = new Map()

  static async join (servers, groupId, topic, clientId = 'interop-javascript-member') {
    const member = new Member()
    member.topic = topic
    member.consumer = new Consumer({
      clientId,
      groupId,
      bootstrapBrokers: servers,
      deserializers: stringDeserializers,
      autocommit: false,
      heartbeatInterval: 500,
      sessionTimeout: 30_000,
      rebalanceTimeout: 60_000,
      maxWaitTime: 500
    })
    // The client takes the committed offsets again whenever the group has changed.
    member.stream = await member.consumer.consume({
      topics: [topic],
      mode: 'committed',
      fallbackMode: 'earliest'
    })
    member.stream.on('error', error => { member.failure = error })
    member.stream.on('data', message => member.#take(message))
    member.timer = setInterval(() => member.#commit(), 50)
    return member
  }

  // Partitions that it has now.
  get owned () {
    const assignment = this.consumer.assignments?.find(({ topic }) => topic === this.topic)
    return new Set(assignment?.partitions ?? [])
  }

  // What was fetched twice, around a change of the group, is known by its offset.
  #take ({ partition, offset, key, value }) {
    if (!this.owned.has(partition)) {
      this.#next.delete(partition)
      return
    }
    if (offset < (this.#next.get(partition) ?? 0n)) return
    this.#next.set(partition, offset + 1n)
    this.#pending.set(partition, offset + 1n)
    this.seen.push({ partition, offset, key, value })
  }

  async #commit () {
    if (this.#pending.size === 0 || this.committing) return
    const offsets = [...this.#pending].map(([partition, offset]) =>
      ({ topic: this.topic, partition, offset, leaderEpoch: -1 }))
    this.#pending.clear()
    this.committing = this.consumer.commit({ offsets })
    try {
      await this.committing
    } catch (error) {
      this.failure ??= error
    }
    this.committing = null
  }

  get isCommitted () {
    return this.#pending.size === 0 && !this.committing
  }

  check () {
    if (this.failure) throw this.failure
  }

  async end () {
    await waitUntil('all is committed', () => this.isCommitted)
    clearInterval(this.timer)
    this.check()
    await within(this.stream.close(), 'the stream does not close')
    await within(this.consumer.close(), 'a member does not end')
  }
}

export async function waitFor (what, members, holds) {
  await waitUntil(what, () => {
    for (const member of members) member.check()
    return holds()
  })
}

// A second member joins, and leaves again.
export async function rebalance ({ servers, factor, admin }) {
  const topic = 'interop-javascript-rebalance'
  const group = `${topic}-group`
  const more = prefix => send(servers, topic, GROUP_PARTITIONS, PART, prefix)
  await admin.createTopics({ topics: [topic], partitions: GROUP_PARTITIONS, replicas: factor })
  await more('first')

  const stays = await Member.join(servers, group, topic)
  const settled = of => of.every(member => member.isCommitted)
  await waitFor('one member has read the first part', [stays], () =>
    stays.seen.length >= PART && settled([stays]))
  const guest = await Member.join(servers, group, topic)
  const both = [stays, guest]
  await waitFor('both members have half of the partitions', both, () =>
    stays.owned.size === HALF && guest.owned.size === HALF)
  await more('second')
  await waitFor('both have read the second part', both, () =>
    stays.seen.length + guest.seen.length >= 2 * PART && settled(both))
  await guest.end()
  await waitFor('one member has all partitions again', [stays], () =>
    stays.owned.size === GROUP_PARTITIONS)
  await more('third')
  await waitFor('it has read the third part', [stays], () =>
    stays.seen.length + guest.seen.length >= 3 * PART)
  await stays.end()

  const read = [...stays.seen, ...guest.seen]
  const different = new Set(read.map(({ partition, offset }) => `${partition}:${offset}`))
  check(guest.seen.length > 0, 'the second member has read nothing')
  check(read.length === different.size, `${read.length - different.size} were read more than once`)
  check(read.length === 3 * PART, `${read.length} records read, ${3 * PART} sent`)
  return `${read.length} records, each once, ${guest.seen.length} by the second member`
}
