package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	slicesv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// rewriteHosts gives all pods the present addresses of all Services.
func (k *kubelet) rewriteHosts() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for _, pod := range k.pods {
		if _, err := os.Stat(filepath.Join(pod.root(), "etc")); err != nil {
			continue
		}
		if err := k.writeHosts(pod); err != nil {
			log.Printf("%s/%s: names: %v", pod.object.Namespace, pod.object.Name, err)
		}
	}
}

// writeHosts writes a pod's /etc/hosts: itself, and in place of a name server the Services' endpoints. There is no
// service proxy either, so the name of every Service is that of its endpoints.
func (k *kubelet) writeHosts(pod *runningPod) error {
	k.names.Lock()
	defer k.names.Unlock()
	own := pod.object
	var text strings.Builder
	fmt.Fprintf(&text, "127.0.0.1 localhost\n::1 localhost\n%s %s\n", pod.ip, hostname(own))
	slices, err := k.slices.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, slice := range slices {
		service, isNamed := slice.Labels[slicesv1.LabelServiceName]
		if !isNamed {
			continue
		}
		names := fmt.Sprintf("%[1]s.%[2]s %[1]s.%[2]s.svc %[1]s.%[2]s.svc.cluster.local", service, slice.Namespace)
		if slice.Namespace == own.Namespace {
			names = service + " " + names
		}
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && !*endpoint.Conditions.Ready {
				continue
			}
			for _, address := range endpoint.Addresses {
				fmt.Fprintf(&text, "%s %s\n", address, names)
			}
		}
	}
	path := filepath.Join(pod.root(), "etc", "hosts")
	partial, err := os.CreateTemp(filepath.Dir(path), "hosts-")
	if err != nil {
		return err
	}
	_, err = partial.WriteString(text.String())
	if err == nil {
		err = partial.Chmod(0o644)
	}
	if closing := partial.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(partial.Name(), path)
}
