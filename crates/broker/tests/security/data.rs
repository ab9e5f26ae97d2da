//! Records through TLS: what was sent comes back, small and large, from memory and from files.

use std::io::Write;
use std::time::Duration;

use kgauge_broker::security::{ClientAuth, SaslMechanism};
use kgauge_client::{Cluster, Connection};
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::{FetchRequest, ProduceRequest};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState, batches};

use crate::harness::{batch, count, fetch_request, produce_request};
use crate::secured::{PASSWORD, Secured, USER, logging_in};
use crate::tls_client::TlsClient;

const WAIT: Duration = Duration::from_secs(30);

fn create(connection: &mut Connection) {
    let topic = CreatableTopic {
        name: "t".into(),
        num_partitions: 1,
        replication_factor: -1,
        ..CreatableTopic::default()
    };
    let request = CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    };
    let reply = connection.call_between(&request, 7..=7, WAIT).unwrap();
    assert_eq!(reply.decode().unwrap().topics[0].error_code, 0);
}

fn produce(connection: &mut Connection, batch: Vec<u8>) -> i64 {
    let request = produce_request("t", 0, 1, batch);
    let reply = connection.call_between(&request, 12..=12, WAIT).unwrap();
    let answer = reply.decode().unwrap();
    let response = &answer.responses[0].partition_responses[0];
    assert_eq!(response.error_code, 0);
    response.base_offset
}

fn fetch(connection: &mut Connection, offset: i64) -> Vec<u8> {
    let request = fetch_request("t", 0, offset, 0);
    let reply = connection.call_between(&request, 12..=12, WAIT).unwrap();
    let answer = reply.decode().unwrap();
    let response = &answer.responses[0].partitions[0];
    assert_eq!(response.error_code, 0);
    response.records.as_deref().unwrap_or_default().to_vec()
}

#[test]
fn two_thousand_records_come_back_equal_over_sasl_and_tls() {
    let secured = Secured::sasl_ssl();
    let login = logging_in(SaslMechanism::SCRAM_SHA_512, USER, PASSWORD);
    let lines = secured.trusting().replace("=SSL\n", "=SASL_SSL\n") + &login;
    let mut connection = secured.connect(&lines).unwrap();
    create(&mut connection);
    let mut sent = Vec::new();
    for number in 0..20_u32 {
        let mut encoder = BatchEncoder::default();
        encoder.start(1_700_000_000_000);
        for record in 0..100_u32 {
            let value = format!("record {record} of batch {number}");
            encoder.append(1_700_000_000_000, None, Some(value.as_bytes()), &[]);
        }
        let bytes = encoder.finish(&ProducerState::NONE).to_vec();
        assert_eq!(
            produce(&mut connection, bytes.clone()),
            i64::from(number) * 100
        );
        sent.push(bytes);
    }
    let fetched = fetch(&mut connection, 0);
    assert_eq!(count(&fetched), 2_000);
    let got: Vec<_> = batches(&fetched).map(|batch| batch.unwrap()).collect();
    assert_eq!(got.len(), 20);
    let mut at = 0;
    for sent in &sent {
        // Base offset and leader epoch are the broker's; the checksum covers all that follows.
        assert_eq!(fetched[at + 16..at + sent.len()], sent[16..]);
        at += sent.len();
    }
    // The cluster as clients see it is reached in the same way.
    let mut cluster = Cluster::bootstrap(secured.client(&lines)).unwrap();
    assert_eq!(cluster.end_offsets("t").unwrap(), [2_000]);
}

#[test]
fn answers_of_many_megabytes_come_through_tls_whole() {
    let secured = Secured::ssl(ClientAuth::None);
    let mut connection = secured.connect(&secured.trusting()).unwrap();
    create(&mut connection);
    let large = batch(1_000, 900);
    for round in 0..20 {
        assert_eq!(produce(&mut connection, large.clone()), round * 1_000);
    }
    let fetched = fetch(&mut connection, 0);
    assert_eq!(count(&fetched), 20_000);
    assert_eq!(fetched.len(), 20 * large.len());
    for number in 0..20 {
        let at = number * large.len();
        assert_eq!(fetched[at + 16..at + large.len()], large[16..]);
    }
}

#[test]
fn a_client_that_reads_late_gets_every_byte_of_many_answers() {
    let secured = Secured::ssl(ClientAuth::None);
    let address = secured.handle.addresses()[0];
    let mut connection = secured.connect(&secured.trusting()).unwrap();
    create(&mut connection);
    let large = batch(1_000, 900);
    for _ in 0..5 {
        produce(&mut connection, large.clone());
    }
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        let mut client = TlsClient::connect(address, &secured.authority, version);
        // More than sockets and sessions hold: the node has to stop and go on.
        for _ in 0..10 {
            client.send(12, &fetch_request("t", 0, 0, 0));
        }
        for _ in 0..10 {
            let answer = client.receive::<FetchRequest<'static>>(12, 1_000);
            let response = &answer.responses[0].partitions[0];
            assert_eq!(count(response.records.as_deref().unwrap()), 5_000);
        }
    }
}

#[test]
fn a_request_that_comes_in_many_small_records_is_put_together() {
    let secured = Secured::ssl(ClientAuth::None);
    let address = secured.handle.addresses()[0];
    let mut connection = secured.connect(&secured.trusting()).unwrap();
    create(&mut connection);
    let mut client = TlsClient::connect(address, &secured.authority, &rustls::version::TLS13);
    let mut bytes = Vec::new();
    let request = produce_request("t", 0, 1, batch(200, 900));
    for _ in 0..3 {
        put_request(&mut bytes, 12, 7, None, &request).unwrap();
    }
    for (number, piece) in bytes.chunks(701).enumerate() {
        client.stream.write_all(piece).unwrap();
        if number % 100 == 0 {
            client.stream.flush().unwrap();
        }
    }
    for round in 0..3 {
        let answer = client.receive::<ProduceRequest<'static>>(12, 64);
        let response = &answer.responses[0].partition_responses[0];
        assert_eq!(
            (response.error_code, response.base_offset),
            (0, round * 200)
        );
    }
    assert_eq!(count(&fetch(&mut connection, 0)), 600);
}
