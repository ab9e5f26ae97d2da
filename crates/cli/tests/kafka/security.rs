//! Every kind of security: a client with the right key gets in, others get the reason. `secrets.rs` covers mTLS and
//! SCRAM-SHA-512 over TLS.

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{Site, json, text, wait_for};
use crate::{NEWEST, kafka, kgauge};

fn runs(security: &str) {
    let site = Site::new();
    let target = kafka(NEWEST, &format!("heap=512M,security={security}"));
    let call = [
        "run",
        "counted.yaml",
        "--out",
        "out",
        "--repeat",
        "1",
        "--target",
        &target,
    ];
    let output = kgauge(&site, &call).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{security}: {}",
        text(&output.stderr)
    );
    check_counted(&site, security);
}

/// All 800 records of `counted.yaml` were written and read.
pub(crate) fn check_counted(site: &Site, security: &str) {
    let trial = json(&site.path("out/summary.json"))["trials"][0].clone();
    assert_eq!(trial["counted"][0]["acked"], 800, "{security}");
    assert_eq!(trial["counted"][0]["on_broker"], 800, "{security}");
    let readers = &trial["flows"][1]["records_all_stages"];
    assert_eq!(readers["consumed"], 800, "{security}");
}

#[test]
#[ignore = "real Kafka"]
fn sasl_plain() {
    runs("sasl-plain");
}

#[test]
#[ignore = "real Kafka"]
fn scram_sha_256() {
    runs("scram-sha-256");
}

/// A cluster that serves, and the properties that its clients need.
struct Serving {
    process: Child,
    properties: String,
}

impl Serving {
    fn start(site: &Site, security: &str) -> Self {
        let target = kafka(NEWEST, &format!("heap=512M,security={security}"));
        let printed = site.path("printed");
        let process = kgauge(site, &["cluster", "up", &target])
            .stdout(fs::File::create(&printed).unwrap())
            .spawn()
            .unwrap();
        wait_for(&printed);
        // Both lines are printed at once; the second is the file's.
        let file = loop {
            let text = fs::read_to_string(&printed).unwrap();
            if let Some((_, file)) = text.split_once("client.properties=")
                && file.ends_with('\n')
            {
                break file.trim().to_owned();
            }
        };
        Self {
            properties: fs::read_to_string(file).unwrap(),
            process,
        }
    }

    /// The stderr of a run with these properties. The run must fail with the target's exit status.
    fn refused(&self, site: &Site, properties: &str) -> String {
        site.write("wrong.properties", properties);
        let call = ["run", "tiny.yaml", "--yes", "--target", "wrong.properties"];
        let output = kgauge(site, &call).output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        stderr
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
        let _ = self.process.wait();
    }
}

/// Other lines for the keys that start so.
fn changed(properties: &str, start: &str, to: &str) -> String {
    let kept = properties.lines().filter(|line| !line.starts_with(start));
    format!("{}\n{to}\n", kept.collect::<Vec<_>>().join("\n"))
}

#[test]
#[ignore = "real Kafka"]
fn a_wrong_password_an_unknown_authority_and_a_wrong_name_are_refused_in_words() {
    let site = Site::new();
    let serving = Serving::start(&site, "scram-sha-256+tls");
    let right = &serving.properties;
    site.write("right.properties", right);
    let call = [
        "run",
        "tiny.yaml",
        "--yes",
        "--out",
        "out",
        "--target",
        "right.properties",
    ];
    let output = kgauge(&site, &call).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let at = right.find("password=\"").unwrap() + "password=\"".len();
    let mut password = right.clone();
    password.replace_range(at..at + 8, "00000000");
    let stderr = serving.refused(&site, &password);
    assert!(
        stderr.contains("refuses the login") || stderr.contains("password"),
        "{stderr}"
    );

    // The authority of another cluster.
    let other_site = Site::new();
    let other = Serving::start(&other_site, "tls");
    // Its own clients are let in.
    other_site.write("right.properties", &other.properties);
    let call = ["run", "counted.yaml", "--yes", "--out", "out"];
    let call = [&call[..], &["--target", "right.properties"]].concat();
    let output = kgauge(&other_site, &call).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    check_counted(&other_site, "tls");

    let authority = other.properties.lines();
    let authority = authority
        .clone()
        .find(|line| line.starts_with("ssl.truststore.location"))
        .unwrap();
    let stderr = serving.refused(&site, &changed(right, "ssl.truststore.location", authority));
    assert!(
        stderr.contains("signed by a CA that is not trusted"),
        "{stderr}"
    );

    // The same address, written as one that the certificate does not name.
    let port = right
        .lines()
        .find_map(|line| line.strip_prefix("bootstrap.servers=127.0.0.1:"));
    let elsewhere = format!("bootstrap.servers=[::ffff:127.0.0.1]:{}", port.unwrap());
    let stderr = serving.refused(&site, &changed(right, "bootstrap.servers", &elsewhere));
    assert!(stderr.contains("certificate"), "{stderr}");
}
