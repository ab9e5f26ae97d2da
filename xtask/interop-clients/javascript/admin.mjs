// Calls about topics, settings, groups and offsets.

import { ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'

import { check, waitUntil } from './suite.mjs'

const { TOPIC: OF_TOPIC, BROKER: OF_BROKER } = ConfigResourceTypes
const { SET, DELETE } = IncrementalAlterConfigOperationTypes
const RETENTION = 'retention.ms'
const LOG_RETENTION = 'log.retention.ms'
const SEGMENT_DEFAULT = '1073741824'
const PARTITIONS_FIRST = 3

export class AdminActions {
  constructor ({ admin, servers, factor, topic, group, partitions }) {
    Object.assign(this, { admin, servers, factor, topic, group, partitions })
  }

  async #topic () {
    const found = await this.admin.metadata({ topics: [this.topic], forceUpdate: true })
    return found.topics.get(this.topic)
  }

  async apiVersions () {
    const apis = await this.admin.listApis()
    check(apis.some(({ name, maxVersion }) => name === 'Produce' && maxVersion >= 3), 'no Produce')
    return `${apis.length} APIs`
  }

  async describeCluster () {
    const found = await this.admin.metadata({ topics: [], forceUpdate: true })
    check(found.brokers.size === this.servers.length, `${found.brokers.size} nodes`)
    check(found.id, 'no cluster id')
    return `${found.brokers.size} nodes, controller ${found.controllerId}`
  }

  async createTopic () {
    const create = () => this.admin.createTopics({
      topics: [this.topic],
      partitions: PARTITIONS_FIRST,
      replicas: this.factor,
      configs: [{ name: RETENTION, value: '7200000' }]
    })
    const [made] = await create()
    check(made.partitions === PARTITIONS_FIRST, `${made.partitions} partitions`)
    const again = await create().then(() => null, error => error)
    check(again, 'a second time is not refused')
    check(again.findBy?.('apiId', 'TOPIC_ALREADY_EXISTS'), `a second time: ${again.message}`)
    return `${PARTITIONS_FIRST} partitions; a second time is refused`
  }

  async listTopics () {
    const topics = await this.admin.listTopics()
    check(topics.includes(this.topic), `${this.topic} is missing`)
    return `${this.topic} among ${topics.length}`
  }

  async describeTopic () {
    const { partitions } = await this.#topic()
    check(partitions.length === PARTITIONS_FIRST, `${partitions.length} partitions`)
    for (const { leader, replicas, isr } of partitions) {
      check(leader >= 0 && replicas.length === this.factor && isr.length === this.factor,
        `leader ${leader}, replicas ${replicas}, in sync ${isr}`)
    }
    return `${partitions.length} partitions, ${this.factor} replicas, all in sync`
  }

  async addPartitions () {
    await this.admin.createPartitions({ topics: [{ name: this.topic, count: this.partitions }] })
    await waitUntil('the new partitions are told', async () =>
      (await this.#topic()).partitions.length === this.partitions)
    return `${this.partitions} partitions`
  }

  async deleteTopic () {
    await this.admin.deleteTopics({ topics: [this.topic] })
    await waitUntil('the topic is gone', async () =>
      !(await this.admin.listTopics()).includes(this.topic))
    return 'the topic is gone'
  }

  async #settings (resourceType, resourceName) {
    const [found] = await this.admin.describeConfigs({ resources: [{ resourceType, resourceName }] })
    return new Map(found.configs.map(({ name, value }) => [name, value]))
  }

  async #alter (resourceType, resourceName, name, value) {
    const change = value === null
      ? { name, configOperation: DELETE }
      : { name, configOperation: SET, value }
    const resource = { resourceType, resourceName, configs: [change] }
    await this.admin.incrementalAlterConfigs({ resources: [resource] })
  }

  // A node may hear of a change a little later than the controller.
  async #becomes (resourceType, resourceName, name, value) {
    await waitUntil(`${name} is ${value}`, async () =>
      ((await this.#settings(resourceType, resourceName)).get(name) ?? null) === value)
  }

  async topicConfigs () {
    const found = await this.#settings(OF_TOPIC, this.topic)
    check(found.get(RETENTION) === '7200000', `${RETENTION} is ${found.get(RETENTION)}`)
    return `${found.size} settings`
  }

  async alterTopicConfig () {
    await this.#alter(OF_TOPIC, this.topic, RETENTION, '3600000')
    await this.#becomes(OF_TOPIC, this.topic, RETENTION, '3600000')
    return `${RETENTION} set and seen`
  }

  async #node () {
    const { brokers } = await this.admin.metadata({ topics: [] })
    return String(brokers.keys().next().value)
  }

  async brokerConfigs () {
    const found = await this.#settings(OF_BROKER, await this.#node())
    const segment = found.get('log.segment.bytes')
    check(segment === SEGMENT_DEFAULT, `log.segment.bytes is ${segment}`)
    return `${found.size} settings`
  }

  async alterBrokerConfig () {
    const node = await this.#node()
    await this.#alter(OF_BROKER, node, LOG_RETENTION, '3600000')
    await this.#becomes(OF_BROKER, node, LOG_RETENTION, '3600000')
    await this.#alter(OF_BROKER, node, LOG_RETENTION, null)
    await this.#becomes(OF_BROKER, node, LOG_RETENTION, null)
    return 'set, seen, deleted'
  }

  async listGroups () {
    const groups = await this.admin.listGroups()
    check(groups.has(this.group), `${this.group} is missing`)
    const { state } = groups.get(this.group)
    check(state.toUpperCase() === 'EMPTY', `it is ${state}`)
    return `${this.group} among ${groups.size}`
  }

  // While it has one member with that client id.
  async describeGroup (clientId) {
    const group = (await this.admin.describeGroups({ groups: [this.group] })).get(this.group)
    check(group.state.toUpperCase() === 'STABLE', `it is ${group.state}`)
    const [member, ...others] = group.members.values()
    check(member.clientId === clientId && others.length === 0, `${others.length + 1} members`)
    const { partitions } = member.assignments.get(this.topic)
    check(partitions.length === this.partitions, `its member has ${partitions.length} partitions`)
    return `stable, one member with ${partitions.length} partitions`
  }

  async #offsets () {
    const [found] = await this.admin.listConsumerGroupOffsets({ groups: [this.group] })
    const topic = found.topics.find(({ name }) => name === this.topic)
    return (topic?.partitions ?? []).map(({ committedOffset }) => Number(committedOffset))
  }

  async groupOffsets (total) {
    const offsets = await this.#offsets()
    const sum = offsets.reduce((one, other) => one + other, 0)
    check(sum === total, `they add up to ${sum}, not ${total}`)
    return `${sum} in ${offsets.length} partitions`
  }

  async resetGroupOffsets () {
    const numbers = [...Array(this.partitions).keys()]
    const partitionOffsets = numbers.map(partition => ({ partition, offset: 7n }))
    const topics = [{ name: this.topic, partitionOffsets }]
    await this.admin.alterConsumerGroupOffsets({ groupId: this.group, topics })
    const offsets = await this.#offsets()
    check(offsets.length === this.partitions && offsets.every(at => at === 7), `they are ${offsets}`)
    return 'all at 7'
  }

  async deleteGroupOffsets () {
    const topics = [{ name: this.topic, partitionIndexes: [0] }]
    await this.admin.deleteConsumerGroupOffsets({ groupId: this.group, topics })
    const left = (await this.#offsets()).filter(offset => offset >= 0)
    check(left.length === this.partitions - 1, `${left.length} are left`)
    return 'that of one partition is gone'
  }

  async deleteGroup () {
    await this.admin.deleteGroups({ groups: [this.group] })
    check(!(await this.admin.listGroups()).has(this.group), 'it is still there')
    return 'the group is gone'
  }

  async listOffsets (total) {
    const at = async timestamp => {
      const numbers = [...Array(this.partitions).keys()]
      const partitions = numbers.map(partitionIndex => ({ partitionIndex, timestamp }))
      const [found] = await this.admin.listOffsets({ topics: [{ name: this.topic, partitions }] })
      check(found.partitions.length === this.partitions, `${found.partitions.length} partitions`)
      return found.partitions.reduce((sum, { offset }) => sum + Number(offset), 0)
    }
    const [first, last, early] = [await at(-2n), await at(-1n), await at(1n)]
    check(first === 0 && last === total && early === 0,
      `from ${first} to ${last}, of a time before all ${early}`)
    return `${first} to ${last}, and by time`
  }

  async deleteRecords () {
    const partitions = [{ partition: 0, offset: 10n }]
    const [found] = await this.admin.deleteRecords({ topics: [{ name: this.topic, partitions }] })
    const low = Number(found.partitions[0].lowWatermark)
    check(low === 10, `the low watermark is ${low}`)
    return `the low watermark is ${low}`
  }

  async logDirs () {
    const partitions = [...Array(this.partitions).keys()]
    const brokers = await this.admin.describeLogDirs({ topics: [{ name: this.topic, partitions }] })
    const sizes = brokers
      .flatMap(({ results }) => results)
      .flatMap(({ topics }) => topics)
      .filter(({ name }) => name === this.topic)
      .flatMap(topic => topic.partitions.map(({ partitionSize }) => Number(partitionSize)))
    const bytes = sizes.reduce((one, other) => one + other, 0)
    check(sizes.length === this.partitions * this.factor && bytes > 0,
      `${sizes.length} replicas, ${bytes} bytes`)
    return `${sizes.length} replicas, ${bytes} bytes`
  }
}
