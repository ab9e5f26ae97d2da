//! `--serve`: a run that is watched by a browser, by Prometheus and by hostile clients.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{Site, json, text, wait_until};

/// Nothing here takes longer on any machine that is alive.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run of a minute.
const LONG: [&str; 5] = ["tiny.yaml", "--out", "out", "--set", "stages.hold=60 s"];

/// A run that serves, and where.
struct Watched {
    run: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Watched {
    fn start(site: &Site, arguments: &[&str]) -> Self {
        let mut run = site.start(&[&["run"], arguments, &["--serve", "0"]].concat());
        let mut stderr = BufReader::new(run.stderr.take().unwrap());
        let mut messages = String::new();
        let address = loop {
            let read = stderr.read_line(&mut messages).unwrap();
            assert!(read > 0, "it ended without an address: {messages}");
            if let Some((_, rest)) = messages.split_once("watch the run at http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        Self {
            run,
            stderr,
            address,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The response to these bytes.
    fn send(&self, bytes: &[u8]) -> HttpResponse {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        HttpResponse::read(stream)
    }

    fn get(&self, path: &str) -> HttpResponse {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).as_bytes())
    }

    /// Asks for the part that changes until it contains this.
    fn until(&self, expected: &str) -> String {
        let mut part = String::new();
        wait_until(expected, || {
            part = self.get("/live.html").body;
            part.contains(expected)
        });
        part
    }

    /// Waits for its end, after Ctrl-C if `signal` is set. Returns its exit status, stdout and stderr.
    fn end(mut self, signal: bool) -> (Option<i32>, String, String) {
        if signal {
            kill_process(Pid::from_child(&self.run), Signal::INT).unwrap();
        }
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let output = self.run.wait_with_output().unwrap();
        (output.status.code(), text(&output.stdout), stderr)
    }
}

struct HttpResponse {
    status: u16,
    head: String,
    body: String,
}

impl HttpResponse {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A refused client is not read, so that the connection may end in a reset. Then there is no status.
        let read = stream.read_to_end(&mut bytes);
        let is_reset = |error: &std::io::Error| error.kind() == ErrorKind::ConnectionReset;
        assert!(read.as_ref().err().is_none_or(is_reset), "{read:?}");
        let all = text(&bytes);
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = head.split(' ').nth(1).unwrap_or("0");
        Self {
            status: status.parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }
}

/// Values by name and labels. Every line must have the format of Prometheus.
fn numbers(metrics: &str) -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let before = numbers.insert(name.to_owned(), value.parse().unwrap());
        assert!(before.is_none(), "twice: {name}");
    }
    numbers
}

/// The only value with this name for a flow.
fn of_flow(numbers: &BTreeMap<String, f64>, name: &str, flow: &str) -> f64 {
    let found = numbers.iter().filter(|(key, _)| {
        let labelled = key
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('{'));
        labelled && key.contains(&format!("flow=\"{flow}\""))
    });
    let found: Vec<f64> = found.map(|(_, value)| *value).collect();
    assert_eq!(found.len(), 1, "{name} of {flow}");
    found[0]
}

/// Requests page and metrics until the run is over; no counter may fall. Returns the last page.
fn watched_to_its_end(watched: &Watched) -> String {
    let mut before = BTreeMap::<String, f64>::new();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let part = watched.get("/live.html").body;
        let now = numbers(&watched.get("/metrics").body);
        for (name, value) in &before {
            let grows =
                name.contains("_total") || name.contains("_bucket") || name.contains("_count");
            let now = now.get(name).copied();
            assert!(
                !grows || now.is_some_and(|now| now >= *value),
                "{name}: {value}, then {now:?}"
            );
        }
        before = now;
        if part.contains("data-phase=\"over\"") {
            return part;
        }
        assert!(Instant::now() < deadline, "{part}");
    }
}

#[test]
fn the_numbers_of_a_run_are_those_of_its_summary() {
    let site = Site::new();
    let watched = Watched::start(&site, &["counted.yaml", "--out", "out", "--repeat", "2"]);
    let over = watched_to_its_end(&watched);
    assert!(over.contains("reports/1"), "{over}");
    let report = watched.get("/reports/1");
    let after = numbers(&watched.get("/metrics").body);
    let (status, table, stderr) = watched.end(false);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        table.contains("report.html"),
        "the table is printed as ever"
    );
    let file = std::fs::read_to_string(site.path("out/report.html")).unwrap();
    let (head, body) = file.split_once("<body>").unwrap();
    assert!(report.body.starts_with(head) && report.body.ends_with(body));
    assert!(
        report
            .body
            .contains("kgauge serves this report until it exits")
    );

    let summary = json(&site.path("out/summary.json"));
    let flows = summary["trials"][0]["flows"].as_array().unwrap();
    let records = |flow: usize, of: &str| flows[flow]["records_all_stages"][of].as_f64().unwrap();
    let is = |name: &str, flow: &str| of_flow(&after, name, flow);
    assert_eq!(is("kgauge_records_acked_total", "writers"), 1_600.0);
    assert_eq!(is("kgauge_records_consumed_total", "readers"), 1_600.0);
    for of in [
        "scheduled",
        "acked",
        "failed",
        "skipped",
        "indeterminate",
        "retried",
    ] {
        let name = format!("kgauge_records_{of}_total");
        assert_eq!(is(&name, "writers"), records(0, of), "{of}");
    }
    assert_eq!(
        is("kgauge_records_consumed_total", "readers"),
        records(1, "consumed")
    );
    assert_eq!(is("kgauge_acked_bytes_total", "writers"), 160_000.0);
    assert_eq!(is("kgauge_response_seconds_count", "writers"), 1_600.0);
    let buckets: Vec<f64> = after
        .iter()
        .filter(|(key, _)| key.starts_with("kgauge_response_seconds_bucket{"))
        .map(|(_, value)| *value)
        .collect();
    assert_eq!(buckets.len(), 19);
    assert_eq!(buckets.iter().copied().fold(0.0, f64::max), 1_600.0);
    let active = after
        .iter()
        .find(|(key, _)| key.starts_with("kgauge_run_active{"));
    assert_eq!(active.unwrap().1, &0.0);
    let repeats = after
        .iter()
        .find(|(key, _)| key.starts_with("kgauge_repeats_total{"));
    assert_eq!(repeats.unwrap().1, &2.0);
}

#[test]
fn a_run_is_watched_as_it_goes_and_names_stay_text() {
    let site = Site::new();
    let varied = "vary: {writers.settings.client.id: ['<script>&\"']}\ntopic: ";
    let named = crate::site::TINY
        .replace("topic: ", varied)
        .replace("hold: 1 s", "hold: 60 s");
    site.write("named.yaml", &named);
    let watched = Watched::start(&site, &["named.yaml", "--out", "out"]);
    // Charts start with the first whole second.
    let part = watched.until("id=\"trial-1-throughput\"");
    for expected in [
        "id=\"now\"",
        "data-phase=\"load\"",
        "id=\"stage-progress\"",
        "id=\"flows\"",
        "id=\"charts\"",
        "id=\"chart-data\"",
        "role=\"status\"",
        "hold, ",
        "&lt;script&gt;&amp;&quot;",
    ] {
        assert!(part.contains(expected), "{expected}: {part}");
    }
    let page = watched.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("Content-Type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(page.header("X-Content-Type-Options"), Some("nosniff"));
    let policy = page.header("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe"));
    // The page's own script, and its numbers: nothing else.
    assert_eq!(page.body.matches("<script").count(), 2);
    assert!(!page.body.contains("<script>&"), "the name is text");
    let svg = "http://www.w3.org/2000/svg";
    assert!(!page.body.replace(svg, "").contains("http://"));
    let now: Value = serde_json::from_str(&watched.get("/live.json").body).unwrap();
    assert_eq!(
        (&now["phase"], &now["stage"]),
        (&"load".into(), &"hold".into())
    );
    assert_eq!(now["flows"][0]["flow"], "writers");
    assert_eq!(now["trial_name"], "writers.settings.client.id=<script>&\"");
    // What is known is not sent again, unless the second has passed meanwhile.
    wait_until("a part with a known tag is not sent again", || {
        let part = watched.get("/live.html");
        let tag = part.header("ETag").unwrap();
        let request =
            format!("GET /live.html HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n\r\n");
        let again = watched.send(request.as_bytes());
        let is_known = again.status == 304;
        assert_eq!(is_known, again.header("ETag") == Some(tag));
        assert_eq!(is_known, again.body.is_empty());
        is_known
    });
    // A user who stops waits for no viewer.
    let (status, _, stderr) = watched.end(true);
    assert_eq!(status, Some(130), "{stderr}");
}

/// Opens a hundred connections at once. Each is served or refused, and later ones are served again.
fn many_at_once(watched: &Watched, mut idle: Vec<TcpStream>) {
    idle.extend((0..100).map(|_| watched.connect()));
    drop(idle);
    wait_until("metrics are served", || {
        watched.get("/metrics").status == 200
    });
    let open = b"GET /metrics HTTP/1.1\r\nHost: [::1]:1\r\nAccept: application/openmetrics-text;version=1.0.0\r\n\r\n";
    let open = watched.send(open);
    assert!(
        open.header("Content-Type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    assert!(open.body.ends_with("# EOF\n"));
}

#[test]
fn hostile_clients_neither_block_nor_end_the_server() {
    let site = Site::new();
    let watched = Watched::start(&site, &LONG);
    // Some clients send nothing, one sends letter by letter; all hold their connections.
    let idle: Vec<TcpStream> = (0..20).map(|_| watched.connect()).collect();
    let mut slow = watched.connect();
    let request = format!(
        "HEAD /live.html HTTP/1.1\r\nHost: {}\r\n\r\n",
        watched.address
    );
    for letter in request.as_bytes() {
        slow.write_all(&[*letter]).unwrap();
    }
    let slow = HttpResponse::read(slow);
    assert_eq!(slow.status, 200);
    assert_eq!(slow.body, "", "HEAD has no body");
    assert_ne!(slow.header("Content-Length"), Some("0"));
    let local = "Host: localhost\r\n\r\n";
    for (bytes, status) in [
        (b"\x16\x03\x01\x00\xff\x01\r\n\r\n".to_vec(), 400),
        (b"junk\r\n\r\n".to_vec(), 400),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), 400),
        (format!("GET /gone HTTP/1.1\r\n{local}").into_bytes(), 404),
        (
            format!("GET /reports/1 HTTP/1.1\r\n{local}").into_bytes(),
            404,
        ),
        (
            format!("GET /reports/99999999999999999999999 HTTP/1.1\r\n{local}").into_bytes(),
            404,
        ),
        (
            format!("GET /../out/run.json HTTP/1.1\r\n{local}").into_bytes(),
            404,
        ),
        (
            format!("POST / HTTP/1.1\r\nContent-Length: 4\r\n{local}abcd").into_bytes(),
            405,
        ),
        (format!("GET / HTTP/3.0\r\n{local}").into_bytes(), 505),
        // A foreign host name that resolves to this address.
        (
            b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(),
            421,
        ),
        (
            format!("GET /{} HTTP/1.1\r\n{local}", "x".repeat(10_000)).into_bytes(),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\nX: {}\r\n{local}", "x".repeat(1 << 20)).into_bytes(),
            431,
        ),
    ] {
        let response = watched.send(&bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(response.status, status, "{shown:?}: {}", response.head);
        assert_eq!(response.header("X-Content-Type-Options"), Some("nosniff"));
    }
    many_at_once(&watched, idle);
    let (status, _, stderr) = watched.end(true);
    assert_eq!(status, Some(130), "{stderr}");
}

#[test]
fn a_request_that_does_not_end_gets_a_timeout() {
    let site = Site::new();
    let watched = Watched::start(&site, &LONG);
    let mut silent = watched.connect();
    silent.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    assert_eq!(HttpResponse::read(silent).status, 408);
    let (status, ..) = watched.end(true);
    assert_eq!(status, Some(130));
}

#[test]
fn a_port_in_use_is_refused_before_anything_is_started() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let call = ["run", "tiny.yaml", "--serve", address.as_str()];
    crate::site::check_refused(&call, 2, &["--serve", "another program uses this port"]);
    let call = ["run", "tiny.yaml", "--serve", "here"];
    crate::site::check_refused(&call, 2, &["the port is missing", "127.0.0.1:8080"]);
}

#[test]
fn several_targets_are_watched_one_after_the_other() {
    let site = Site::new();
    let targets = ["--target", "embedded", "--target", "embedded:3"];
    let call = [&["counted.yaml", "--out", "out"][..], &targets].concat();
    let watched = Watched::start(&site, &call);
    watched.until("(2 of 2)");
    let over = watched.until("data-phase=\"over\"");
    for report in ["reports/1", "reports/2", "reports/3"] {
        assert!(over.contains(report), "{over}");
    }
    assert!(
        watched
            .get("/reports/3")
            .body
            .contains("kgauge serves this report until it exits")
    );
    let metrics = numbers(&watched.get("/metrics").body);
    let acked = metrics.iter().filter(|(key, _)| {
        key.starts_with("kgauge_records_acked_total{") && key.contains("flow=\"writers\"")
    });
    assert_eq!(
        acked.map(|(_, value)| *value).collect::<Vec<_>>(),
        [800.0, 800.0]
    );
    let (status, _, stderr) = watched.end(false);
    assert_eq!(status, Some(0), "{stderr}");
}

#[test]
fn a_run_that_goes_on_shows_what_was_done_before() {
    let site = Site::new();
    let first = Watched::start(&site, &["tiny.yaml", "--out", "half", "--repeat", "8"]);
    first.until("id=\"complete\"");
    let (status, _, stderr) = first.end(true);
    assert_eq!(status, Some(130), "{stderr}");
    let again = Watched::start(&site, &["--resume", "half"]);
    let part = again.until("id=\"complete\"");
    assert!(part.contains("class=\"ended\""), "{part}");
    again.until("data-phase=\"over\"");
    let (status, _, stderr) = again.end(false);
    assert_eq!(status, Some(0), "{stderr}");
}
