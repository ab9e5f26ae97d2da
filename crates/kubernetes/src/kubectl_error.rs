//! Errors of `kubectl`, read from its messages.

use std::io;

/// Longer messages are cut.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Why a command of `kubectl` failed.
#[derive(Debug, thiserror::Error)]
pub enum KubectlError {
    /// It is not installed.
    #[error("kubectl is not installed, or not in PATH")]
    NoProgram,
    /// It could not be started.
    #[error("cannot run kubectl: {0}")]
    Io(io::Error),
    /// It did not end.
    #[error("{command} did not end within {seconds} s")]
    TimedOut {
        /// With its arguments.
        command: String,
        /// The limit.
        seconds: u64,
    },
    /// The user stopped kgauge.
    #[error("interrupted")]
    Interrupted,
    /// Its output is not what it should be.
    #[error("cannot read the output of {command}: {why}")]
    Unreadable {
        /// With its arguments.
        command: String,
        /// What is wrong, without the text.
        why: String,
    },
    /// The user lacks a right.
    #[error(
        "{user} may not {verb} {resource}{}{}",
        in_group(group),
        in_namespace(namespace)
    )]
    Forbidden {
        /// As Kubernetes names it.
        user: String,
        /// `get`, `list`, `create` and others.
        verb: String,
        /// Such as `secrets` or `pods/log`.
        resource: String,
        /// The API group; empty for the core group.
        group: String,
        /// Empty for rights on the whole cluster.
        namespace: String,
    },
    /// The namespace refuses an object: quota, limits, pod security.
    #[error("Kubernetes refused {command}: {message}")]
    Refused {
        /// With its arguments.
        command: String,
        /// Kubernetes' message.
        message: String,
    },
    /// The object does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// Such as `secrets "x"`.
        what: String,
    },
    /// The cluster does not know the kind of object.
    #[error("the Kubernetes cluster has no resource type {resource}")]
    NoResourceType {
        /// Such as `kafkas.kafka.strimzi.io`.
        resource: String,
    },
    /// No cluster answers, or none is configured.
    #[error("kubectl does not reach a Kubernetes cluster: {message}")]
    Unreachable {
        /// Its message.
        message: String,
    },
    /// Anything else.
    #[error("{command} failed: {message}")]
    Failed {
        /// With its arguments.
        command: String,
        /// Its message.
        message: String,
    },
}

fn in_group(group: &str) -> String {
    match group.is_empty() {
        true => String::new(),
        false => format!(".{group}"),
    }
}

fn in_namespace(namespace: &str) -> String {
    match namespace.is_empty() {
        true => " in the whole cluster".to_owned(),
        false => format!(" in namespace {namespace}"),
    }
}

impl KubectlError {
    /// The fix for the user.
    pub fn fix(&self) -> String {
        match self {
            KubectlError::NoProgram => {
                "install it: https://kubernetes.io/docs/tasks/tools/".to_owned()
            }
            KubectlError::Io(_) => "check that the program can be run".to_owned(),
            KubectlError::TimedOut { .. }
            | KubectlError::Unreachable { .. }
            | KubectlError::Unreadable { .. } => {
                "check the context: kubectl config current-context; kubectl version".to_owned()
            }
            KubectlError::Interrupted => "run it again".to_owned(),
            KubectlError::Forbidden {
                verb,
                resource,
                group,
                namespace,
                ..
            } => {
                let place = match namespace.is_empty() {
                    true => String::new(),
                    false => format!(" -n {namespace}"),
                };
                let resource = format!("{resource}{}", in_group(group));
                format!(
                    "ask an administrator for this right, and check it: kubectl auth can-i {verb} {resource}{place}"
                )
            }
            KubectlError::Refused { .. } => {
                "ask for fewer or smaller pods, or for a larger quota".to_owned()
            }
            KubectlError::NotFound { .. } => "check the name and the namespace".to_owned(),
            KubectlError::NoResourceType { .. } => {
                "check the context: kubectl config current-context".to_owned()
            }
            KubectlError::Failed { .. } => "run the command to see more".to_owned(),
        }
    }

    /// Whether the same command may work a moment later: no answer, or an error that kgauge does not know.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            KubectlError::Unreachable { .. }
                | KubectlError::TimedOut { .. }
                | KubectlError::Failed { .. }
        )
    }

    /// Reads what `kubectl` printed before it failed.
    ///
    /// The texts are those of k8s.io/apimachinery `pkg/api/errors` and k8s.io/apiserver
    /// `pkg/endpoints/handlers/responsewriters`.
    pub(crate) fn classify(command: &str, stderr: &[u8]) -> KubectlError {
        let lines = error_lines(&String::from_utf8_lossy(stderr));
        // `kubectl create` goes on with the next object, so there may be several errors.
        if let Some(error) = lines.iter().find_map(|line| forbidden(line)) {
            return error;
        }
        let with = |texts: &[&str]| {
            let has = |line: &&String| texts.iter().any(|text| line.contains(text));
            lines.iter().find(has)
        };
        let (command, message) = (command.to_owned(), lines.join("; "));
        if let Some(line) = with(&["doesn't have a resource type", "no matches for kind"]) {
            let resource = quoted(line).unwrap_or_default().to_owned();
            return KubectlError::NoResourceType { resource };
        }
        if let Some(line) = with(&["(NotFound)"]) {
            return KubectlError::NotFound {
                what: not_found(line).to_owned(),
            };
        }
        if with(&["(Forbidden)", "exceeded quota"]).is_some() {
            return KubectlError::Refused { command, message };
        }
        const UNREACHABLE: [&str; 6] = [
            "was refused - did you specify the right host or port",
            "Unable to connect to the server",
            "no configuration has been provided",
            "must be logged in to the server",
            "context was not found",
            "dial tcp",
        ];
        match with(&UNREACHABLE).is_some() {
            true => KubectlError::Unreachable { message },
            false => KubectlError::Failed { command, message },
        }
    }
}

/// The errors among the lines, each once: `kubectl` may log retries and warnings before them. There is at least one.
fn error_lines(stderr: &str) -> Vec<String> {
    let is_noise = |line: &str| {
        // klog: E1127 01:02:03.000000  123 memcache.go:265]
        let is_log = line.len() > 5
            && line.starts_with(['E', 'W', 'I'])
            && line[1..].starts_with(|first: char| first.is_ascii_digit());
        line.is_empty() || is_log || line.starts_with("Warning:")
    };
    let all = || stderr.lines().map(str::trim);
    let mut lines: Vec<String> = Vec::new();
    let mut chars_left = MESSAGE_CHARS_MAX;
    let has_error = all().any(|line| !is_noise(line));
    for line in all().filter(|line| !has_error || !is_noise(line)) {
        let cut: String = line.chars().take(chars_left).collect();
        let cut = cut.replace(|letter: char| letter.is_control(), " ");
        if !cut.is_empty() && !lines.contains(&cut) {
            chars_left -= cut.chars().count();
            lines.push(cut);
        }
    }
    match lines.is_empty() {
        true => vec!["it printed no message".to_owned()],
        false => lines,
    }
}

/// `namespaces "perf"` of `Error from server (NotFound): error when creating "STDIN": namespaces "perf" not found`.
fn not_found(line: &str) -> &str {
    let what = line.split("(NotFound): ").nth(1).unwrap_or(line);
    let what = match what.starts_with("error when ") {
        true => what.split_once("\": ").map_or(what, |(_, what)| what),
        false => what,
    };
    what.strip_suffix(" not found").unwrap_or(what)
}

/// `User "u" cannot get resource "secrets" in API group "" in the namespace "kafka"`.
fn forbidden(message: &str) -> Option<KubectlError> {
    let (before, rights) = message.split_once("cannot ")?;
    let (verb, rest) = rights.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once('"')?;
    let after = |marker: &str| {
        let (_, text) = rest.split_once(marker)?;
        Some(text.split_once('"')?.0.to_owned())
    };
    let user = before
        .rsplit_once("User \"")
        .map(|(_, name)| name.trim_end_matches([' ', '"']));
    Some(KubectlError::Forbidden {
        user: match user {
            Some(name) if !name.is_empty() => format!("user {name}"),
            _ => "this user".to_owned(),
        },
        verb: verb.to_owned(),
        resource: resource.to_owned(),
        group: after("in API group \"").unwrap_or_default(),
        namespace: after("in the namespace \"").unwrap_or_default(),
    })
}

/// The first text between quotation marks.
fn quoted(message: &str) -> Option<&str> {
    message.split('"').nth(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn words(stderr: &str) -> String {
        KubectlError::classify("kubectl get x", stderr.as_bytes()).to_string()
    }

    #[test]
    fn a_missing_right_is_named_with_verb_object_and_namespace() {
        let stderr = "E1127 01:02:03.000000 12 memcache.go:265] noise\nError from server (Forbidden): secrets \
                      \"my\" is forbidden: User \"jane\" cannot get resource \"secrets\" in API group \"\" in the \
                      namespace \"kafka\"\n";
        assert_eq!(
            words(stderr),
            "user jane may not get secrets in namespace kafka"
        );
        let fix = KubectlError::classify("kubectl", stderr.as_bytes()).fix();
        assert!(
            fix.ends_with("kubectl auth can-i get secrets -n kafka"),
            "{fix}"
        );
        let stderr = "Error from server (Forbidden): kafkas.kafka.strimzi.io \"a\" is forbidden: User \
                      \"system:serviceaccount:x:y\" cannot get resource \"kafkas\" in API group \"kafka.strimzi.io\" \
                      in the namespace \"b\"";
        assert_eq!(
            words(stderr),
            "user system:serviceaccount:x:y may not get kafkas.kafka.strimzi.io in namespace b"
        );
    }

    #[test]
    fn other_errors_are_told_apart() {
        let quota = "Error from server (Forbidden): error when creating \"STDIN\": jobs.batch \"a\" is forbidden: \
                     exceeded quota: small, requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: \
                     count/jobs.batch=2";
        assert!(
            words(quota).contains("exceeded quota: small"),
            "{}",
            words(quota)
        );
        let absent = "Error from server (NotFound): kafkas.kafka.strimzi.io \"c\" not found";
        assert_eq!(
            words(absent),
            "kafkas.kafka.strimzi.io \"c\" does not exist"
        );
        let kind = "error: the server doesn't have a resource type \"kafkas\"";
        assert!(words(kind).contains("no resource type kafkas"));
        let down = "The connection to the server localhost:8080 was refused - did you specify the right host or port?";
        assert!(words(down).contains("does not reach"));
        assert!(words("").contains("printed no message"));
    }

    #[test]
    fn the_same_error_of_several_objects_is_shown_once() {
        let line = "Error from server (NotFound): error when creating \"STDIN\": namespaces \"perf\" not found\n";
        assert_eq!(words(&line.repeat(5)), "namespaces \"perf\" does not exist");
        let invalid =
            "The Job \"a\" is invalid: spec: bad\nThe Job \"b\" is invalid: spec: bad\n".repeat(2);
        assert_eq!(
            words(&invalid),
            "kubectl get x failed: The Job \"a\" is invalid: spec: bad; The Job \"b\" is invalid: spec: bad"
        );
    }

    #[test]
    fn errors_that_may_pass_are_those_without_a_known_reason() {
        let may_pass = |stderr: &str| KubectlError::classify("", stderr.as_bytes()).may_pass();
        assert!(may_pass(
            "Unable to connect to the server: net/http: TLS handshake timeout"
        ));
        assert!(may_pass(
            "Error from server (InternalError): etcdserver: leader changed"
        ));
        assert!(!may_pass(
            "Error from server (NotFound): pods \"x\" not found"
        ));
        assert!(!may_pass(
            "Error from server (Forbidden): exceeded quota: small"
        ));
    }

    #[test]
    fn control_characters_of_a_message_do_no_harm() {
        assert!(!words("bad \u{1b}[31m thing").contains('\u{1b}'));
    }
}
