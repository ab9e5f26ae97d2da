package main

import (
	"context"
	"runtime"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
)

const (
	leaseSeconds  = 40
	leaseInterval = 10 * time.Second
)

// register creates a node that is ready, and keeps its lease alive until the context ends.
func (k *kubelet) register(ctx context.Context, name string, port int, cpu, memory string) error {
	quantities := map[core.ResourceName]string{
		core.ResourceCPU:    cpu,
		core.ResourceMemory: memory,
		core.ResourcePods:   "110",
	}
	capacity := core.ResourceList{}
	for resourceName, text := range quantities {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return err
		}
		capacity[resourceName] = quantity
	}
	now := meta.Now()
	node := &core.Node{
		ObjectMeta: meta.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				core.LabelHostname:   name,
				core.LabelOSStable:   runtime.GOOS,
				core.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: core.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Conditions: []core.NodeCondition{{
				Type:               core.NodeReady,
				Status:             core.ConditionTrue,
				Reason:             "KubeletReady",
				Message:            "pods are processes of this machine",
				LastHeartbeatTime:  now,
				LastTransitionTime: now,
			}},
			Addresses: []core.NodeAddress{{Type: core.NodeInternalIP, Address: k.address}},
			DaemonEndpoints: core.NodeDaemonEndpoints{
				KubeletEndpoint: core.DaemonEndpoint{Port: int32(port)},
			},
			NodeInfo: core.NodeSystemInfo{
				OperatingSystem:         runtime.GOOS,
				Architecture:            runtime.GOARCH,
				KubeletVersion:          version.Get().GitVersion,
				ContainerRuntimeVersion: "process://1",
			},
		},
	}
	_, err := k.client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	heartbeat := lease.NewController(
		clock.RealClock{}, k.client, name, leaseSeconds, nil, leaseInterval, name, core.NamespaceNodeLease, nil,
	)
	go heartbeat.Run(ctx)
	return nil
}
