// franz-go against a cluster: prints a line of JSON about each action.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic           = "interop-go"
	group           = "interop-go-group"
	partitionsFirst = 3
	partitions      = 6
	records         = 2_000
	retention       = "retention.ms"
	logRetention    = "log.retention.ms"
	segmentDefault  = "1073741824"
)

type client struct {
	servers []string
	factor  int16
	admin   *kadm.Client
	// Prefixes of what was sent.
	sent []string
}

func (c *client) total() int64 {
	return int64(len(c.sent)) * records
}

func (c *client) create(name string, partitions int32, configs map[string]*string) error {
	made, err := c.admin.CreateTopic(context.Background(), partitions, c.factor, configs, name)
	if err != nil {
		return err
	}
	return made.Err
}

// act runs all actions in an order in which each finds what it needs.
func (c *client) act(s *suite) {
	s.act("API versions", c.apiVersions)
	s.act("describe the cluster", c.describeCluster)
	s.act("create a topic", c.createTopic)
	s.act("list topics", c.listTopics)
	s.act("describe a topic", c.describeTopic)
	s.act("add partitions", c.addPartitions)
	s.act("describe a topic's settings", c.topicConfigs)
	s.act("alter a topic's setting", c.alterTopicConfig)
	s.act("describe a broker's settings", c.brokerConfigs)
	s.act("alter a broker's setting", c.alterBrokerConfig)
	s.act("alter a default of all brokers", c.alterDefaultConfig)
	s.act("produce, idempotent", c.produce("none", kgo.NoCompression()))
	s.act("produce, gzip", c.produce("gzip", kgo.GzipCompression()))
	s.act("produce, snappy", c.produce("snappy", kgo.SnappyCompression()))
	s.act("produce, lz4", c.produce("lz4", kgo.Lz4Compression()))
	s.act("produce, zstd", c.produce("zstd", kgo.ZstdCompression()))
	s.act("consume", c.consume)
	s.act("consume by group", c.consumeByGroup)
	s.act("rebalance, eager", func() (string, error) {
		return c.rebalance("range", kgo.RangeBalancer())
	})
	s.act("rebalance, cooperative", func() (string, error) {
		return c.rebalance("cooperative-sticky", kgo.CooperativeStickyBalancer())
	})
	s.act("static member", c.staticMember)
	s.act("list groups", c.listGroups)
	s.act("describe a group", c.describeGroup)
	s.act("list a group's offsets", c.groupOffsets)
	s.act("reset a group's offsets", c.resetGroupOffsets)
	s.act("delete a group's offsets", c.deleteGroupOffsets)
	s.act("delete a group", c.deleteGroup)
	s.act("list offsets", c.listOffsets)
	s.act("delete records", c.deleteRecords)
	s.act("log directories", c.logDirs)
	if c.factor > 1 {
		s.act("reassign partitions", c.reassign)
		s.act("elect leaders", c.electLeaders)
	}
	s.act("delete a topic", c.deleteTopic)
}

func (c *client) produce(prefix string, codec kgo.CompressionCodec) func() (string, error) {
	return func() (string, error) {
		said, err := send(c.servers, topic, partitions, records, prefix, codec)
		if err == nil {
			c.sent = append(c.sent, prefix)
		}
		return said, err
	}
}

func (c *client) consume() (string, error) {
	reader, err := kgo.NewClient(
		kgo.SeedBrokers(c.servers...),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	if err := compare(reader, expected(c.sent, records)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d records, contents equal", c.total()), nil
}

func (c *client) consumeByGroup() (string, error) {
	reader, err := kgo.NewClient(
		kgo.SeedBrokers(c.servers...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	if err := compare(reader, expected(c.sent, records)); err != nil {
		return "", err
	}
	if err := reader.CommitUncommittedOffsets(context.Background()); err != nil {
		return "", err
	}
	committed, err := c.committed(group)
	if err == nil && committed != c.total() {
		err = fmt.Errorf("%d committed", committed)
	}
	return fmt.Sprintf("%d records, contents equal, %d committed", c.total(), committed), err
}

func main() {
	servers := flag.String("bootstrap", "", "the cluster's bootstrap servers")
	factor := flag.Int("replication-factor", 1, "replicas of each topic")
	flag.Parse()
	seeds := strings.Split(*servers, ",")
	// Each answer is to be the cluster's own, not one that the client remembers.
	kafka, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	defer kafka.Close()
	c := client{servers: seeds, factor: int16(*factor), admin: kadm.NewClient(kafka)}
	s := &suite{}
	c.act(s)
	s.exit()
}

func (c *client) createTopic() (string, error) {
	value := "7200000"
	configs := map[string]*string{retention: &value}
	if err := c.create(topic, partitionsFirst, configs); err != nil {
		return "", err
	}
	again := c.create(topic, partitionsFirst, configs)
	if !errors.Is(again, kerr.TopicAlreadyExists) {
		return "", fmt.Errorf("a second time: %w", again)
	}
	return strconv.Itoa(partitionsFirst) + " partitions; a second time is refused", nil
}
