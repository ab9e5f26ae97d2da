//! The two Jobs of a run: its lead and its agents.

use super::pod_run::{AgentsManifest, PORT, SECRET_KEY_CLIENT, SECRET_KEY_TOKEN};
use crate::objects::{
    ConfigMapSource, Container, ContainerPort, ContainerSecurity, EmptyDir, JobManifest, JobSpec,
    KeyToPath, LabelMap, LabelSelector, LocalReference, PodSecurity, PodSpec, PodTemplate,
    PodVolume, Resources, SecretSource, SpreadConstraint, TemplateMeta, VolumeMount, VolumeSource,
};

const SECRET_DIR: &str = "/etc/kgauge/secret";
const PLAN_DIR: &str = "/etc/kgauge/plan";
const RESULTS_DIR: &str = "/results";

/// How long Kubernetes keeps the ended pods: time to read their logs.
const TTL_SECONDS: u64 = 900;

/// Mode 0440 in decimal: for the group of the pod.
const SECRET_MODE: u32 = 288;

/// The pod that plans, merges and keeps the results.
pub(super) fn lead(manifest: &AgentsManifest) -> JobManifest {
    let file = |name: &str| format!("{SECRET_DIR}/{name}");
    let agents = format!("join:{},listen=0.0.0.0:{PORT}", manifest.options.replicas);
    let own = [
        "agents".to_owned(),
        "lead".to_owned(),
        "--plan".to_owned(),
        format!("{PLAN_DIR}/plan.json"),
        "--target".to_owned(),
        file(SECRET_KEY_CLIENT),
        "--agents".to_owned(),
        agents,
        "--agents-token-file".to_owned(),
        file(SECRET_KEY_TOKEN),
        "--out".to_owned(),
        format!("{RESULTS_DIR}/run"),
        "--".to_owned(),
    ];
    let args = own
        .into_iter()
        .chain(manifest.lead_arguments.iter().cloned());
    let container = Container {
        args: args.collect(),
        ports: vec![ContainerPort {
            name: "agents",
            container_port: PORT,
        }],
        volume_mounts: vec![
            mount("secret", SECRET_DIR),
            mount("plan", PLAN_DIR),
            writable("results", RESULTS_DIR),
            writable("tmp", "/tmp"),
        ],
        ..container(manifest, "lead")
    };
    let volumes = vec![
        secret(manifest, &[SECRET_KEY_TOKEN, SECRET_KEY_CLIENT]),
        PodVolume {
            name: "plan",
            source: VolumeSource::ConfigMap(ConfigMapSource {
                name: manifest.instance.clone(),
            }),
        },
        empty("results"),
        empty("tmp"),
    ];
    job(manifest, "lead", 1, container, volumes)
}

/// The pods that generate the load.
pub(super) fn agents(manifest: &AgentsManifest) -> JobManifest {
    let args = [
        "agent",
        "--join",
        &format!("{}-lead:{PORT}", manifest.instance),
        "--token-file",
        &format!("{SECRET_DIR}/{SECRET_KEY_TOKEN}"),
    ];
    let container = Container {
        args: args.map(str::to_owned).to_vec(),
        volume_mounts: vec![mount("secret", SECRET_DIR), writable("tmp", "/tmp")],
        ..container(manifest, "agent")
    };
    let volumes = vec![secret(manifest, &[SECRET_KEY_TOKEN]), empty("tmp")];
    let mut job = job(
        manifest,
        "agent",
        manifest.options.replicas,
        container,
        volumes,
    );
    job.spec.template.spec.topology_spread_constraints = vec![SpreadConstraint {
        max_skew: 1,
        topology_key: "kubernetes.io/hostname",
        // With DoNotSchedule, nodes that have no room would keep pods pending.
        when_unsatisfiable: "ScheduleAnyway",
        label_selector: LabelSelector {
            match_labels: manifest.selector("agent"),
        },
    }];
    job
}

fn job(
    manifest: &AgentsManifest,
    component: &'static str,
    count: u32,
    container: Container,
    volumes: Vec<PodVolume>,
) -> JobManifest {
    let options = &manifest.options;
    let references = options.pull_secret.iter();
    JobManifest {
        api_version: "batch/v1",
        kind: "Job",
        metadata: manifest.meta(component),
        spec: JobSpec {
            completion_mode: match component {
                "agent" => "Indexed",
                _ => "NonIndexed",
            },
            completions: count,
            parallelism: count,
            // A restarted agent would not continue its share. But its Job must not fail as a whole: Kubernetes would
            // end the other agents, which may go on (`--agents-lost tolerate`).
            backoff_limit: (component != "agent").then_some(0),
            backoff_limit_per_index: (component == "agent").then_some(0),
            active_deadline_seconds: options.deadline_seconds,
            ttl_seconds_after_finished: TTL_SECONDS,
            template: PodTemplate {
                metadata: TemplateMeta {
                    labels: manifest.labels(component),
                    annotations: stay(),
                },
                spec: PodSpec {
                    restart_policy: "Never",
                    automount_service_account_token: false,
                    enable_service_links: false,
                    termination_grace_period_seconds: 30,
                    security_context: PodSecurity::restricted(),
                    image_pull_secrets: references
                        .map(|name| LocalReference { name: name.clone() })
                        .collect(),
                    node_selector: options.node_selector.clone(),
                    topology_spread_constraints: Vec::new(),
                    containers: vec![container],
                    volumes,
                },
            },
        },
    }
}

/// Autoscalers must not move a pod while it measures.
fn stay() -> LabelMap {
    [
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
        ("karpenter.sh/do-not-disrupt", "true"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

fn container(manifest: &AgentsManifest, name: &'static str) -> Container {
    let options = &manifest.options;
    Container {
        name,
        image: options.image.clone(),
        command: vec!["/kgauge"],
        args: Vec::new(),
        ports: Vec::new(),
        resources: Resources::guaranteed(&options.cpu, &options.memory),
        security_context: ContainerSecurity::restricted(),
        termination_message_policy: "FallbackToLogsOnError",
        volume_mounts: Vec::new(),
    }
}

fn secret(manifest: &AgentsManifest, keys: &[&'static str]) -> PodVolume {
    let items = keys.iter().map(|key| KeyToPath { key, path: key });
    PodVolume {
        name: "secret",
        source: VolumeSource::Secret(SecretSource {
            secret_name: manifest.instance.clone(),
            default_mode: SECRET_MODE,
            items: items.collect(),
        }),
    }
}

fn empty(name: &'static str) -> PodVolume {
    PodVolume {
        name,
        source: VolumeSource::EmptyDir(EmptyDir {}),
    }
}

fn mount(name: &'static str, mount_path: &'static str) -> VolumeMount {
    VolumeMount {
        name,
        mount_path,
        read_only: true,
    }
}

fn writable(name: &'static str, mount_path: &'static str) -> VolumeMount {
    VolumeMount {
        name,
        mount_path,
        read_only: false,
    }
}
