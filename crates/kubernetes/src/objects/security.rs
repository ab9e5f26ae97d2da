//! The pod security standard `restricted`.

use serde::Serialize;

/// The number of a user who owns nothing; the image has the same.
const USER: u32 = 65_532;

/// `PodSecurityContext`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodSecurity {
    run_as_non_root: bool,
    run_as_user: u32,
    run_as_group: u32,
    fs_group: u32,
    seccomp_profile: SeccompProfile,
}

#[derive(Debug, Serialize)]
struct SeccompProfile {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl PodSecurity {
    pub(crate) fn restricted() -> PodSecurity {
        PodSecurity {
            run_as_non_root: true,
            run_as_user: USER,
            run_as_group: USER,
            fs_group: USER,
            seccomp_profile: SeccompProfile {
                kind: "RuntimeDefault",
            },
        }
    }
}

/// `SecurityContext`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContainerSecurity {
    allow_privilege_escalation: bool,
    read_only_root_filesystem: bool,
    capabilities: Capabilities,
}

#[derive(Debug, Serialize)]
struct Capabilities {
    drop: [&'static str; 1],
}

impl ContainerSecurity {
    pub(crate) fn restricted() -> ContainerSecurity {
        ContainerSecurity {
            allow_privilege_escalation: false,
            read_only_root_filesystem: true,
            capabilities: Capabilities { drop: ["ALL"] },
        }
    }
}
