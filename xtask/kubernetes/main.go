// process-kubelet is the kubelet of a test cluster: the containers of pods are processes of this machine.
//
// It does what the pods of kgauge and of the check need, and no more: pods with one container, volumes from Secrets,
// ConfigMaps and empty folders, logs, and exec. It belongs into mount, process and network namespaces that nothing else
// uses: it mounts, it needs root, and all pods have addresses of one loopback interface.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "process-kubelet:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("usage: process-kubelet nodes|container|page ...")
	}
	switch arguments[0] {
	case "nodes":
		return serveNodes(arguments[1:])
	case "container":
		return becomeContainer(arguments[1:])
	case "page":
		return servePages(arguments[1:])
	default:
		return fmt.Errorf("there is no command %q", arguments[0])
	}
}

// pairs collects NAME=VALUE flags.
type pairs map[string]string

func (p pairs) String() string {
	return fmt.Sprint(map[string]string(p))
}

func (p pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	p[name] = value
	return nil
}

// serveNodes registers nodes and runs the pods that the scheduler gives them, until a signal.
func serveNodes(arguments []string) error {
	flags := flag.NewFlagSet("nodes", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "how to reach the API server, as an administrator")
	folder := flags.String("dir", "", "folder for the pods")
	names := flags.String("names", "node-1", "names of the nodes, with commas between them")
	address := flags.String("address", "10.244.0.1", "address of all nodes")
	port := flags.Int("port", 10250, "port for logs and exec")
	cpu := flags.String("cpu", "2", "CPUs of each node, as the scheduler counts them")
	memory := flags.String("memory", "4Gi", "memory of each node, as the scheduler counts it")
	images := pairs{}
	flags.Var(images, "image", "NAME=DIR: an image that nodes can pull, and the folder with its files")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	// A client of one process is slower than the pods of a run start.
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	directory, err := filepath.Abs(*folder)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// What is mounted here must not appear anywhere else.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make all mounts private: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	kubelet := &kubelet{
		client:  client,
		dir:     directory,
		self:    self,
		address: *address,
		images:  images,
		nodes:   map[string]bool{},
		pods:    map[podID]*runningPod{},
	}
	if err := kubelet.listen(ctx, *port); err != nil {
		return err
	}
	for _, name := range strings.Split(*names, ",") {
		kubelet.nodes[name] = true
	}
	// The pods of a node are watched before the scheduler knows the node.
	if err := kubelet.watch(ctx); err != nil {
		return err
	}
	for name := range kubelet.nodes {
		if err := kubelet.register(ctx, name, *port, *cpu, *memory); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// servePages serves a folder at an address of the pod: the metrics of a broker.
func servePages(arguments []string) error {
	if len(arguments) != 2 {
		return errors.New("usage: process-kubelet page :PORT DIR")
	}
	address := os.Getenv("POD_IP") + arguments[0]
	return http.ListenAndServe(address, http.FileServer(http.Dir(arguments[1])))
}
