//! The Java that runs Apache Kafka.

use std::path::PathBuf;
use std::process::Command;

use super::error::KafkaError;
use super::release::KafkaDistribution;
use super::setup::KafkaSetup;

/// A Java that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// Path of the program.
    pub path: PathBuf,
    /// Its feature release: 8, 11, 17, ...
    pub feature: u32,
    /// Its full version string.
    pub version: String,
}

/// Finds Java in `JAVA_HOME`, or else in the path, and asks for its version.
pub(crate) fn find(setup: &KafkaSetup) -> Result<Java, KafkaError> {
    let path = match &setup.java_home {
        Some(home) => Some(home.join("bin/java")).filter(|file| file.is_file()),
        None => setup.program("java"),
    };
    let path = path.ok_or_else(|| KafkaError::NoJava {
        looked_at: setup.java_home.clone(),
    })?;
    let output = Command::new(&path).arg("-version").output();
    let output = output.map_err(|error| KafkaError::Spawn {
        role: path.display().to_string(),
        error,
    })?;
    // Java prints its version on stderr.
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    match version(&stderr) {
        Some((version, feature)) => Ok(Java {
            path,
            feature,
            version,
        }),
        None => Err(KafkaError::StrangeJava {
            path,
            output: stderr.chars().take(400).collect(),
        }),
    }
}

/// Whether it runs a release.
pub(crate) fn check(java: &Java, release: &KafkaDistribution) -> Result<(), KafkaError> {
    let fits =
        java.feature >= release.java_min && release.java_max.is_none_or(|max| java.feature <= max);
    if fits {
        Ok(())
    } else {
        Err(KafkaError::WrongJava {
            release: release.version.clone(),
            needed: release.java_range(),
            found: java.feature,
            path: java.path.clone(),
        })
    }
}

/// Version and feature release from `openjdk version "17.0.15" 2025-04-15`; `1.8.0_402` is 8.
fn version(text: &str) -> Option<(String, u32)> {
    let (_, rest) = text.split_once(" version \"")?;
    let (version, _) = rest.split_once('"')?;
    let mut numbers = version.split(['.', '_', '-', '+']);
    let first: u32 = numbers.next()?.parse().ok()?;
    let feature = match first {
        1 => numbers.next()?.parse().ok()?,
        first => first,
    };
    Some((version.to_owned(), feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ages_of_java_say_their_version() {
        let feature = |text: &str| version(text).map(|(_, feature)| feature);
        assert_eq!(
            feature("openjdk version \"17.0.15\" 2025-04-15\n"),
            Some(17)
        );
        assert_eq!(feature("java version \"1.8.0_402\"\n"), Some(8));
        assert_eq!(feature("openjdk version \"25-ea\" 2025-09-16"), Some(25));
        assert_eq!(
            feature("Picked up _JAVA_OPTIONS\nopenjdk version \"21\""),
            Some(21)
        );
        assert_eq!(feature("command not found"), None);
    }

    #[test]
    fn a_release_names_its_required_java() {
        let java = |feature| Java {
            path: PathBuf::from("/java"),
            feature,
            version: String::new(),
        };
        let release = |text: &str| KafkaDistribution::of(&text.parse().unwrap());
        assert!(check(&java(17), &release("0.8.2.2")).is_ok());
        assert!(check(&java(17), &release("4.3.1")).is_ok());
        let words = check(&java(11), &release("4.3.1")).unwrap_err().to_string();
        assert_eq!(
            words,
            "Apache Kafka 4.3.1 needs Java 17 or newer; /java is Java 11"
        );
        assert!(check(&java(24), &release("3.9.1")).is_err());
    }
}
