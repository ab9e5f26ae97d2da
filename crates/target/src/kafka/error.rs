//! Why Apache Kafka cannot be started, or has ended; each with a fix.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::version::Version;

/// Why Apache Kafka cannot be started, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum KafkaError {
    /// Neither a release nor a folder was named.
    #[error("the target does not name an Apache Kafka release")]
    NoVersion,
    /// There is no Java.
    #[error("Apache Kafka needs Java, but none was found{}", looked_in(looked_at))]
    NoJava {
        /// `JAVA_HOME`, if it was set.
        looked_at: Option<PathBuf>,
    },
    /// Java's version is unknown.
    #[error("{} does not report its Java version{}", path.display(), words(output))]
    StrangeJava {
        /// The program.
        path: PathBuf,
        /// Its output.
        output: String,
    },
    /// The release needs another Java.
    #[error("Apache Kafka {release} needs Java {needed}; {} is Java {found}", path.display())]
    WrongJava {
        /// The release.
        release: Version,
        /// The required version.
        needed: String,
        /// The version found.
        found: u32,
        /// Its path.
        path: PathBuf,
    },
    /// There is no Maven.
    #[error("Apache Kafka {release} is not in the cache, and there is no Maven (mvn) to fetch it")]
    NoMaven {
        /// The release.
        release: Version,
    },
    /// Maven does not find the release.
    #[error("Maven has no Apache Kafka {release}")]
    NoSuchRelease {
        /// The release.
        release: Version,
    },
    /// The repository cannot be reached.
    #[error(
        "Apache Kafka {release} is not in the cache, and Maven cannot reach a repository{}",
        words(output)
    )]
    Offline {
        /// The release.
        release: Version,
        /// Maven's output.
        output: String,
    },
    /// Maven failed.
    #[error("Maven cannot fetch Apache Kafka {release}{}", words(output))]
    Maven {
        /// The release.
        release: Version,
        /// Maven's output.
        output: String,
    },
    /// Maven took too long.
    #[error("Maven did not download Apache Kafka {release} within {} s", limit.as_secs_f64())]
    Late {
        /// The release.
        release: Version,
        /// The time limit.
        limit: Duration,
    },
    /// The folder does not contain a release.
    #[error("{} is not an unpacked Apache Kafka release: {what}", path.display())]
    Home {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        what: String,
    },
    /// The machine is too small.
    #[error(
        "{processes} Java processes need about {needed_mib} MiB of memory; {available_mib} MiB are \
         available"
    )]
    NoMemory {
        /// Number of processes.
        processes: u32,
        /// The memory that they need.
        needed_mib: u64,
        /// The available memory.
        available_mib: u64,
    },
    /// The kernel does not allow control groups.
    #[error("cannot limit a broker's resources: {}: {error}", path.display())]
    ControlGroup {
        /// The folder of the control group.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// Something that a fault needs is missing.
    #[error("the scenario's faults need {what}: {why}")]
    FaultTool {
        /// What is needed.
        what: &'static str,
        /// Why it cannot be used.
        why: String,
    },
    /// A fault cannot be set.
    #[error("{why}")]
    FaultRefused {
        /// Why.
        why: String,
    },
    /// The release does not support a feature.
    #[error("Apache Kafka {release} does not support this: {what}")]
    Unsupported {
        /// The release.
        release: Version,
        /// The feature.
        what: String,
    },
    /// A process did not start.
    #[error("cannot start {role}: {error}")]
    Spawn {
        /// The process.
        role: String,
        /// The operating system's message.
        error: io::Error,
    },
    /// A node's storage cannot be formatted.
    #[error("cannot format the storage of {role}{}", words(output))]
    Format {
        /// The node.
        role: String,
        /// The tool's output.
        output: String,
    },
    /// A process ended.
    #[error("{role} exited ({status}){}", log_words(log, log_file))]
    Ended {
        /// The process.
        role: String,
        /// Its exit status.
        status: String,
        /// The last meaningful lines of its log.
        log: String,
        /// The log file.
        log_file: PathBuf,
    },
    /// Not all processes are ready in time.
    #[error("{what} after {waited:.0?}{}", log_words(log, log_file))]
    TimedOut {
        /// The process, and what it lacks.
        what: String,
        /// The time limit.
        waited: Duration,
        /// Its last lines.
        log: String,
        /// The log file.
        log_file: PathBuf,
    },
    /// The release has no such settings.
    #[error(
        "Apache Kafka {release} has no broker setting {key}{}",
        did_you_mean(meant)
    )]
    UnknownSetting {
        /// The release.
        release: Version,
        /// The setting.
        key: String,
        /// The most similar name.
        meant: Option<String>,
    },
    /// The release's topic tool failed.
    #[error("the release's own topic tool failed{}", words(output))]
    TopicTool {
        /// Its output.
        output: String,
    },
    /// The user for clients cannot be created.
    #[error("the cluster rejects the user created for this run{}", words(reason))]
    Credentials {
        /// Why.
        reason: String,
    },
    /// There is no such broker.
    #[error("there is no broker {id}; brokers are 1 to {brokers}")]
    NoSuchBroker {
        /// The id.
        id: u16,
        /// Number of brokers.
        brokers: u16,
    },
    /// The broker is not in the required state.
    #[error("broker {id} {what}")]
    BrokerState {
        /// The id.
        id: u16,
        /// Its state.
        what: &'static str,
    },
    /// A file or folder failed.
    #[error("{}: {error}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// The user stopped it.
    #[error("stopped while Apache Kafka was starting")]
    Interrupted,
}

impl KafkaError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            KafkaError::NoVersion => {
                "write kafka:4.3.1, or use --kafka-home; `kgauge cluster versions` lists releases"
            }
            KafkaError::NoJava { .. } => {
                "install a JDK or JRE, such as version 17, or set JAVA_HOME"
            }
            KafkaError::StrangeJava { .. } => "check the Java installation, or set JAVA_HOME",
            KafkaError::WrongJava { .. } => "set JAVA_HOME to a suitable Java",
            KafkaError::NoMaven { .. } => {
                "install Maven, or use --kafka-home DIR with an unpacked release"
            }
            KafkaError::NoSuchRelease { .. } => "`kgauge cluster versions` lists releases",
            KafkaError::Offline { .. } => {
                "check the network and Maven's settings.xml, or use --kafka-home DIR with an \
                 unpacked release"
            }
            KafkaError::Late { .. } | KafkaError::Maven { .. } => {
                "try it manually (mvn dependency:get), or use --kafka-home DIR with an unpacked \
                 release"
            }
            KafkaError::Home { .. } => "use the folder that contains bin and libs",
            KafkaError::NoMemory { .. } => {
                "use fewer brokers, or a smaller heap: heap=512M in the target"
            }
            KafkaError::ControlGroup { .. } => {
                "run kgauge as root on a kernel with the memory and cpu cgroup controllers, or \
                 remove memory=... and cpu=... from the target"
            }
            KafkaError::FaultTool { .. } => {
                "install it, run the scenario on the embedded cluster, or remove the fault"
            }
            KafkaError::Unsupported { .. } => "use a newer release",
            KafkaError::Format { .. } | KafkaError::Ended { .. } => {
                "if it names a setting, change it; otherwise check the log file"
            }
            KafkaError::TimedOut { .. } => "check the log file",
            KafkaError::UnknownSetting { .. } => "remove it, or use this release's name for it",
            KafkaError::TopicTool { .. } => "check the topic's settings",
            KafkaError::Credentials { .. } => "check the brokers' logs",
            KafkaError::File { .. } | KafkaError::Spawn { .. } => {
                "check the disk and the limits (ulimit)"
            }
            KafkaError::NoSuchBroker { .. }
            | KafkaError::BrokerState { .. }
            | KafkaError::FaultRefused { .. }
            | KafkaError::Interrupted => "",
        }
    }

    /// Whether the user's settings are the cause.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, KafkaError::NoVersion)
    }

    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(io::Error) -> KafkaError {
        let path = path.to_owned();
        move |error| KafkaError::File { path, error }
    }
}

fn looked_in(java_home: &Option<PathBuf>) -> String {
    match java_home {
        Some(home) => format!(" in JAVA_HOME ({})", home.display()),
        None => " in PATH".to_owned(),
    }
}

fn words(output: &str) -> String {
    match output.trim() {
        "" => String::new(),
        output => format!(":\n{output}"),
    }
}

fn log_words(log: &str, file: &std::path::Path) -> String {
    match log.trim() {
        "" => format!("; its log is {}", file.display()),
        log => format!("; the last lines of {}:\n{log}", file.display()),
    }
}

fn did_you_mean(meant: &Option<String>) -> String {
    meant
        .as_ref()
        .map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}
