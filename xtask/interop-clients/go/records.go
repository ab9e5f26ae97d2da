package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// value is a text that is known again: short ones and long ones, beyond ASCII.
func value(prefix string, index int) string {
	if index%50 == 0 {
		return fmt.Sprintf("%s-%d %s", prefix, index, strings.Repeat("long ", 1_000))
	}
	return fmt.Sprintf("%s-%d größer, 大きい", prefix, index)
}

func key(prefix string, index int) string {
	return fmt.Sprintf("%s-%d", prefix, index)
}

// send sends records idempotently, as franz-go does by default, as many to each partition.
func send(servers []string, topic string, partitions, count int, prefix string, codec kgo.CompressionCodec) (string, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(servers...),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codec),
	)
	if err != nil {
		return "", err
	}
	defer client.Close()
	records := make([]*kgo.Record, count)
	for index := range records {
		records[index] = &kgo.Record{
			Topic:     topic,
			Partition: int32(index % partitions),
			Key:       []byte(key(prefix, index)),
			Value:     []byte(value(prefix, index)),
			Headers:   []kgo.RecordHeader{{Key: "prefix", Value: []byte(prefix)}},
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d acked", count), nil
}

// expected is what was sent by calls with these prefixes, by key.
func expected(prefixes []string, count int) map[string]string {
	all := make(map[string]string)
	for _, prefix := range prefixes {
		for index := range count {
			all[key(prefix, index)] = value(prefix, index)
		}
	}
	return all
}

// compare takes records until all that were sent are there: each once, with its content.
func compare(client *kgo.Client, wanted map[string]string) error {
	total := len(wanted)
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	for len(wanted) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("%d of %d records never came", len(wanted), total)
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			name := string(record.Key)
			sent, known := wanted[name]
			if !known {
				return fmt.Errorf("%s came twice, or was never sent", name)
			}
			if sent != string(record.Value) {
				return fmt.Errorf("the value of %s differs", name)
			}
			delete(wanted, name)
		}
	}
	if total == 0 {
		return errors.New("nothing was sent")
	}
	return nil
}
