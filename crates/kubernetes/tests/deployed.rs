//! A run in pods, as `kubectl` shows it: rights, pods that fail, connections that break.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;

use fake_kubectl::FakeKubectl;
use kgauge_client::Interrupt;
use kgauge_kubernetes::{
    DeployError, DeployedRun, FollowOptions, READY_LINE, RELEASE_FILE, STOP_FILE, follow, pack,
};
use made::small;
use serde_json::{Value, json};

mod fake_kubectl;
mod made;

const REVIEW: &str = "create --validate=false -f - -o json";
const CREATE_LEAD: &str = "create -f - -o jsonpath={.metadata.uid}";
const CREATE: &str = "create -f -";
const PODS: &str = "get pods -n default -l app.kubernetes.io/instance=kgauge-1 -o json";
const LEAD: &str = "get pods -n default -l app.kubernetes.io/instance=kgauge-1,app.kubernetes.io/component=lead -o json";
const FAILED: &str = "get pods -n default -l \
                      app.kubernetes.io/instance=kgauge-1,app.kubernetes.io/component=agent \
                      --field-selector=status.phase=Failed -o json";
const EVENTS: &str = "get events -n default --field-selector=reason=FailedCreate -o json";
const LOG: &str = "logs --follow -n default a-lead-x";
const PACK: &str = "exec -n default a-lead-x -- /kgauge agents pack";

fn pod(name: &str, component: &str, status: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {"app.kubernetes.io/component": component}}, "status": status})
}

fn running(name: &str, component: &str) -> Value {
    pod(name, component, json!({"phase": "Running"}))
}

fn list(pods: &[Value]) -> Value {
    json!({ "items": pods })
}

/// A run of a lead and an agent, both running, whose lead has results.
fn ready() -> FakeKubectl {
    let fake = FakeKubectl::new();
    let lead = running("a-lead-x", "lead");
    fake.print(CREATE_LEAD, b"8f14e45f-ceea-467f-a0e6-4d2a10a1f9a5");
    fake.answer(
        PODS,
        &list(&[lead.clone(), running("a-agent-0-y", "agent")]),
    );
    fake.answer(LEAD, &list(&[lead]));
    fake.answer(FAILED, &list(&[]));
    fake.print(LOG, format!("first\nsecond\n{READY_LINE}\n").as_bytes());
    let results = fake.dir().join("lead");
    fs::create_dir(&results).unwrap();
    fs::write(results.join("status"), "0\n").unwrap();
    let mut packed = Vec::new();
    pack(&results, &mut packed).unwrap();
    fake.print(PACK, &packed);
    fake
}

/// Follows the run to its end. Returns what was shown.
fn run(fake: &FakeKubectl) -> (Result<(), DeployError>, Vec<String>) {
    run_with(fake, |_, _| {})
}

/// The same; `see` gets each line when it is shown, and what ends the run.
fn run_with(
    fake: &FakeKubectl,
    mut see: impl FnMut(&str, &Interrupt),
) -> (Result<(), DeployError>, Vec<String>) {
    let mut shown = Vec::new();
    let created = DeployedRun::create(&small(), fake.kubectl());
    let followed = created.and_then(|run| {
        let (interrupt, abandon) = (Interrupt::new(), Interrupt::new());
        let options = FollowOptions {
            results: &fake.dir().join("results"),
            interrupt: &interrupt,
            abandon: &abandon,
            tolerates_lost: false,
        };
        follow(&run, &options, &mut |line| {
            see(line, &interrupt);
            shown.push(line.to_owned());
        })
    });
    (followed, shown)
}

fn calls(fake: &FakeKubectl) -> Vec<String> {
    let calls = fs::read_to_string(fake.dir().join("calls")).unwrap();
    calls.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check_removed(fake: &FakeKubectl) {
    let calls = calls(fake);
    let last = calls.last().unwrap();
    assert_eq!(
        last,
        "delete -n default --ignore-not-found --wait=false job/kgauge-1-agent job/kgauge-1-lead service/kgauge-1-lead \
         configmap/kgauge-1 secret/kgauge-1"
    );
}

#[test]
fn results_are_fetched_the_lead_may_end_and_all_objects_are_removed() {
    let fake = ready();
    let (followed, shown) = run(&fake);
    followed.unwrap();
    assert_eq!(
        shown,
        [
            "kgauge: lead running, 1 of 1 agents running",
            "first",
            "second",
            "kgauge: fetching the results"
        ]
    );
    let status = fs::read_to_string(fake.dir().join("results/status")).unwrap();
    assert_eq!(status, "0\n");
    let release = format!("exec -n default a-lead-x -- /kgauge agents signal {RELEASE_FILE}");
    assert!(calls(&fake).contains(&release));
    check_removed(&fake);
}

#[test]
fn missing_rights_are_named_all_at_once_before_anything_is_created() {
    let fake = ready();
    let review = |resource: &str, subresource: &str, verb: &str, allowed: bool| {
        json!({"spec": {"resourceAttributes": {"resource": resource, "subresource": subresource, "verb": verb}},
               "status": {"allowed": allowed}})
        .to_string()
    };
    let reviews = [
        review("secrets", "", "create", false),
        review("secrets", "", "get", true),
        review("pods", "exec", "create", false),
        review("pods", "exec", "get", false),
    ];
    fake.print(REVIEW, reviews.join("\n").as_bytes());
    let error = run(&fake).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "rights are missing in namespace default: create secrets, create pods/exec"
    );
    assert!(
        error
            .fix()
            .ends_with("kubectl auth can-i create secrets -n default")
    );
    assert_eq!(calls(&fake), [REVIEW]);
}

#[test]
fn what_was_created_before_an_error_is_removed() {
    for step in [CREATE_LEAD, CREATE] {
        let fake = ready();
        let missing = "Error from server (NotFound): error when creating \"STDIN\": namespaces \"default\" not found\n";
        fake.fail(step, &missing.repeat(5));
        let error = run(&fake).0.unwrap_err();
        assert_eq!(error.to_string(), "namespaces \"default\" does not exist");
        check_removed(&fake);
    }
    let fake = ready();
    fake.print(CREATE_LEAD, b"\n");
    let error = run(&fake).0.unwrap_err().to_string();
    assert!(error.ends_with("it printed no id"), "{error}");
    check_removed(&fake);
}

#[test]
fn errors_that_pass_do_not_end_a_run() {
    let fake = ready();
    let down = b"Unable to connect to the server: dial tcp: i/o timeout\n";
    for arguments in [PODS, LOG, PACK] {
        fake.print(&format!("{arguments}.once"), down);
    }
    fake.print(
        "delete -n default --ignore-not-found --wait=false job/kgauge-1-agent job/kgauge-1-lead \
         service/kgauge-1-lead configmap/kgauge-1 secret/kgauge-1.once",
        down,
    );
    let (followed, shown) = run(&fake);
    followed.unwrap();
    let shown = shown.join("\n");
    for words in [
        "i/o timeout; trying again for 3 minutes",
        "Kubernetes answers again",
        "i/o timeout; fetching them again",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(shown.matches("second").count(), 1);
    check_removed(&fake);
}

#[test]
fn a_stop_that_kubernetes_does_not_answer_is_sent_again() {
    let fake = ready();
    let log = fs::read(fake.file(LOG)).unwrap();
    fake.print(LOG, b"first\n");
    let stop = format!("exec -n default a-lead-x -- /kgauge agents signal {STOP_FILE}");
    fake.print(&stop, b"");
    let down = b"Unable to connect to the server: dial tcp: i/o timeout\n";
    fake.print(&format!("{stop}.once"), down);
    let (followed, shown) = run_with(&fake, |line, interrupt| {
        if line == "first" {
            interrupt.raise();
        }
        if line.contains("trying again for 3 minutes") {
            fake.print(LOG, &log);
        }
    });
    followed.unwrap();
    assert!(
        shown.contains(&"kgauge: fetching the results".to_owned()),
        "{shown:?}"
    );
    let stops = calls(&fake).into_iter().filter(|call| *call == stop);
    assert_eq!(stops.count(), 2);
    check_removed(&fake);
}

#[test]
fn an_agent_that_the_lead_refused_ends_the_run_with_its_message() {
    let fake = ready();
    fake.print(LOG, b"waiting for agents: 0 of 1 joined\n");
    let refused = pod(
        "a-agent-0-y",
        "agent",
        json!({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 2, "reason": "Error",
               "message": "kgauge: error: the lead has version 2, this agent has 1\n"}}}]}),
    );
    fake.answer(PODS, &list(&[running("a-lead-x", "lead"), refused]));
    let error = run(&fake).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "pod a-agent-0-y ended: kgauge: error: the lead has version 2, this agent has 1"
    );
    assert!(error.fix().contains("the same image"));
    check_removed(&fake);
}

#[test]
fn a_policy_that_refuses_pods_is_shown() {
    let fake = ready();
    fake.answer(PODS, &list(&[]));
    let message = "Error creating: pods \"kgauge-1-lead-x\" is forbidden: violates PodSecurity \"restricted:latest\"";
    fake.answer(
        EVENTS,
        &json!({"items": [{"involvedObject": {"name": "kgauge-1-lead"}, "message": message}]}),
    );
    let error = run(&fake).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("Kubernetes does not create the pods: {message}")
    );
    assert!(error.fix().contains("administrator"));
    check_removed(&fake);
}

#[test]
fn pods_that_are_refused_for_a_moment_are_waited_for() {
    let fake = ready();
    let pods = fs::read(fake.file(PODS)).unwrap();
    fake.answer(PODS, &list(&[]));
    let message =
        "Error creating: Internal error occurred: failed calling webhook \"pods.example\"";
    fake.answer(
        EVENTS,
        &json!({"items": [{"involvedObject": {"name": "kgauge-1-lead"}, "message": message}]}),
    );
    let waiting = format!("kgauge: Kubernetes refuses pods, waiting (30 s left): {message}");
    let (followed, shown) = run_with(&fake, |line, _| {
        if line == waiting {
            fake.print(PODS, &pods);
        }
    });
    followed.unwrap();
    assert!(shown.contains(&waiting), "{shown:?}");
    check_removed(&fake);
}

#[test]
fn no_kubectl_is_said_so() {
    let kubectl = kgauge_kubernetes::Kubectl::at("/no/such/kubectl".into(), Interrupt::new());
    let error = DeployedRun::create(&small(), kubectl).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kubectl is not installed, or not in PATH"
    );
}
