//! Every kind of security: clients with the credentials connect, others get the reason. `secrets.rs` covers mTLS and
//! SCRAM-SHA-512 over TLS.

use std::fs;

use crate::site::{ServingCluster, Site, check_status, good, json};
use crate::{NEWEST, kafka, kgauge, serve};

fn secured(security: &str) -> String {
    kafka(NEWEST, &format!("heap=512M,security={security}"))
}

fn runs(security: &str) {
    let site = Site::new();
    let target = secured(security);
    let call = ["run", "counted.yaml", "--out", "out", "--target", &target];
    good(&kgauge(&site, &call).output().unwrap());
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

/// The properties of a secured cluster's clients.
fn properties_of(cluster: &mut ServingCluster) -> String {
    fs::read_to_string(cluster.properties()).unwrap()
}

/// The stderr of a run with these properties. The run must fail with the target's exit status.
fn refused(site: &Site, properties: &str) -> String {
    site.write("wrong.properties", properties);
    let call = ["run", "tiny.yaml", "--yes", "--target", "wrong.properties"];
    check_status(&kgauge(site, &call).output().unwrap(), 3)
}

/// The properties with the line `to` in place of all that begin with `start`.
fn changed(properties: &str, start: &str, to: &str) -> String {
    let kept = properties.lines().filter(|line| !line.starts_with(start));
    format!("{}\n{to}\n", kept.collect::<Vec<_>>().join("\n"))
}

#[test]
#[ignore = "real Kafka"]
fn a_wrong_password_an_unknown_authority_and_a_wrong_name_are_refused_in_words() {
    let site = Site::new();
    let mut cluster = serve(&site, &secured("scram-sha-256+tls"));
    let right = properties_of(&mut cluster);
    site.write("right.properties", &right);
    let call = ["run", "tiny.yaml", "--yes", "--out", "out"];
    let call = [&call[..], &["--target", "right.properties"]].concat();
    good(&kgauge(&site, &call).output().unwrap());

    let at = right.find("password=\"").unwrap() + "password=\"".len();
    let mut password = right.clone();
    password.replace_range(at..at + 8, "00000000");
    let stderr = refused(&site, &password);
    assert!(
        stderr.contains("refuses the login") || stderr.contains("password"),
        "{stderr}"
    );

    // The authority of another cluster.
    let other_site = Site::new();
    let mut other = serve(&other_site, &secured("tls"));
    let others = properties_of(&mut other);
    // Its own clients are let in.
    other_site.write("right.properties", &others);
    let call = ["run", "counted.yaml", "--yes", "--out", "out"];
    let call = [&call[..], &["--target", "right.properties"]].concat();
    good(&kgauge(&other_site, &call).output().unwrap());
    check_counted(&other_site, "tls");

    let key = "ssl.truststore.location";
    let authority = others.lines().find(|line| line.starts_with(key)).unwrap();
    let stderr = refused(&site, &changed(&right, key, authority));
    assert!(
        stderr.contains("signed by a CA that is not trusted"),
        "{stderr}"
    );

    // The same address, written as one that the certificate does not name.
    let port = right
        .lines()
        .find_map(|line| line.strip_prefix("bootstrap.servers=127.0.0.1:"));
    let elsewhere = format!("bootstrap.servers=[::ffff:127.0.0.1]:{}", port.unwrap());
    let stderr = refused(&site, &changed(&right, "bootstrap.servers", &elsewhere));
    assert!(stderr.contains("certificate"), "{stderr}");
}
