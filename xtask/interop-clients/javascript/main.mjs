// @platformatic/kafka against a cluster: prints a line of JSON about each action.

import { parseArgs } from 'node:util'
import zlib from 'node:zlib'

import { Admin, Consumer } from '@platformatic/kafka'

import { AdminActions } from './admin.mjs'
import { Member, rebalance, waitFor } from './group.mjs'
import { expected, send, tick } from './records.mjs'
import { act, cannot, check, failed } from './suite.mjs'

const TOPIC = 'interop-javascript'
const GROUP = 'interop-javascript-group'
const PARTITIONS = 6
const RECORDS = 2_000
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

class Records {
  sent = []

  constructor (servers) {
    this.servers = servers
  }

  get total () {
    return this.sent.length * RECORDS
  }

  async produce (codec) {
    const said = await send(this.servers, TOPIC, PARTITIONS, RECORDS, codec, codec)
    this.sent.push(codec)
    return said
  }

  // By single fetches: streams of this client always belong to a group.
  async consume () {
    const consumer = new Consumer({
      clientId: 'interop-javascript-reader',
      groupId: 'interop-javascript-none',
      bootstrapBrokers: this.servers
    })
    const left = expected(this.sent, RECORDS)
    const { topics } = await consumer.metadata({ topics: [TOPIC] })
    const { id: topicId, partitions } = topics.get(TOPIC)
    for (const [partition, { leader }] of partitions.entries()) {
      await this.#fetchAll(consumer, { topicId, partition, leader }, left)
    }
    await consumer.close()
    check(left.size === 0, `${left.size} of ${this.total} records never came`)
    return `${this.total} records, contents equal`
  }

  async #fetchAll (consumer, { topicId, partition, leader }, left) {
    let [offset, end] = [0n, 1n]
    while (offset < end) {
      const wanted = {
        partition,
        fetchOffset: offset,
        currentLeaderEpoch: -1,
        lastFetchedEpoch: -1,
        partitionMaxBytes: 1 << 20
      }
      const topics = [{ topicId, partitions: [wanted] }]
      const answer = await consumer.fetch({ node: leader, topics, maxWaitTime: 500 })
      const [found] = answer.responses[0].partitions
      end = found.highWatermark
      const before = offset
      for (const batch of found.records ?? []) {
        for (const record of batch.records) {
          if (batch.firstOffset + BigInt(record.offsetDelta) < offset) continue
          tick(left, record.key.toString(), record.value.toString())
        }
        offset = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
      }
      check(offset > before || offset >= end, `nothing comes at offset ${offset}`)
    }
  }

  async consumeByGroup () {
    const member = await Member.join(this.servers, GROUP, TOPIC)
    await waitFor('all has come', [member], () => member.seen.length >= this.total)
    await member.end()
    const left = expected(this.sent, RECORDS)
    for (const { key, value } of member.seen) tick(left, key, value)
    return `${this.total} records, contents equal`
  }
}

async function describeGroup (actions, servers) {
  const member = await Member.join(servers, GROUP, TOPIC, 'described')
  await waitFor('the member has all partitions', [member], () => member.owned.size === PARTITIONS)
  const said = await actions.describeGroup('described')
  await member.end()
  return said
}

async function run (servers, factor) {
  const admin = new Admin({ clientId: 'interop-javascript-admin', bootstrapBrokers: servers })
  const names = { topic: TOPIC, group: GROUP, partitions: PARTITIONS }
  const actions = new AdminActions({ admin, servers, factor, ...names })
  const records = new Records(servers)
  await act('API versions', () => actions.apiVersions())
  await act('describe the cluster', () => actions.describeCluster())
  await act('create a topic', () => actions.createTopic())
  await act('list topics', () => actions.listTopics())
  await act('describe a topic', () => actions.describeTopic())
  await act('add partitions', () => actions.addPartitions())
  await act("describe a topic's settings", () => actions.topicConfigs())
  await act("alter a topic's setting", () => actions.alterTopicConfig())
  await act("describe a broker's settings", () => actions.brokerConfigs())
  await act("alter a broker's setting", () => actions.alterBrokerConfig())
  cannot('alter a default of all brokers', 'the client looks for a node of the name, which is empty')
  for (const codec of CODECS) {
    const name = codec === 'none' ? 'produce, idempotent' : `produce, ${codec}`
    if (codec === 'zstd' && !zlib.zstdCompressSync) {
      cannot(name, 'the client has zstd from Node.js, which knows it since 22.15')
    } else {
      await act(name, () => records.produce(codec))
    }
  }
  await act('consume', () => records.consume())
  await act('consume by group', () => records.consumeByGroup())
  await act('rebalance, eager', () => rebalance({ servers, factor, admin }))
  cannot('rebalance, cooperative', 'the client has no cooperative assignor')
  cannot('static member', 'the client leaves the group at its end, also as a static member')
  await act('list groups', () => actions.listGroups())
  await act('describe a group', () => describeGroup(actions, servers))
  await act("list a group's offsets", () => actions.groupOffsets(records.total))
  await act("reset a group's offsets", () => actions.resetGroupOffsets())
  await act("delete a group's offsets", () => actions.deleteGroupOffsets())
  await act('delete a group', () => actions.deleteGroup())
  await act('list offsets', () => actions.listOffsets(records.total))
  await act('delete records', () => actions.deleteRecords())
  await act('log directories', () => actions.logDirs())
  cannot('elect leaders', 'the client has no call for it')
  cannot('reassign partitions', 'the client has no call for it')
  await act('delete a topic', () => actions.deleteTopic())
  await admin.close()
}

const { values } = parseArgs({
  options: {
    bootstrap: { type: 'string' },
    'replication-factor': { type: 'string', default: '1' }
  }
})
await run(values.bootstrap.split(','), Number(values['replication-factor']))
// A consumer that did not end must not keep the process.
process.exit(failed() ? 1 : 0)
