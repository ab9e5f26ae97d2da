//! The jars of a release: from the cache, from Maven, or from an unpacked release.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use rustix::process::{Pid, Signal, kill_process_group};

use super::error::KafkaError;
use super::registry;
use super::release::{Artifact, KafkaDistribution};
use super::setup::KafkaSetup;
use super::version::Version;

/// Fixed, so that Maven does not look up the newest version.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/// Polling interval for Maven.
const LOOK: Duration = Duration::from_millis(50);

/// A release that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Jars {
    /// The release.
    pub(crate) release: KafkaDistribution,
    /// The folder with all jars in it.
    pub(crate) dir: PathBuf,
}

impl Jars {
    /// Java's class path.
    pub(crate) fn class_path(&self) -> OsString {
        self.dir.join("*").into_os_string()
    }
}

/// The folder of a release in the cache.
pub(crate) fn cached(setup: &KafkaSetup, version: &Version) -> PathBuf {
    setup.cache_dir.join("kafka").join(version.to_string())
}

/// Whether a release is in the cache.
pub(crate) fn is_cached(setup: &KafkaSetup, release: &KafkaDistribution) -> bool {
    let core = core_jar(release);
    cached(setup, &release.version)
        .join("libs")
        .join(core)
        .is_file()
}

fn core_jar(release: &KafkaDistribution) -> String {
    format!("kafka_{}-{}.jar", release.scala(), release.version)
}

/// The jars of a release, fetched by Maven unless they are in the cache.
pub(crate) fn jars(
    release: &KafkaDistribution,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<Jars, KafkaError> {
    let order = MavenRequest {
        version: &release.version,
        dir: cached(setup, &release.version),
        artifacts: release.artifacts(),
        proof: core_jar(release),
        remark: format!(
            "downloading Apache Kafka {} with Maven, once (about 50 MB)",
            release.version
        ),
    };
    Ok(Jars {
        release: release.clone(),
        dir: fetch(&order, setup, interrupt)?,
    })
}

/// The jars of a release's command-line tools, downloaded by Maven unless they are cached.
pub(crate) fn tool_jars(
    release: &KafkaDistribution,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<Jars, KafkaError> {
    let version = release.version.to_string();
    let mut artifacts = release.artifacts();
    let mut proof = core_jar(release);
    if release.version.is_at_least(&[0, 9]) {
        artifacts.push((
            "org.apache.kafka",
            "kafka-tools".to_owned(),
            version.clone(),
        ));
        proof = format!("kafka-tools-{version}.jar");
    }
    let order = MavenRequest {
        version: &release.version,
        dir: cached(setup, &release.version).join("tools"),
        artifacts,
        proof,
        remark: format!(
            "downloading the tools of Apache Kafka {version} with Maven, once (about 50 MB)"
        ),
    };
    Ok(Jars {
        release: release.clone(),
        dir: fetch(&order, setup, interrupt)?,
    })
}

/// Jars that Maven is to download.
#[derive(Debug)]
pub struct MavenRequest<'a> {
    /// The release that they belong to.
    pub version: &'a Version,
    /// Their folder in the cache; the jars are in its `libs`.
    pub dir: PathBuf,
    /// Group, name and version of each artifact.
    pub artifacts: Vec<Artifact>,
    /// The jar that proves a complete download.
    pub proof: String,
    /// The message that announces the download to the user.
    pub remark: String,
}

/// The folder with the jars of a request, downloaded by Maven unless an earlier call did.
pub fn fetch(
    order: &MavenRequest<'_>,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<PathBuf, KafkaError> {
    fetch_within(order, setup, interrupt, None)
}

/// The same with a time limit.
pub(crate) fn fetch_within(
    order: &MavenRequest<'_>,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
    limit: Option<Duration>,
) -> Result<PathBuf, KafkaError> {
    let start = Instant::now();
    let go_on = || match limit {
        _ if interrupt.is_raised() => Err(KafkaError::Interrupted),
        Some(limit) if start.elapsed() >= limit => Err(KafkaError::Late {
            release: order.version.clone(),
            limit,
        }),
        _ => Ok(()),
    };
    let (dir, release) = (&order.dir, || order.version.clone());
    let libs = dir.join("libs");
    if libs.join(&order.proof).is_file() {
        return Ok(libs);
    }
    let Some(maven) = setup.program("mvn") else {
        return Err(KafkaError::NoMaven { release: release() });
    };
    fs::create_dir_all(dir).map_err(KafkaError::file(dir))?;
    // A second process waits, and then finds the download.
    let _lock = lock_while(&dir.join("lock"), &go_on)?;
    if libs.join(&order.proof).is_file() {
        return Ok(libs);
    }
    (setup.remark)(&format!("kgauge: {}", order.remark));
    // A temporary name until it is complete, so that an aborted download is not mistaken for one.
    let partial = dir.join("libs.partial");
    remove(&partial)?;
    maven_copies(&maven, order, &partial, &go_on)?;
    if !partial.join(&order.proof).is_file() {
        return Err(KafkaError::Maven {
            release: release(),
            output: format!("it did not download {}", order.proof),
        });
    }
    remove(&libs)?;
    fs::rename(&partial, &libs).map_err(KafkaError::file(&libs))?;
    Ok(libs)
}

/// The jars of an unpacked release: of `libs` in it.
pub(crate) fn home(home: &Path, requested: Option<&Version>) -> Result<Jars, KafkaError> {
    let wrong = |what: String| KafkaError::Home {
        path: home.to_owned(),
        what,
    };
    let dir = home.join("libs");
    let entries = fs::read_dir(&dir).map_err(|error| wrong(format!("libs: {error}")))?;
    let names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut versions: Vec<Version> = names.filter_map(|name| version_of(&name)).collect();
    versions.sort();
    versions.dedup();
    let found = match versions.as_slice() {
        [one] => one.clone(),
        [] => return Err(wrong("there is no kafka_*.jar in libs".to_owned())),
        _ => return Err(wrong("there are several releases in libs".to_owned())),
    };
    if let Some(requested) = requested
        && *requested != found
    {
        return Err(wrong(format!(
            "it is {found}, but the target says {requested}"
        )));
    }
    let dir = fs::canonicalize(&dir).map_err(KafkaError::file(&dir))?;
    Ok(Jars {
        release: KafkaDistribution::of(&found),
        dir,
    })
}

/// `kafka_2.13-4.3.1.jar`, but not `kafka_2.13-4.3.1-sources.jar`.
fn version_of(name: &str) -> Option<Version> {
    let rest = name.strip_prefix("kafka_")?.strip_suffix(".jar")?;
    let (_, version) = rest.split_once('-')?;
    version.parse().ok()
}

pub(crate) fn remove(dir: &Path) -> Result<(), KafkaError> {
    registry::remove(dir).map_err(KafkaError::file(dir))
}

/// A lock that is held as long as the file is open; the kernel releases it in any case.
pub(crate) fn lock(path: &Path, interrupt: &Interrupt) -> Result<File, KafkaError> {
    lock_while(path, &|| {
        if interrupt.is_raised() {
            Err(KafkaError::Interrupted)
        } else {
            Ok(())
        }
    })
}

fn lock_while(path: &Path, go_on: &dyn Fn() -> Result<(), KafkaError>) -> Result<File, KafkaError> {
    let file = File::create(path).map_err(KafkaError::file(path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => {
                go_on()?;
                std::thread::sleep(LOOK);
            }
            Err(fs::TryLockError::Error(error)) => return Err(KafkaError::file(path)(error)),
        }
    }
}

fn maven_copies(
    maven: &Path,
    order: &MavenRequest<'_>,
    into: &Path,
    go_on: &dyn Fn() -> Result<(), KafkaError>,
) -> Result<(), KafkaError> {
    let pom = order.dir.join("pom.xml");
    fs::write(&pom, project(&order.artifacts)).map_err(KafkaError::file(&pom))?;
    let log_path = order.dir.join("maven.log");
    let log = File::create(&log_path).map_err(KafkaError::file(&log_path))?;
    let log_too = log.try_clone().map_err(KafkaError::file(&log_path))?;
    let spawned = Command::new(maven)
        // Batch mode; a wrong checksum is an error.
        .args([
            "-B",
            "-C",
            "-q",
            "-Dstyle.color=never",
            "-DincludeScope=runtime",
            "-f",
        ])
        .arg(&pom)
        .arg(format!("-DoutputDirectory={}", into.display()))
        .arg(PLUGIN)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(log_too)
        // Maven is a script that starts Java: both must be ended.
        .process_group(0)
        .spawn();
    let mut child = spawned.map_err(|error| KafkaError::Spawn {
        role: "Maven".to_owned(),
        error,
    })?;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {
                go_on().inspect_err(|_| end(&mut child))?;
                std::thread::sleep(LOOK);
            }
            Err(error) => {
                return Err(KafkaError::Spawn {
                    role: "Maven".to_owned(),
                    error,
                });
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let text = fs::read_to_string(&log_path).unwrap_or_default();
    Err(failure(order.version, &text))
}

/// Ends a process and all its children.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Classifies a failure by Maven's output.
fn failure(version: &Version, text: &str) -> KafkaError {
    /// Enough to recognise the problem.
    const LINES_MAX: usize = 6;
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("ERROR") && !line.trim_end().ends_with("[ERROR]"))
        .take(LINES_MAX)
        .collect();
    let output: String = errors
        .join("\n")
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .take(2_000)
        .collect();
    let release = version.clone();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "Unknown host",
        "UnknownHostException",
        "Connection refused",
        "Connect to",
        "timed out",
        "No route to host",
        "Network is unreachable",
        "offline mode",
        "Temporary failure",
    ]) {
        KafkaError::Offline { release, output }
    } else if has(&["Could not find artifact", "was not found in"]) {
        KafkaError::NoSuchRelease { release }
    } else {
        KafkaError::Maven { release, output }
    }
}

fn project(artifacts: &[Artifact]) -> String {
    let dependency = |(group, artifact, version): &Artifact| {
        format!(
            "    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>\n"
        )
    };
    let dependencies: String = artifacts.iter().map(dependency).collect();
    format!(
        "<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgauge</groupId>
  <artifactId>kafka-under-test</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{dependencies}  </dependencies>
</project>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpacked_release_names_itself_by_its_jar() {
        let dir = tempfile::tempdir().unwrap();
        let wrong =
            |requested: Option<&Version>| home(dir.path(), requested).unwrap_err().to_string();
        assert!(wrong(None).contains("libs: "));
        fs::create_dir(dir.path().join("libs")).unwrap();
        assert!(wrong(None).contains("no kafka_*.jar"));
        for name in [
            "kafka_2.13-3.9.1.jar",
            "kafka_2.13-3.9.1-sources.jar",
            "kafka-clients-3.9.1.jar",
        ] {
            fs::write(dir.path().join("libs").join(name), "").unwrap();
        }
        let found = home(dir.path(), None).unwrap();
        assert_eq!(found.release.version.to_string(), "3.9.1");
        let other = "4.3.1".parse().unwrap();
        assert!(wrong(Some(&other)).contains("it is 3.9.1, but the target says 4.3.1"));
        fs::write(dir.path().join("libs/kafka_2.12-3.9.0.jar"), "").unwrap();
        assert!(wrong(None).contains("several releases"));
    }

    #[test]
    fn mavens_failures_are_classified() {
        let release: Version = "9.9.9".parse().unwrap();
        let missing = "[ERROR] Failed: Could not find artifact org.apache.kafka:kafka_2.13:jar:9.9.9 in central";
        assert!(matches!(
            failure(&release, missing),
            KafkaError::NoSuchRelease { .. }
        ));
        let offline = "[ERROR] Could not transfer artifact x: repo: Unknown host repo";
        assert!(matches!(
            failure(&release, offline),
            KafkaError::Offline { .. }
        ));
        let other = failure(&release, "[ERROR] Checksum validation failed");
        assert!(matches!(&other, KafkaError::Maven { output, .. } if output.contains("Checksum")));
    }
}
