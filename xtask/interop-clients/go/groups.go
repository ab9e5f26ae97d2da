package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	groupPartitions = 6
	// Sent while members come and go, in small parts.
	all   = 9_000
	part  = 60
	pause = 60 * time.Millisecond
	// The second member joins after so many, and stays for so many of its own.
	alone    = 1_000
	together = 500
)

type place struct {
	partition int32
	offset    int64
}

// member is a consumer that commits what it has read before it may lose the partition.
type member struct {
	client *kgo.Client
	ending context.CancelFunc
	ended  chan struct{}

	lock sync.Mutex
	seen []place
	// What it has now, and how often that has changed.
	owned   map[int32]bool
	changes int
	failure error
}

func join(servers []string, group, topic string, options ...kgo.Opt) (*member, error) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{ending: cancel, ended: make(chan struct{}), owned: make(map[int32]bool)}
	options = append([]kgo.Opt{
		kgo.SeedBrokers(servers...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxWait(500 * time.Millisecond),
		kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
			m.change(func() {
				for _, partition := range given[topic] {
					m.owned[partition] = true
				}
			})
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, taken map[string][]int32) {
			m.note(commitAtLast(ctx, client))
			m.change(func() {
				for _, partition := range taken[topic] {
					delete(m.owned, partition)
				}
			})
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			if len(lost[topic]) > 0 {
				m.note(fmt.Errorf("partitions were lost: %v", lost))
			}
		}),
	}, options...)
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	m.client = client
	go m.run(ctx)
	return m, nil
}

func (m *member) run(ctx context.Context) {
	defer close(m.ended)
	for ctx.Err() == nil {
		briefly, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		fetches := m.client.PollRecords(briefly, 100)
		cancel()
		for _, failed := range fetches.Errors() {
			if !errors.Is(failed.Err, context.DeadlineExceeded) && !errors.Is(failed.Err, context.Canceled) {
				m.note(failed.Err)
			}
		}
		m.lock.Lock()
		fetches.EachRecord(func(record *kgo.Record) {
			m.seen = append(m.seen, place{record.Partition, record.Offset})
		})
		m.lock.Unlock()
		m.note(m.commit())
		m.client.AllowRebalance()
	}
	m.note(m.commit())
	m.client.CloseAllowingRebalance()
}

// commit commits all that was read; between two generations it is done afterwards.
func (m *member) commit() error {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	err := m.client.CommitUncommittedOffsets(ctx)
	if isBetween(err) {
		return nil
	}
	return err
}

// commitAtLast is for partitions that are about to go.
func commitAtLast(ctx context.Context, client *kgo.Client) error {
	return waitUntil("the last commit", func() (bool, error) {
		err := client.CommitUncommittedOffsets(ctx)
		if isBetween(err) {
			return false, nil
		}
		return true, err
	})
}

// isBetween tells that the group is between two generations.
func isBetween(err error) bool {
	return errors.Is(err, kerr.RebalanceInProgress) || errors.Is(err, kerr.IllegalGeneration)
}

func (m *member) change(how func()) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.changes++
	how()
}

func (m *member) note(err error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.failure == nil {
		m.failure = err
	}
}

// state is what has happened so far: records, partitions, changes of these.
func (m *member) state() ([]place, map[int32]bool, int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Clone(m.seen), maps.Clone(m.owned), m.changes, m.failure
}

func (m *member) count() int {
	seen, _, _, _ := m.state()
	return len(seen)
}

func (m *member) has() int {
	_, owned, _, _ := m.state()
	return len(owned)
}

// end commits, leaves the group and waits for the end.
func (m *member) end() error {
	m.ending()
	select {
	case <-m.ended:
	case <-time.After(waitMax):
		return errors.New("a member does not end")
	}
	_, _, _, err := m.state()
	return err
}

// waitFor waits until something holds, while all members are well.
func waitFor(what string, members []*member, holds func() bool) error {
	return waitUntil(what, func() (bool, error) {
		for _, m := range members {
			if _, _, _, err := m.state(); err != nil {
				return false, err
			}
		}
		return holds(), nil
	})
}

// rebalance has a second member join in the middle, and leave again, while records come.
func (c *client) rebalance(name string, balancer kgo.GroupBalancer) (string, error) {
	topic := "interop-go-" + name
	group := topic + "-group"
	if err := c.create(topic, groupPartitions, nil); err != nil {
		return "", err
	}
	sent := make(chan error, 1)
	go func() { sent <- c.trickle(topic) }()
	stays, err := join(c.servers, group, topic, kgo.Balancers(balancer))
	if err != nil {
		return "", err
	}
	err = waitFor("one member reads", []*member{stays}, func() bool {
		return stays.count() >= alone
	})
	if err != nil {
		return "", err
	}
	guest, err := join(c.servers, group, topic, kgo.Balancers(balancer))
	if err != nil {
		return "", err
	}
	if err := meet(stays, guest, sent); err != nil {
		return "", err
	}
	committed, err := c.committed(group)
	if err != nil {
		return "", err
	}
	if committed != all {
		return "", fmt.Errorf("%d committed", committed)
	}
	return fmt.Sprintf("%d records, each once, %d by the second member", all, guest.count()), nil
}

// trickle sends all records, a few at a time.
func (c *client) trickle(topic string) error {
	for sent := 0; sent < all; sent += part {
		prefix := fmt.Sprintf("trickle-%d", sent)
		if _, err := send(c.servers, topic, groupPartitions, part, prefix, kgo.NoCompression()); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

func meet(stays, guest *member, sent <-chan error) error {
	both := []*member{stays, guest}
	steps := []func() error{
		func() error {
			return waitFor("both members have half of the partitions", both, func() bool {
				return stays.has() == groupPartitions/2 && guest.has() == groupPartitions/2
			})
		},
		func() error {
			return waitFor("the second member reads", both, func() bool {
				return guest.count() >= together
			})
		},
		guest.end,
		func() error {
			return waitFor("one member has all partitions again", both[:1], func() bool {
				return stays.has() == groupPartitions
			})
		},
		func() error { return <-sent },
		func() error {
			return waitFor("all is read", both[:1], func() bool {
				return stays.count()+guest.count() >= all
			})
		},
		stays.end,
		func() error { return eachOnce(stays, guest) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func eachOnce(stays, guest *member) error {
	one, _, _, _ := stays.state()
	other, _, _, _ := guest.state()
	different := make(map[place]bool)
	for _, where := range append(one, other...) {
		different[where] = true
	}
	read := len(one) + len(other)
	switch {
	case read != len(different):
		return fmt.Errorf("%d were read more than once", read-len(different))
	case read != all:
		return fmt.Errorf("%d records read, %d sent", read, all)
	}
	return nil
}

// staticMember ends a member with a name of its own; it comes back, and nobody else's partitions move.
func (c *client) staticMember() (string, error) {
	topic := "interop-go-static"
	group := topic + "-group"
	if err := c.create(topic, groupPartitions, nil); err != nil {
		return "", err
	}
	named := func(instance string) (*member, error) {
		return join(c.servers, group, topic,
			kgo.Balancers(kgo.RangeBalancer()),
			kgo.InstanceID(instance),
			kgo.SessionTimeout(60*time.Second))
	}
	stays, err := named("one")
	if err != nil {
		return "", err
	}
	goes, err := named("two")
	if err != nil {
		return "", err
	}
	err = waitFor("both members have half of the partitions", []*member{stays, goes}, func() bool {
		return stays.has() == groupPartitions/2 && goes.has() == groupPartitions/2
	})
	if err != nil {
		return "", err
	}
	_, _, before, _ := stays.state()
	_, gone, _, _ := goes.state()
	if err := goes.end(); err != nil {
		return "", err
	}
	back, err := named("two")
	if err != nil {
		return "", err
	}
	err = waitFor("it has its partitions again", []*member{stays, back}, func() bool {
		_, owned, _, _ := back.state()
		return maps.Equal(owned, gone)
	})
	if err != nil {
		return "", err
	}
	if _, _, after, _ := stays.state(); after != before {
		return "", errors.New("the other member's partitions were assigned anew")
	}
	if err := errors.Join(back.end(), stays.end()); err != nil {
		return "", err
	}
	return "the same partitions, and the other member noticed nothing", nil
}

// committed is the sum of a group's offsets.
func (c *client) committed(group string) (int64, error) {
	offsets, err := c.admin.FetchOffsets(context.Background(), group)
	if err != nil {
		return 0, err
	}
	var sum int64
	offsets.Each(func(offset kadm.OffsetResponse) { sum += offset.At })
	return sum, offsets.Error()
}
