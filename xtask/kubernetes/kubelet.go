package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	discovery "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// retryPause is the time between two attempts to get what a pod needs, or to report its state.
const retryPause = 300 * time.Millisecond

type podID = types.UID

// kubelet runs the pods of all nodes.
type kubelet struct {
	client  kubernetes.Interface
	dir     string
	self    string
	address string
	images  map[string]string
	nodes   map[string]bool
	slices  discovery.EndpointSliceLister

	mutex sync.Mutex
	// pods has every pod until its object is gone: a pod that has ended must not start again.
	pods  map[podID]*runningPod
	count int

	// names orders the writers of hosts files: who lists the Services last must write last.
	names sync.Mutex
}

// runningPod is a pod from the moment when its node sees it until its object is gone.
type runningPod struct {
	object *core.Pod
	// dir has its root folder, its volumes and its log.
	dir string
	ip  string
	// removed is closed when somebody deletes the pod; grace is set before.
	removed    chan struct{}
	removeOnce sync.Once
	grace      time.Duration
	// gone is closed when its object is gone: then no grace period counts. The ports of all pods are those of one network,
	// so a process that stays would be in the way of the next run's.
	gone chan struct{}
	// ended is closed when its process has ended.
	ended  chan struct{}
	mounts mountList
}

func (p *runningPod) root() string    { return filepath.Join(p.dir, "root") }
func (p *runningPod) logPath() string { return filepath.Join(p.dir, "log") }

// remove tells the pod to end.
func (p *runningPod) remove(grace time.Duration) {
	p.removeOnce.Do(func() {
		p.grace = grace
		close(p.removed)
	})
}

// hasEnded is true when the log is complete.
func (p *runningPod) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// watch follows pods, and the addresses behind the names of Services.
func (k *kubelet) watch(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(k.client, 0)
	slices := factory.Discovery().V1().EndpointSlices()
	k.slices = slices.Lister()
	rewrite := func(any) { k.rewriteHosts() }
	_, err := slices.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    rewrite,
		UpdateFunc: func(_, slice any) { rewrite(slice) },
		DeleteFunc: rewrite,
	})
	if err != nil {
		return err
	}
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.see(ctx, object) },
		UpdateFunc: func(_, object any) { k.see(ctx, object) },
		DeleteFunc: k.forget,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, isSynced := range factory.WaitForCacheSync(ctx.Done()) {
		if !isSynced {
			return fmt.Errorf("no list of %v", kind)
		}
	}
	return nil
}

// see starts a new pod of a node, or ends one that somebody deletes.
func (k *kubelet) see(ctx context.Context, object any) {
	pod, isPod := object.(*core.Pod)
	if !isPod || !k.nodes[pod.Spec.NodeName] {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	running, isKnown := k.pods[pod.UID]
	if !isKnown {
		k.count++
		running = &runningPod{
			object:  pod.DeepCopy(),
			dir:     filepath.Join(k.dir, string(pod.UID)),
			ip:      fmt.Sprintf("10.244.%d.%d", 1+k.count/250, 1+k.count%250),
			removed: make(chan struct{}),
			gone:    make(chan struct{}),
			ended:   make(chan struct{}),
		}
		k.pods[pod.UID] = running
		go k.live(ctx, running)
	}
	if pod.DeletionTimestamp != nil {
		var seconds int64
		if pod.DeletionGracePeriodSeconds != nil {
			seconds = *pod.DeletionGracePeriodSeconds
		}
		running.remove(time.Duration(seconds) * time.Second)
	}
}

// forget ends a pod whose object is gone.
func (k *kubelet) forget(object any) {
	if last, isUnknown := object.(cache.DeletedFinalStateUnknown); isUnknown {
		object = last.Obj
	}
	pod, isPod := object.(*core.Pod)
	if !isPod {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if running := k.pods[pod.UID]; running != nil {
		running.remove(0)
		close(running.gone)
		delete(k.pods, pod.UID)
	}
}

// live is the whole life of a pod.
func (k *kubelet) live(ctx context.Context, pod *runningPod) {
	log.Printf("%s/%s: on %s with address %s", pod.object.Namespace, pod.object.Name, pod.object.Spec.NodeName, pod.ip)
	k.runToEnd(ctx, pod)
	close(pod.ended)
	<-pod.removed
	pod.mounts.undo()
	pods := k.client.CoreV1().Pods(pod.object.Namespace)
	for ctx.Err() == nil {
		err := pods.Delete(ctx, pod.object.Name, meta.DeleteOptions{
			GracePeriodSeconds: new(int64),
			Preconditions:      meta.NewUIDPreconditions(string(pod.object.UID)),
		})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			break
		}
		log.Printf("%s/%s: delete: %v", pod.object.Namespace, pod.object.Name, err)
		time.Sleep(retryPause)
	}
	log.Printf("%s/%s: gone", pod.object.Namespace, pod.object.Name)
}

// runToEnd returns when the container has ended, or when somebody deletes a pod that has no container yet.
func (k *kubelet) runToEnd(ctx context.Context, pod *runningPod) {
	container := &pod.object.Spec.Containers[0]
	image, isKnown := k.images[container.Image]
	if !isKnown {
		k.refuse(ctx, pod, container)
		return
	}
	volumes, isDone := k.awaitVolumes(ctx, pod)
	if !isDone {
		return
	}
	process, err := k.start(pod, container, image, volumes)
	if err != nil {
		k.report(ctx, pod, waiting(container, "CreateContainerError", err.Error()))
		<-pod.removed
		return
	}
	k.report(ctx, pod, running(container, process.id()))
	end := process.await(pod)
	k.report(ctx, pod, terminated(container, process.id(), end))
}

// refuse reports an image that nobody has, as a kubelet does after its second try.
func (k *kubelet) refuse(ctx context.Context, pod *runningPod, container *core.Container) {
	message := fmt.Sprintf("failed to pull image %q: not found", container.Image)
	k.report(ctx, pod, waiting(container, "ErrImagePull", message))
	select {
	case <-time.After(time.Second):
		message = fmt.Sprintf("Back-off pulling image %q: %s", container.Image, message)
		k.report(ctx, pod, waiting(container, "ImagePullBackOff", message))
		<-pod.removed
	case <-pod.removed:
	}
}

// awaitVolumes tries until all Secrets and ConfigMaps exist. It returns false if somebody deletes the pod before.
func (k *kubelet) awaitVolumes(ctx context.Context, pod *runningPod) (map[string]volume, bool) {
	shown := ""
	for {
		volumes, err := k.makeVolumes(ctx, pod)
		if err == nil {
			return volumes, true
		}
		if err.Error() != shown {
			shown = err.Error()
			log.Printf("%s/%s: %v", pod.object.Namespace, pod.object.Name, err)
			k.report(ctx, pod, waiting(&pod.object.Spec.Containers[0], "ContainerCreating", ""))
		}
		select {
		case <-time.After(retryPause):
		case <-pod.removed:
			return nil, false
		}
	}
}

// report changes the status of a pod, and tries until the API server has taken it.
func (k *kubelet) report(ctx context.Context, pod *runningPod, change func(*runningPod, *core.PodStatus)) {
	pods := k.client.CoreV1().Pods(pod.object.Namespace)
	for ctx.Err() == nil {
		object, err := pods.Get(ctx, pod.object.Name, meta.GetOptions{})
		if err == nil && object.UID == pod.object.UID {
			object.Status.HostIP = k.address
			object.Status.HostIPs = []core.HostIP{{IP: k.address}}
			change(pod, &object.Status)
			_, err = pods.UpdateStatus(ctx, object, meta.UpdateOptions{})
		}
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		if !apierrors.IsConflict(err) {
			log.Printf("%s/%s: status: %v", pod.object.Namespace, pod.object.Name, err)
			time.Sleep(retryPause)
		}
	}
}
