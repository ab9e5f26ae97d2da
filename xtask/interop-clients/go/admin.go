package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var background = context.Background()

func (c *client) apiVersions() (string, error) {
	found, err := c.admin.ApiVersions(background)
	if err != nil {
		return "", err
	}
	if len(found) != len(c.servers) {
		return "", fmt.Errorf("%d nodes answer", len(found))
	}
	for node, versions := range found {
		if versions.Err != nil {
			return "", fmt.Errorf("node %d: %w", node, versions.Err)
		}
		if most, known := versions.KeyMaxVersion(0); !known || most < 3 {
			return "", fmt.Errorf("node %d has no Produce for record batches", node)
		}
	}
	return fmt.Sprintf("%d nodes", len(found)), nil
}

func (c *client) describeCluster() (string, error) {
	found, err := c.admin.BrokerMetadata(background)
	if err != nil {
		return "", err
	}
	if len(found.Brokers) != len(c.servers) || found.Cluster == "" {
		return "", fmt.Errorf("%d nodes, id %q", len(found.Brokers), found.Cluster)
	}
	return fmt.Sprintf("%d nodes, controller %d", len(found.Brokers), found.Controller), nil
}

func (c *client) listTopics() (string, error) {
	found, err := c.admin.ListTopics(background)
	if err != nil {
		return "", err
	}
	if !found.Has(topic) {
		return "", errors.New(topic + " is missing")
	}
	return fmt.Sprintf("%s among %d", topic, len(found)), nil
}

func (c *client) topic() (kadm.TopicDetail, error) {
	found, err := c.admin.ListTopics(background, topic)
	if err != nil {
		return kadm.TopicDetail{}, err
	}
	return found[topic], found[topic].Err
}

func (c *client) describeTopic() (string, error) {
	found, err := c.topic()
	if err != nil {
		return "", err
	}
	if len(found.Partitions) != partitionsFirst {
		return "", fmt.Errorf("%d partitions", len(found.Partitions))
	}
	for _, partition := range found.Partitions {
		factor := int(c.factor)
		if partition.Leader < 0 || len(partition.Replicas) != factor || len(partition.ISR) != factor {
			return "", fmt.Errorf("%+v", partition)
		}
	}
	return fmt.Sprintf("%d partitions, %d replicas, all in sync", partitionsFirst, c.factor), nil
}

func (c *client) addPartitions() (string, error) {
	made, err := c.admin.UpdatePartitions(background, partitions, topic)
	if err != nil {
		return "", err
	}
	if err := made.Error(); err != nil {
		return "", err
	}
	err = waitUntil("the new partitions are told", func() (bool, error) {
		found, err := c.topic()
		return len(found.Partitions) == partitions, err
	})
	return fmt.Sprintf("%d partitions", partitions), err
}

func (c *client) deleteTopic() (string, error) {
	gone, err := c.admin.DeleteTopic(background, topic)
	if err = errors.Join(err, gone.Err); err != nil {
		return "", err
	}
	err = waitUntil("the topic is gone", func() (bool, error) {
		found, err := c.admin.ListTopics(background)
		return !found.Has(topic), err
	})
	return "the topic is gone", err
}

// setting is the value of a setting, and how many there are.
func setting(found kadm.ResourceConfigs, err error, name string) (string, int, error) {
	if err != nil {
		return "", 0, err
	}
	if len(found) != 1 {
		return "", 0, fmt.Errorf("%d resources", len(found))
	}
	if found[0].Err != nil {
		return "", 0, found[0].Err
	}
	for _, config := range found[0].Configs {
		if config.Key == name {
			return config.MaybeValue(), len(found[0].Configs), nil
		}
	}
	return "", len(found[0].Configs), nil
}

func (c *client) ofTopic(name string) (string, int, error) {
	found, err := c.admin.DescribeTopicConfigs(background, topic)
	return setting(found, err, name)
}

func (c *client) ofBroker(node int32, name string) (string, int, error) {
	found, err := c.admin.DescribeBrokerConfigs(background, node)
	return setting(found, err, name)
}

func (c *client) topicConfigs() (string, error) {
	value, count, err := c.ofTopic(retention)
	if err == nil && value != "7200000" {
		err = fmt.Errorf("%s is %q", retention, value)
	}
	return fmt.Sprintf("%d settings", count), err
}

func set(name, value string) []kadm.AlterConfig {
	return []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}
}

func unset(name string) []kadm.AlterConfig {
	return []kadm.AlterConfig{{Op: kadm.DeleteConfig, Name: name}}
}

// done is the first error of an answer about settings.
func done(found kadm.AlterConfigsResponses, err error) error {
	for _, one := range found {
		err = errors.Join(err, one.Err)
	}
	return err
}

func (c *client) alterTopicConfig() (string, error) {
	if err := done(c.admin.AlterTopicConfigs(background, set(retention, "3600000"), topic)); err != nil {
		return "", err
	}
	err := waitUntil("it is seen", func() (bool, error) {
		value, _, err := c.ofTopic(retention)
		return value == "3600000", err
	})
	return retention + " set and seen", err
}

func (c *client) node() (int32, error) {
	found, err := c.admin.ListBrokers(background)
	if err != nil || len(found) == 0 {
		return 0, errors.Join(err, errors.New("no nodes"))
	}
	return found[0].NodeID, nil
}

func (c *client) brokerConfigs() (string, error) {
	node, err := c.node()
	if err != nil {
		return "", err
	}
	value, count, err := c.ofBroker(node, "log.segment.bytes")
	if err == nil && value != segmentDefault {
		err = fmt.Errorf("log.segment.bytes is %q", value)
	}
	return fmt.Sprintf("%d settings", count), err
}

// alterBroker sets, sees and deletes a setting; nodes are none for the default of all.
func (c *client) alterBroker(seenBy int32, nodes ...int32) (string, error) {
	seen := func(wanted string) error {
		return waitUntil(logRetention+" is "+wanted, func() (bool, error) {
			value, _, err := c.ofBroker(seenBy, logRetention)
			return value == wanted, err
		})
	}
	if err := done(c.admin.AlterBrokerConfigs(background, set(logRetention, "3600000"), nodes...)); err != nil {
		return "", err
	}
	if err := seen("3600000"); err != nil {
		return "", err
	}
	if err := done(c.admin.AlterBrokerConfigs(background, unset(logRetention), nodes...)); err != nil {
		return "", err
	}
	return "set, seen, deleted", seen("")
}

func (c *client) alterBrokerConfig() (string, error) {
	node, err := c.node()
	if err != nil {
		return "", err
	}
	return c.alterBroker(node, node)
}

func (c *client) alterDefaultConfig() (string, error) {
	node, err := c.node()
	if err != nil {
		return "", err
	}
	return c.alterBroker(node)
}

func (c *client) listGroups() (string, error) {
	found, err := c.admin.ListGroups(background)
	if err != nil {
		return "", err
	}
	if state := found[group].State; state != "Empty" {
		return "", fmt.Errorf("%s is %q", group, state)
	}
	return fmt.Sprintf("%s among %d", group, len(found)), nil
}

func (c *client) describeGroup() (string, error) {
	one, err := join(c.servers, group, topic, kgo.ClientID("described"))
	if err != nil {
		return "", err
	}
	err = waitFor("the member has all partitions", []*member{one}, func() bool {
		return one.has() == partitions
	})
	found, failed := c.admin.DescribeGroups(background, group)
	if err := errors.Join(err, failed, one.end(), found[group].Err); err != nil {
		return "", err
	}
	told := found[group]
	if told.State != "Stable" || len(told.Members) != 1 || told.Members[0].ClientID != "described" {
		return "", fmt.Errorf("%+v", told)
	}
	assigned := len(told.AssignedPartitions()[topic])
	if assigned != partitions {
		return "", fmt.Errorf("its member has %d partitions", assigned)
	}
	return fmt.Sprintf("stable, one member with %d partitions", assigned), nil
}

func (c *client) groupOffsets() (string, error) {
	sum, err := c.committed(group)
	if err == nil && sum != c.total() {
		err = fmt.Errorf("they add up to %d", sum)
	}
	return fmt.Sprintf("%d", sum), err
}

func (c *client) resetGroupOffsets() (string, error) {
	var offsets kadm.Offsets
	for partition := range int32(partitions) {
		offsets.AddOffset(topic, partition, 7, -1)
	}
	if err := c.admin.CommitAllOffsets(background, group, offsets); err != nil {
		return "", err
	}
	sum, err := c.committed(group)
	if err == nil && sum != 7*partitions {
		err = fmt.Errorf("they add up to %d", sum)
	}
	return "all at 7", err
}

func (c *client) deleteGroupOffsets() (string, error) {
	var which kadm.TopicsSet
	which.Add(topic, 0)
	gone, err := c.admin.DeleteOffsets(background, group, which)
	if err = errors.Join(err, gone.Error()); err != nil {
		return "", err
	}
	sum, err := c.committed(group)
	if err == nil && sum != 7*(partitions-1) {
		err = fmt.Errorf("what is left adds up to %d", sum)
	}
	return "that of one partition is gone", err
}

func (c *client) deleteGroup() (string, error) {
	gone, err := c.admin.DeleteGroup(background, group)
	if err = errors.Join(err, gone.Err); err != nil {
		return "", err
	}
	found, err := c.admin.ListGroups(background)
	if _, there := found[group]; there {
		err = errors.New("it is still there")
	}
	return "the group is gone", err
}

func sum(found kadm.ListedOffsets, err error) (int64, error) {
	var sum int64
	found.Each(func(offset kadm.ListedOffset) { sum += offset.Offset })
	return sum, errors.Join(err, found.Error())
}

func (c *client) listOffsets() (string, error) {
	first, err := sum(c.admin.ListStartOffsets(background, topic))
	if err != nil {
		return "", err
	}
	last, err := sum(c.admin.ListEndOffsets(background, topic))
	if err != nil {
		return "", err
	}
	newest, err := sum(c.admin.ListMaxTimestampOffsets(background, topic))
	if err != nil {
		return "", err
	}
	ofTime, err := sum(c.admin.ListOffsetsAfterMilli(background, 1, topic))
	if err != nil {
		return "", err
	}
	if first != 0 || last != c.total() || ofTime != 0 || newest <= 0 {
		return "", fmt.Errorf("from %d to %d, newest %d, of a time before all %d", first, last, newest, ofTime)
	}
	return fmt.Sprintf("%d to %d, by time and by the newest time", first, last), nil
}

func (c *client) deleteRecords() (string, error) {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, 10, -1)
	gone, err := c.admin.DeleteRecords(background, offsets)
	if err = errors.Join(err, gone.Error()); err != nil {
		return "", err
	}
	low := gone[topic][0].LowWatermark
	if low != 10 {
		err = fmt.Errorf("the low watermark is %d", low)
	}
	return fmt.Sprintf("the low watermark is %d", low), err
}

func (c *client) logDirs() (string, error) {
	var which kadm.TopicsSet
	for partition := range int32(partitions) {
		which.Add(topic, partition)
	}
	found, err := c.admin.DescribeAllLogDirs(background, which)
	if err != nil {
		return "", err
	}
	replicas, bytes := 0, int64(0)
	found.Each(func(folder kadm.DescribedLogDir) {
		err = errors.Join(err, folder.Err)
		folder.Topics.Each(func(partition kadm.DescribedLogDirPartition) {
			replicas++
			bytes += partition.Size
		})
	})
	if err == nil && (replicas != partitions*int(c.factor) || bytes == 0) {
		err = fmt.Errorf("%d replicas, %d bytes", replicas, bytes)
	}
	return fmt.Sprintf("%d replicas, %d bytes", replicas, bytes), err
}

// reassign turns the replicas of a partition round, so that another node should lead.
func (c *client) reassign() (string, error) {
	found, err := c.topic()
	if err != nil {
		return "", err
	}
	before := found.Partitions[0].Replicas
	wanted := append(slices.Clone(before[1:]), before[0])
	request := kadm.AlterPartitionAssignmentsReq{}
	request.Assign(topic, 0, wanted)
	answer, err := c.admin.AlterPartitionAssignments(background, request)
	if err = errors.Join(err, answer.Error()); err != nil {
		return "", err
	}
	var which kadm.TopicsSet
	which.Add(topic, 0)
	err = waitUntil("it is done", func() (bool, error) {
		going, err := c.admin.ListPartitionReassignments(background, which)
		if err != nil || len(going[topic]) > 0 {
			return false, err
		}
		found, err := c.topic()
		return slices.Equal(found.Partitions[0].Replicas, wanted), err
	})
	return fmt.Sprintf("%v became %v", before, wanted), err
}

// electLeaders has the first replica lead, which it does not since reassign.
func (c *client) electLeaders() (string, error) {
	var which kadm.TopicsSet
	which.Add(topic, 0)
	answer, err := c.admin.ElectLeaders(background, kadm.ElectPreferredReplica, which)
	if err != nil {
		return "", err
	}
	result := answer[topic][0]
	if result.Err != nil && !errors.Is(result.Err, kerr.ElectionNotNeeded) {
		return "", fmt.Errorf("%w: %s", result.Err, result.ErrMessage)
	}
	var leader int32
	err = waitUntil("the first replica leads", func() (bool, error) {
		found, err := c.topic()
		leader = found.Partitions[0].Leader
		return leader == found.Partitions[0].Replicas[0], err
	})
	return fmt.Sprintf("node %d leads", leader), err
}
