//! A transactional producer and a coordinator with scripted answers.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use fake::{Asked, all_versions, broker_of, config};
use kgauge_client::admin::ProducerId;
use kgauge_client::transaction::{TransactionError, TransactionKind, TransactionalProducer};
use kgauge_client::{Address, Cluster};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::api_versions::FinalizedFeatureKey;
use kgauge_wire::messages::find_coordinator::Coordinator;
use kgauge_wire::messages::metadata::MetadataResponseBroker;
use kgauge_wire::messages::{
    EndTxnRequest, EndTxnResponse, FindCoordinatorResponse, InitProducerIdRequest,
    InitProducerIdResponse, MetadataResponse,
};

const NOT_COORDINATOR: i16 = 16;
const CONCURRENT_TRANSACTIONS: i16 = 51;
const PRODUCER_FENCED: i16 = 90;

/// A cluster of one broker that has agreed on a level of `transaction.version`, and coordinates whatever
/// is asked for. What it is asked beside where things are, `answer` answers.
fn cluster(
    level: i16,
    mut answer: impl FnMut(&Asked) -> Option<Vec<u8>> + Send + 'static,
) -> Address {
    let known: Arc<OnceLock<Address>> = Arc::default();
    let itself = known.clone();
    let mut versions = all_versions();
    versions.finalized_features = vec![FinalizedFeatureKey {
        name: "transaction.version".into(),
        max_version_level: level,
        min_version_level: level,
    }];
    let address = broker_of(versions, move |asked| {
        let here = itself.wait();
        match asked.api {
            ApiKey::Metadata => Some(asked.answer(&MetadataResponse {
                brokers: vec![MetadataResponseBroker {
                    node_id: 1,
                    host: here.host.clone().into(),
                    port: i32::from(here.port),
                    rack: None,
                }],
                controller_id: 1,
                ..MetadataResponse::default()
            })),
            ApiKey::FindCoordinator => Some(asked.answer(&FindCoordinatorResponse {
                coordinators: vec![Coordinator {
                    key: "shop".into(),
                    node_id: 1,
                    host: here.host.clone().into(),
                    port: i32::from(here.port),
                    ..Coordinator::default()
                }],
                ..FindCoordinatorResponse::default()
            })),
            _ => answer(asked),
        }
    });
    known.set(address.clone()).unwrap();
    address
}

fn producer(address: &Address, api_timeout: Duration) -> TransactionalProducer {
    let mut config = config(&[address]);
    config.api_timeout = api_timeout;
    let cluster = Cluster::bootstrap(config).unwrap();
    TransactionalProducer::new(cluster, "shop", Duration::from_secs(60))
}

fn named(asked: &Asked, code: i16, id: i64, epoch: i16) -> Option<Vec<u8>> {
    Some(asked.answer(&InitProducerIdResponse {
        error_code: code,
        producer_id: id,
        producer_epoch: epoch,
        ..InitProducerIdResponse::default()
    }))
}

fn ended(asked: &Asked, code: i16, id: i64, epoch: i16) -> Option<Vec<u8>> {
    Some(asked.answer(&EndTxnResponse {
        error_code: code,
        producer_id: id,
        producer_epoch: epoch,
        ..EndTxnResponse::default()
    }))
}

/// What of each EndTxn the coordinator saw: version, producer id, epoch, whether it commits.
type Ends = Arc<Mutex<Vec<(i16, i64, i16, bool)>>>;

fn note_end(ends: &Ends, asked: &Asked) {
    let request: EndTxnRequest<'_> = asked.message();
    let (id, epoch) = (request.producer_id, request.producer_epoch);
    let end = (asked.version, id, epoch, request.committed);
    ends.lock().unwrap().push(end);
}

#[test]
fn with_the_second_protocol_each_end_returns_a_new_epoch() {
    let ends = Ends::default();
    let seen = ends.clone();
    let address = cluster(2, move |asked| match asked.api {
        ApiKey::InitProducerId => named(asked, 0, 7, 0),
        ApiKey::EndTxn => {
            note_end(&seen, asked);
            match seen.lock().unwrap().len() {
                1 => ended(asked, 0, 7, 1),
                2 => ended(asked, 0, 7, 2),
                // The epochs are used up: another id.
                _ => ended(asked, 0, 8, 0),
            }
        }
        _ => None,
    });
    let mut producer = producer(&address, Duration::from_secs(10));
    assert_eq!(producer.init().unwrap(), ProducerId { id: 7, epoch: 0 });
    assert_eq!(producer.kind(), TransactionKind::Second);
    assert_eq!(producer.end(true).unwrap(), ProducerId { id: 7, epoch: 1 });
    assert_eq!(producer.end(false).unwrap(), ProducerId { id: 7, epoch: 2 });
    assert_eq!(producer.end(true).unwrap(), ProducerId { id: 8, epoch: 0 });
    let expected = [(5, 7, 0, true), (5, 7, 1, false), (5, 7, 2, true)];
    assert_eq!(*ends.lock().unwrap(), expected);
}

#[test]
fn with_the_first_protocol_the_identity_stays_the_same() {
    let ends = Ends::default();
    let seen = ends.clone();
    // Kafka 4 with the metadata of 3.9 knows EndTxn 5, and must not be asked with it.
    let address = cluster(1, move |asked| match asked.api {
        ApiKey::InitProducerId => named(asked, 0, 7, 3),
        ApiKey::EndTxn => {
            note_end(&seen, asked);
            // What passes by itself is asked again.
            let code = match seen.lock().unwrap().len() {
                1 => NOT_COORDINATOR,
                2 => CONCURRENT_TRANSACTIONS,
                _ => 0,
            };
            ended(asked, code, -1, -1)
        }
        _ => None,
    });
    let mut producer = producer(&address, Duration::from_secs(10));
    producer.init().unwrap();
    assert_eq!(producer.kind(), TransactionKind::First);
    assert_eq!(producer.end(true).unwrap(), ProducerId { id: 7, epoch: 3 });
    assert_eq!(*ends.lock().unwrap(), [(4, 7, 3, true); 3]);
}

#[test]
fn a_fenced_producer_is_recognised() {
    let introductions = Arc::new(Mutex::new(Vec::new()));
    let seen = introductions.clone();
    let address = cluster(2, move |asked| match asked.api {
        ApiKey::InitProducerId => {
            let request: InitProducerIdRequest<'_> = asked.message();
            let whom = (request.producer_id, request.producer_epoch);
            seen.lock().unwrap().push(whom);
            match whom {
                (-1, -1) => named(asked, 0, 7, 4),
                _ => named(asked, PRODUCER_FENCED, -1, -1),
            }
        }
        ApiKey::EndTxn => ended(asked, PRODUCER_FENCED, -1, -1),
        _ => None,
    });
    let mut producer = producer(&address, Duration::from_secs(10));
    producer.init().unwrap();
    let refused = producer.end(true).unwrap_err();
    assert!(refused.is_of_the_past() && !refused.may_pass(), "{refused}");
    let words = refused.into_fenced().to_string();
    assert!(
        words.contains("another active producer with this id"),
        "{words}"
    );
    let fenced = producer.renew().unwrap_err();
    assert!(
        matches!(fenced, TransactionError::Fenced { .. }),
        "{fenced}"
    );
    // The second request named the producer, so the coordinator could refuse it.
    assert_eq!(*introductions.lock().unwrap(), [(-1, -1), (7, 4)]);
}

#[test]
fn a_coordinator_that_never_answers_is_waited_for_no_longer_than_an_operation_may_take() {
    let silent = Arc::new(Mutex::new(()));
    let held = silent.clone();
    let lock = silent.lock().unwrap();
    let address = cluster(2, move |asked| match asked.api {
        ApiKey::InitProducerId => named(asked, 0, 7, 0),
        _ => {
            drop(held.lock());
            None
        }
    });
    // A request alone may take 5 s, of which nothing is left.
    let mut producer = producer(&address, Duration::from_millis(400));
    producer.init().unwrap();
    let start = Instant::now();
    let late = producer.end(true).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(4), "{late}");
    assert!(
        late.may_pass(),
        "whether it was committed is to be asked again: {late}"
    );
    drop(lock);
}
