//! What the user must be allowed to do, asked before anything is created: a right that is missing at the end of a long
//! run would cost its results.

use std::fmt;

use serde::Deserialize;
use serde_json::json;

use crate::kubectl::Kubectl;
use crate::kubectl_error::KubectlError;

/// Something that a run in pods does with a kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KubernetesRight {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// Such as `jobs`.
    pub resource: &'static str,
    /// Such as `exec` of `pods`; empty for the object itself.
    pub subresource: &'static str,
    /// Such as `create`.
    pub verb: &'static str,
}

const fn right(
    (group, resource, subresource): (&'static str, &'static str, &'static str),
    verb: &'static str,
) -> KubernetesRight {
    KubernetesRight {
        group,
        resource,
        subresource,
        verb,
    }
}

const SECRETS: (&str, &str, &str) = ("", "secrets", "");
const CONFIG_MAPS: (&str, &str, &str) = ("", "configmaps", "");
const SERVICES: (&str, &str, &str) = ("", "services", "");
const JOBS: (&str, &str, &str) = ("batch", "jobs", "");

/// All rights of a run in pods, in its namespace. `kubectl delete` reads an object before it deletes it. `kubectl exec`
/// asks with `get` first since release 1.31, and with `create` if that is refused; since release 1.35, Kubernetes
/// demands `create` for both.
pub const RUN_RIGHTS: [KubernetesRight; 17] = [
    right(SECRETS, "create"),
    right(SECRETS, "get"),
    right(SECRETS, "delete"),
    right(CONFIG_MAPS, "create"),
    right(CONFIG_MAPS, "get"),
    right(CONFIG_MAPS, "delete"),
    right(SERVICES, "create"),
    right(SERVICES, "get"),
    right(SERVICES, "delete"),
    right(JOBS, "create"),
    right(JOBS, "get"),
    right(JOBS, "delete"),
    right(("", "pods", ""), "get"),
    right(("", "pods", ""), "list"),
    right(("", "pods", "log"), "get"),
    right(("", "pods", "exec"), "create"),
    right(("", "events", ""), "list"),
];

impl fmt::Display for KubernetesRight {
    /// `create jobs.batch`, as `kubectl auth can-i` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        Ok(())
    }
}

/// `authorization.k8s.io/v1 SelfSubjectAccessReview`, as answered.
#[derive(Debug, Deserialize)]
struct AccessReview {
    spec: ReviewSpec,
    #[serde(default)]
    status: ReviewStatus,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewSpec {
    resource_attributes: ReviewAttributes,
}

#[derive(Debug, Deserialize)]
struct ReviewAttributes {
    #[serde(default)]
    group: String,
    resource: String,
    #[serde(default)]
    subresource: String,
    verb: String,
}

#[derive(Debug, Default, Deserialize)]
struct ReviewStatus {
    #[serde(default)]
    allowed: bool,
}

impl AccessReview {
    fn is_about(&self, right: &KubernetesRight) -> bool {
        let about = &self.spec.resource_attributes;
        about.group == right.group
            && about.resource == right.resource
            && about.subresource == right.subresource
            && about.verb == right.verb
    }
}

/// The rights of [`RUN_RIGHTS`] that the user does not have in this namespace. Where Kubernetes does not answer the
/// question, none is known to be missing.
///
/// # Errors
/// `kubectl` is not installed, does not reach a cluster, or was interrupted.
pub(super) fn missing_rights(
    kubectl: &Kubectl,
    namespace: &str,
) -> Result<Vec<KubernetesRight>, KubectlError> {
    let review = |right: &KubernetesRight| {
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "namespace": namespace,
                "group": right.group,
                "resource": right.resource,
                "subresource": right.subresource,
                "verb": right.verb,
            }},
        })
    };
    let items: Vec<serde_json::Value> = RUN_RIGHTS.iter().map(review).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    // Its schema need not be fetched.
    let arguments = ["create", "--validate=false", "-f", "-", "-o", "json"];
    match kubectl.run(&arguments, Some(list.to_string().into_bytes())) {
        Ok(answer) => Ok(missing(&answer)),
        Err(
            KubectlError::Forbidden { .. }
            | KubectlError::Refused { .. }
            | KubectlError::NotFound { .. }
            | KubectlError::NoResourceType { .. }
            | KubectlError::Failed { .. },
        ) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// `kubectl` prints one object after the other.
fn missing(answer: &[u8]) -> Vec<KubernetesRight> {
    let answers = serde_json::Deserializer::from_slice(answer).into_iter::<AccessReview>();
    let reviews: Vec<AccessReview> = answers.map_while(Result::ok).collect();
    let is_missing = |right: &&KubernetesRight| {
        let mut about = reviews.iter().filter(|review| review.is_about(right));
        let is_answered = about.clone().next().is_some();
        is_answered && !about.any(|review| review.status.allowed)
    };
    RUN_RIGHTS.iter().filter(is_missing).copied().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn answer(resource: &str, subresource: &str, verb: &str, allowed: bool) -> String {
        let group = if resource == "jobs" { "batch" } else { "" };
        json!({
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"group": group, "resource": resource, "subresource": subresource,
                     "verb": verb, "namespace": "perf"}},
            "status": {"allowed": allowed, "reason": "x"},
        })
        .to_string()
    }

    fn names(answers: &[String]) -> Vec<String> {
        let missing = missing(answers.join("\n").as_bytes());
        missing.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rights_that_are_refused_are_missing() {
        let answers = [
            answer("jobs", "", "create", false),
            answer("secrets", "", "get", true),
            answer("pods", "log", "get", false),
            answer("pods", "exec", "create", false),
            answer("pods", "exec", "get", true),
        ];
        assert_eq!(
            names(&answers),
            ["create jobs.batch", "get pods/log", "create pods/exec"]
        );
    }

    #[test]
    fn no_answer_is_no_refusal() {
        assert!(names(&[]).is_empty());
        assert!(names(&["{\"kind\": \"Status\"}".to_owned()]).is_empty());
        assert!(missing(b"not JSON").is_empty());
    }
}
