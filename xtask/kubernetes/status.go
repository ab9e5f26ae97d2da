package main

import (
	"fmt"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// containerEnd is how a container ended.
type containerEnd struct {
	code     int
	message  string
	started  time.Time
	finished time.Time
}

// waiting is the status of a pod whose container does not run yet.
func waiting(container *core.Container, reason, message string) func(*runningPod, *core.PodStatus) {
	return func(_ *runningPod, status *core.PodStatus) {
		status.Phase = core.PodPending
		setStart(status)
		state := core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: reason, Message: message}}
		setContainer(status, container, 0, state, false)
	}
}

// running is the status of a pod whose container runs.
func running(container *core.Container, id int) func(*runningPod, *core.PodStatus) {
	return func(pod *runningPod, status *core.PodStatus) {
		status.Phase = core.PodRunning
		setStart(status)
		status.PodIP = pod.ip
		status.PodIPs = []core.PodIP{{IP: pod.ip}}
		state := core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}}
		setContainer(status, container, id, state, true)
	}
}

// terminated is the status of a pod whose container has ended; it is never started again.
func terminated(container *core.Container, id int, end containerEnd) func(*runningPod, *core.PodStatus) {
	return func(pod *runningPod, status *core.PodStatus) {
		reason := "Error"
		status.Phase = core.PodFailed
		if end.code == 0 {
			reason = "Completed"
			status.Phase = core.PodSucceeded
		}
		state := core.ContainerState{Terminated: &core.ContainerStateTerminated{
			ExitCode:    int32(end.code),
			Reason:      reason,
			Message:     end.message,
			StartedAt:   meta.NewTime(end.started),
			FinishedAt:  meta.NewTime(end.finished),
			ContainerID: containerID(id),
		}}
		setContainer(status, container, id, state, false)
	}
}

func setStart(status *core.PodStatus) {
	if status.StartTime == nil {
		now := meta.Now()
		status.StartTime = &now
	}
}

// containerID shows the process, for whoever wants to kill it.
func containerID(id int) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("process://%d", id)
}

func setContainer(status *core.PodStatus, container *core.Container, id int, state core.ContainerState, isReady bool) {
	status.ContainerStatuses = []core.ContainerStatus{{
		Name:        container.Name,
		Image:       container.Image,
		ImageID:     container.Image,
		ContainerID: containerID(id),
		State:       state,
		Ready:       isReady,
		Started:     &isReady,
	}}
	ready := core.ConditionFalse
	if isReady {
		ready = core.ConditionTrue
	}
	setCondition(status, core.PodInitialized, core.ConditionTrue)
	setCondition(status, core.ContainersReady, ready)
	setCondition(status, core.PodReady, ready)
}

func setCondition(status *core.PodStatus, kind core.PodConditionType, value core.ConditionStatus) {
	isOfKind := func(condition core.PodCondition) bool { return condition.Type == kind }
	index := slices.IndexFunc(status.Conditions, isOfKind)
	if index < 0 {
		index = len(status.Conditions)
		status.Conditions = append(status.Conditions, core.PodCondition{Type: kind})
	}
	condition := &status.Conditions[index]
	if condition.Status != value {
		condition.Status = value
		condition.LastTransitionTime = meta.Now()
	}
}
