//! Endpoints for brokers' metrics that do not behave, and one that does.

#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use kgauge_observe::{BrokerSource, MetricsEndpoint, Sampler, SamplingPlan};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{Evidence, EvidenceKind, MetricsSource, RepeatKey, Subject};

/// A listener that does the same with each connection; it ends with the test.
fn endpoint(serve: impl Fn(TcpStream) + Send + 'static, path: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
    format!("http://me:hush@127.0.0.1:{port}{path}?token=hush")
}

/// Reads a whole request: a connection that is closed with unread bytes is reset, and its answer may be lost.
fn request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    while !is_whole(&String::from_utf8_lossy(&text)) {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.extend_from_slice(&bytes[..count]),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let mut headers = head.lines().filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.map_or(0, |(_, value)| value.trim().parse().unwrap());
    body.len() >= length
}

fn answers(head: &'static str, body: Vec<u8>, path: &str) -> String {
    let serve = move |mut stream: TcpStream| {
        request(&mut stream);
        let length = body.len();
        // Whoever has had enough closes in the middle.
        let _ = write!(
            stream,
            "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        let _ = stream.write_all(&body);
    };
    endpoint(serve, path)
}

#[track_caller]
fn complaint(url: &str) -> String {
    let complain = || {
        let mut endpoint = MetricsEndpoint::new(url.parse().unwrap(), Some(1));
        endpoint.sample().unwrap_err()
    };
    // On a machine that is busy elsewhere an answer can come too late.
    let mut answers = std::iter::repeat_with(complain).take(20);
    let words = answers.find(|words| !words.starts_with("no answer within"));
    let words = words.expect("an answer in one of twenty tries");
    assert!(!words.contains("hush"), "{words}");
    assert!(
        words.len() < 300 && !words.contains(char::is_control),
        "{words}"
    );
    words
}

#[test]
fn errors_of_an_endpoint_are_reported() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    assert_eq!(
        complaint(&format!("http://me:hush@{free}/metrics")),
        "connection refused"
    );
    let junk = b"<html>\x07 who are you?</html>".to_vec();
    assert!(
        complaint(&answers("200 OK", junk.clone(), "/metrics"))
            .contains("neither Prometheus nor Jolokia")
    );
    let other = complaint(&answers("200 OK", junk, "/jolokia"));
    assert!(other.contains("its response is not Jolokia's"), "{other}");
    let refused = answers("401 Unauthorized", b"hush".to_vec(), "/metrics");
    assert!(complaint(&refused).contains("rejects these credentials"));
    let moved = answers(
        "302 Found\r\nLocation: http://127.0.0.1:1/",
        Vec::new(),
        "/metrics",
    );
    assert!(complaint(&moved).contains("it redirects"));
    let ill = answers(
        "500 Internal Server Error",
        b"no /metrics?token=hush".to_vec(),
        "/metrics",
    );
    // What a server repeats may be a secret.
    let message = complaint(&ill);
    assert!(
        message.ends_with("it answers HTTP 500 Internal Server Error"),
        "{message}"
    );
    assert!(!message.contains("hush"), "{message}");
    let other = answers("200 OK", b"up 1\n".to_vec(), "/metrics");
    assert!(complaint(&other).contains("no Kafka metrics"));
    let strange = endpoint(
        |mut stream| drop(stream.write_all(b"SSH-2.0-x\r\n\r\n")),
        "/metrics",
    );
    complaint(&strange);
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    // A valid line again and again, 10 MB of them: too much, or too slow on a busy machine.
    let body = "kafka_server_x_total{topic=\"orders\"} 1.0\n"
        .repeat(250_000)
        .into_bytes();
    let words = complaint(&answers("200 OK", body, "/metrics"));
    assert!(
        words.contains("more than 4 MiB") || words.contains("no answer within"),
        "{words}"
    );
    let head = endpoint(
        |mut stream| {
            request(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            while stream.write_all(b"X-More: and more\r\n").is_ok() {}
        },
        "/metrics",
    );
    complaint(&head);
}

/// Its machine looks go on, and it ends although the endpoint never answers.
#[test]
fn an_endpoint_that_never_answers_delays_no_other() {
    let (held, kept) = channel();
    let url = endpoint(move |stream| drop(held.send(stream)), "/metrics");
    let source = MetricsEndpoint::new(url.parse().unwrap(), Some(2));
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    let origin = Instant::now();
    let now_ns = move || u64::try_from(origin.elapsed().as_nanos()).unwrap();
    let (sender, receiver) = channel::<Evidence>();
    let sink = move |seen: &Evidence| sender.send(seen.clone()).map_err(|_| "gone".to_owned());
    let watch = SamplingPlan::each_second(key, Vec::new());
    let sampler = Sampler::start(watch, vec![Box::new(source)], now_ns, sink).unwrap();
    // It has been asked, and hangs.
    let _stream = kept.recv_timeout(Duration::from_secs(60)).unwrap();
    // Two looks at the machine while it does.
    let generator = |seen: &Evidence| {
        seen.subject == Subject::Generator && matches!(seen.kind, EvidenceKind::Cpu { .. })
    };
    let mut looks = 0;
    while looks < 2 {
        let seen = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        looks += u32::from(generator(&seen));
    }
    drop(sampler.stop());
    let missing = receiver.iter().find_map(|seen| match seen.kind {
        EvidenceKind::NotSeen(what) if what.is_of_metrics() => Some(what),
        _ => None,
    });
    let missing = missing.unwrap();
    assert!(
        missing
            .what
            .starts_with("metrics of broker 2 (http://127.0.0.1:"),
        "{}",
        missing.what
    );
    assert!(missing.why.contains("no answer within"), "{}", missing.why);
}

#[test]
fn a_good_endpoint_is_known_by_what_it_answers() {
    let text = b"kafka_server_brokertopicmetrics_bytesin_total 5\n".to_vec();
    // On a busy machine a look may be lost: the next one is as good.
    let look = |url: String| {
        let mut endpoint = MetricsEndpoint::new(url.parse().unwrap(), Some(3));
        loop {
            match endpoint.sample() {
                Ok(looks) => return looks,
                Err(words) => assert!(words.contains("no answer within"), "{words}"),
            }
        }
    };
    let looks = look(answers("200 OK", text, "/"));
    assert_eq!(looks[0].0, Some(3));
    assert_eq!(looks[0].1.source, MetricsSource::Prometheus);
    assert_eq!(looks[0].1.get(MetricId::BytesIn), Some(5));
    let read = br#"[{"request":{"mbean":"kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics"},"value":{"Count":7},"status":200}]"#;
    let looks = look(answers("200 OK", read.to_vec(), "/some/jolokia"));
    assert_eq!(looks[0].1.source, MetricsSource::Jolokia);
    assert_eq!(looks[0].1.get(MetricId::BytesIn), Some(7));
}

#[test]
fn credentials_are_sent_decoded_and_an_endpoint_is_asked_once_for_a_look() {
    let (sender, requests) = channel();
    let serve = move |mut stream: TcpStream| {
        sender.send(request(&mut stream)).unwrap();
        let body = "kafka_server_brokertopicmetrics_bytesin_total 5\n";
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
    };
    let url = endpoint(serve, "/metrics").replace("me:hush", "me:hu%40%3Ash");
    let mut endpoint = MetricsEndpoint::new(url.parse().unwrap(), Some(3));
    let looks = endpoint.sample();
    let request = requests.recv().unwrap().to_ascii_lowercase();
    // me:hu@:sh
    assert!(
        request.contains("authorization: basic bwu6ahvaonno"),
        "{request}"
    );
    assert!(request.starts_with("get /metrics?token=hush "), "{request}");
    assert!(!request.contains("hu%40"), "{request}");
    // On a busy machine the sample may time out; the endpoint got its request nevertheless.
    if looks.is_ok() {
        assert_eq!(requests.try_recv().ok(), None, "it is asked once");
    }
}
