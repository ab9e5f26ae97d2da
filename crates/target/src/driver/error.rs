//! Why a driver's program is not available, each with a fix.

use std::io;
use std::path::PathBuf;

use crate::kafka::{KafkaError, VersionError};

/// Why a driver's program is not available.
#[derive(Debug, thiserror::Error)]
pub enum DriverBuildError {
    /// Not a release number.
    #[error("driver java: {0}")]
    Version(VersionError),
    /// There is no usable Java.
    #[error("driver java: {0}")]
    Java(KafkaError),
    /// Java is too old.
    #[error("driver java needs Java {needed} or newer; this is Java {found}")]
    OldJava {
        /// The required version.
        needed: u32,
        /// The version found.
        found: u32,
    },
    /// There is no compiler.
    #[error("the driver's program must be built once, but there is no {program}")]
    NoCompiler {
        /// Its name.
        program: &'static str,
        /// Debian's package for it.
        package: &'static str,
    },
    /// The client's jars cannot be fetched.
    #[error("driver java: {}", fetch_words(.0))]
    Fetch(KafkaError),
    /// The compiler failed.
    #[error("cannot build the driver's program: {} reports:\n{output}", program.display())]
    Compiler {
        /// The compiler.
        program: PathBuf,
        /// Its output.
        output: String,
    },
    /// There is no librdkafka.
    #[error("driver librdkafka: cannot open the library: {message}")]
    NoLibrdkafka {
        /// The loader's message.
        message: String,
    },
    /// A file or process failed.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or process.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// The user stopped it.
    #[error("stopped while building a driver's program")]
    Interrupted,
}

impl DriverBuildError {
    /// The fix for the user.
    pub fn fix(&self) -> String {
        let install = |package: &str| format!("install it: apt-get install {package}");
        match self {
            DriverBuildError::Java(_) | DriverBuildError::OldJava { .. } => {
                "install a JDK (apt-get install openjdk-17-jdk-headless), or set JAVA_HOME".into()
            }
            DriverBuildError::NoCompiler { package, .. } => install(package),
            DriverBuildError::Fetch(KafkaError::NoMaven { .. }) => install("maven"),
            DriverBuildError::Fetch(KafkaError::NoSuchRelease { .. }) => {
                "name a release that Maven has, such as `driver: {java: 4.3.1}`".into()
            }
            DriverBuildError::Fetch(_) => "check the network and Maven's settings.xml".into(),
            DriverBuildError::NoLibrdkafka { .. } => install("librdkafka1"),
            DriverBuildError::Compiler { .. } => {
                "install the compiler: apt-get install gcc libc6-dev openjdk-17-jdk-headless".into()
            }
            DriverBuildError::Version(_)
            | DriverBuildError::File { .. }
            | DriverBuildError::Interrupted => String::new(),
        }
    }

    /// Whether the user stopped it.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            DriverBuildError::Interrupted | DriverBuildError::Fetch(KafkaError::Interrupted)
        )
    }

    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(io::Error) -> DriverBuildError {
        let path = path.to_owned();
        move |error| DriverBuildError::File { path, error }
    }
}

/// A release of the client, not of Apache Kafka.
fn fetch_words(error: &KafkaError) -> String {
    error.to_string().replace("Apache Kafka", "kafka-clients")
}
