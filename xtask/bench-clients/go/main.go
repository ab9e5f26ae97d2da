// Sends records with franz-go and says what that took: one producer, as fast as it goes or at a rate.
//
//	bench-client SERVERS TOPIC RECORDS VALUE_BYTES BATCH_BYTES LINGER_MS BUFFER_BYTES CODEC KEYS RATE
//
// CODEC is none or lz4, KEYS how many different keys there are (0: none), RATE records a second (0: at
// full speed). It takes three times for each record, as an honest load generator has to: when it was
// due, when it was handed over, when its ack came.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil {
		fail(err)
	}
	return value
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench-client:", err)
	os.Exit(1)
}

func main() {
	if len(os.Args) != 11 {
		fail(fmt.Errorf("ten arguments are wanted"))
	}
	servers, topic := strings.Split(os.Args[1], ","), os.Args[2]
	records, valueBytes, batchBytes := number(3), number(4), number(5)
	linger, bufferBytes, codec := number(6), number(7), os.Args[8]
	keys, rate := number(9), number(10)
	compression := kgo.NoCompression()
	if codec == "lz4" {
		compression = kgo.Lz4Compression()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(servers...),
		kgo.DefaultProduceTopic(topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(batchBytes)),
		kgo.ProducerLinger(time.Duration(linger)*time.Millisecond),
		kgo.MaxBufferedBytes(bufferBytes),
		kgo.MaxBufferedRecords(bufferBytes/(valueBytes+1)),
		kgo.ProducerBatchCompression(compression),
	)
	if err != nil {
		fail(err)
	}
	defer client.Close()
	values := pool(valueBytes, codec != "none")
	var acked, failed, waited atomic.Int64
	ctx, start := context.Background(), time.Now()
	for i := 0; i < records; i++ {
		due := time.Since(start)
		if rate > 0 {
			due = time.Duration(float64(i) / float64(rate) * 1e9)
			for time.Since(start) < due {
				if left := due - time.Since(start); left > time.Millisecond {
					time.Sleep(left - time.Millisecond)
				}
			}
		}
		sent := time.Since(start)
		from := (i * valueBytes) & (poolBytes - 1)
		value := make([]byte, valueBytes)
		copy(value, values[from:from+valueBytes])
		binary.LittleEndian.PutUint64(value, uint64(i)*0x9e3779b97f4a7c15)
		record := &kgo.Record{Value: value}
		if keys > 0 {
			record.Key = []byte(fmt.Sprintf("%08x", i%keys))
		}
		client.Produce(ctx, record, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
				return
			}
			waited.Add(int64(time.Since(start)-due) + int64(sent-due))
			acked.Add(1)
		})
	}
	if err := client.Flush(ctx); err != nil {
		fail(err)
	}
	seconds := time.Since(start).Seconds()
	fmt.Printf("{\"acked\": %d, \"failed\": %d, \"seconds\": %.6f, \"wait_ns\": %d}\n",
		acked.Load(), failed.Load(), seconds, waited.Load())
}

const poolBytes = 1 << 20

// Random bytes; of a compressible pool half of each 64 bytes repeats.
func pool(valueBytes int, compressible bool) []byte {
	values := make([]byte, poolBytes+valueBytes)
	state := uint64(1)
	for i := range values {
		state = state*6364136223846793005 + 1442695040888963407
		values[i] = byte(state >> 56)
		if compressible && i%64 >= 32 {
			values[i] = byte('a' + i%26)
		}
	}
	return values
}
