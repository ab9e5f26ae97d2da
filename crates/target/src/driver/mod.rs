//! The programs that send flows with other clients: fetched and built once, kept in the cache.
//!
//! Their sources are in `drivers/`, and are embedded in this program. Maven provides Kafka's Java client; librdkafka is
//! the machine's.

mod build;
mod error;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use kgauge_client::Interrupt;
use kgauge_scenario::Driver;

pub use error::DriverBuildError;

use crate::kafka::fetch::{self, MavenRequest};
use crate::kafka::{JVM, KafkaSetup, Version, java};
use build::{DriverBuild, first_lines};

const JAVA_SOURCE: &str = include_str!("../../../../drivers/java/KgaugeDriver.java");
const C_SOURCE: &str = include_str!("../../../../drivers/librdkafka/kgauge_driver.c");

/// Clients since 4.0 require it (KIP-750), and so does our program with any client.
const JAVA_MIN: u32 = 11;

const JAVA_CLASS: &str = "KgaugeDriver";
const C_PROGRAM: &str = "kgauge_driver";

/// JVM flags besides those of all Java processes: the rest of Kafka's `kafka-run-class.sh` of 4.3.1, and a heap that
/// fits the buffer of the largest flows.
const JVM_FLAGS: &[&str] = &[
    "-Xmx512M",
    "-XX:MaxInlineLevel=15",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/// How to start a driver's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverCommand {
    /// The file to execute.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Prepares a driver's program; `None` for kgauge's own engine, which needs none.
///
/// # Errors
/// The missing requirement, or what failed.
pub fn prepare(
    driver: &Driver,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<Option<DriverCommand>, DriverBuildError> {
    match driver {
        Driver::Kgauge => Ok(None),
        Driver::Java { version } => java_driver(version, setup, interrupt).map(Some),
        Driver::Librdkafka => librdkafka(setup, interrupt).map(Some),
    }
}

fn java_driver(
    version: &str,
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<DriverCommand, DriverBuildError> {
    let version: Version = version.parse().map_err(DriverBuildError::Version)?;
    let java = java::find(setup).map_err(DriverBuildError::Java)?;
    if java.feature < JAVA_MIN {
        return Err(DriverBuildError::OldJava {
            needed: JAVA_MIN,
            found: java.feature,
        });
    }
    let compiler = match &setup.java_home {
        Some(home) => Some(home.join("bin/javac")).filter(|file| file.is_file()),
        None => setup.program("javac"),
    };
    let compiler = compiler.ok_or(DriverBuildError::NoCompiler {
        program: "javac",
        package: "openjdk-17-jdk-headless",
    })?;
    let text = version.to_string();
    let order = MavenRequest {
        version: &version,
        dir: setup.cache_dir.join("kafka-clients").join(&text),
        artifacts: vec![
            ("org.apache.kafka", "kafka-clients".to_owned(), text.clone()),
            ("org.slf4j", "slf4j-simple".to_owned(), "1.7.36".to_owned()),
        ],
        proof: format!("kafka-clients-{text}.jar"),
        remark: format!("downloading kafka-clients {text} with Maven, once (about 20 MB)"),
    };
    let libs = fetch::fetch(&order, setup, interrupt).map_err(DriverBuildError::Fetch)?;
    let jars = libs.join("*");
    let build = DriverBuild {
        name: format!("java-{text}-on-{}", java.version),
        source: (&format!("{JAVA_CLASS}.java"), JAVA_SOURCE),
        compiler: &compiler,
        arguments: vec![
            "-encoding".into(),
            "UTF-8".into(),
            "-nowarn".into(),
            "-proc:none".into(),
            "-cp".into(),
            jars.clone().into_os_string(),
            "-d".into(),
            ".".into(),
            format!("{JAVA_CLASS}.java").into(),
        ],
        product: &format!("{JAVA_CLASS}.class"),
    };
    let dir = build.output_dir(setup, interrupt)?;
    let mut class_path = dir.into_os_string();
    class_path.push(":");
    class_path.push(jars);
    let mut arguments: Vec<OsString> = JVM.iter().chain(JVM_FLAGS).map(OsString::from).collect();
    arguments.extend(["-cp".into(), class_path, JAVA_CLASS.into()]);
    Ok(DriverCommand {
        program: java.path,
        arguments,
    })
}

fn librdkafka(
    setup: &KafkaSetup,
    interrupt: &Interrupt,
) -> Result<DriverCommand, DriverBuildError> {
    let compiler = setup.program("cc").or_else(|| setup.program("gcc"));
    let compiler = compiler.ok_or(DriverBuildError::NoCompiler {
        program: "cc",
        package: "gcc libc6-dev",
    })?;
    let source = format!("{C_PROGRAM}.c");
    let arguments = [
        "-std=gnu11",
        "-O2",
        "-fno-strict-aliasing",
        "-pthread",
        "-o",
        C_PROGRAM,
        &source,
        "-ldl",
    ];
    let build = DriverBuild {
        name: "librdkafka".to_owned(),
        source: (&source, C_SOURCE),
        compiler: &compiler,
        arguments: arguments.iter().map(OsString::from).collect(),
        product: C_PROGRAM,
    };
    let program = build.output_dir(setup, interrupt)?.join(C_PROGRAM);
    // It prints the library's version, if there is one: better now than during a run.
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(DriverBuildError::file(&program))?;
    if output.status.success() {
        Ok(DriverCommand {
            program,
            arguments: Vec::new(),
        })
    } else {
        Err(DriverBuildError::NoLibrdkafka {
            message: first_lines(&[output.stdout, output.stderr].concat()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_program::write_script;

    /// A machine with only the programs in `path`.
    fn setup(dir: &std::path::Path, path: &std::path::Path) -> KafkaSetup {
        KafkaSetup::below(dir, Some(path.as_os_str().to_owned()))
    }

    fn script(dir: &std::path::Path, name: &str, text: &str) {
        write_script(&dir.join(name), text);
    }

    fn refused(driver: &Driver, setup: &KafkaSetup) -> String {
        let error = prepare(driver, setup, &Interrupt::new()).unwrap_err();
        format!("{error}; {}", error.fix())
    }

    #[test]
    fn a_missing_program_is_reported_with_its_package() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bin");
        std::fs::create_dir(&path).unwrap();
        let setup = setup(dir.path(), &path);
        let java = Driver::java();
        assert!(refused(&java, &setup).contains("openjdk-17-jdk-headless"));
        let words = refused(&Driver::Librdkafka, &setup);
        assert!(words.contains("no cc"), "{words}");
        assert!(words.contains("gcc libc6-dev"), "{words}");

        script(&path, "java", "echo 'openjdk version \"17.0.1\"' >&2");
        let words = refused(&java, &setup);
        assert!(words.contains("no javac"), "{words}");
        script(&path, "javac", "exit 0");
        let words = refused(&java, &setup);
        assert!(words.contains("kafka-clients 4.3.1"), "{words}");
        assert!(words.contains("maven"), "{words}");
        script(&path, "java", "echo 'openjdk version \"1.8.0\"' >&2");
        let words = refused(&java, &setup);
        assert!(words.contains("needs Java 11 or newer"), "{words}");

        script(&path, "cc", "echo bad source >&2; exit 1");
        let words = refused(&Driver::Librdkafka, &setup);
        assert!(words.contains("bad source"), "{words}");
        let made = "cat > kgauge_driver <<'X'\n#!/bin/sh\necho no such library >&2; exit 1\nX\n\
                    /bin/chmod +x kgauge_driver";
        let made = made.replace("cat", "/bin/cat");
        script(&path, "cc", &made);
        let words = refused(&Driver::Librdkafka, &setup);
        assert!(words.contains("no such library"), "{words}");
        assert!(words.contains("librdkafka1"), "{words}");
        assert_eq!(
            prepare(&Driver::Kgauge, &setup, &Interrupt::new()).unwrap(),
            None
        );
    }

    #[test]
    fn a_program_is_built_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bin");
        std::fs::create_dir(&path).unwrap();
        let setup = setup(dir.path(), &path);
        let calls = dir.path().join("calls");
        let made = format!(
            "echo . >> {}\n/bin/cat > kgauge_driver <<'X'\n#!/bin/sh\nX\n/bin/chmod +x kgauge_driver",
            calls.display()
        );
        script(&path, "cc", &made);
        for _ in 0..2 {
            let made = prepare(&Driver::Librdkafka, &setup, &Interrupt::new()).unwrap();
            assert!(made.unwrap().program.starts_with(dir.path().join("cache")));
        }
        assert_eq!(std::fs::read_to_string(calls).unwrap(), ".\n");
    }
}
