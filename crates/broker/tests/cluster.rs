//! Whole clusters over real sockets.

mod harness;

use std::io::Write;
use std::net::TcpStream;

use harness::{Client, batch, count, fetch_request, produce_request, start};
use kgauge_broker::{ClusterConfig, EmbeddedCluster, ListenAddress, StartError};
use kgauge_wire::codec::Str;
use kgauge_wire::messages::api_versions::ApiVersionsRequest;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use kgauge_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use kgauge_wire::messages::produce::ProduceRequest;

fn end_offset(client: &mut Client, topic: &'static str) -> i64 {
    let partition = ListOffsetsPartition {
        timestamp: -1,
        ..Default::default()
    };
    let name = Str::Borrowed(topic);
    let topics = vec![ListOffsetsTopic {
        name,
        partitions: vec![partition],
    }];
    let answer = client.ask(
        7,
        &ListOffsetsRequest {
            topics,
            ..Default::default()
        },
    );
    answer.topics[0].partitions[0].offset
}

#[test]
fn three_nodes_share_a_topic_and_every_node_knows_who_leads() {
    let running = start(3);
    let addresses = running.cluster.addresses().to_vec();
    Client::connect(addresses[2]).create_topic("t", 6);
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some(Str::Borrowed("t")),
            ..Default::default()
        }]),
        ..Default::default()
    };
    for address in &addresses {
        let answer = Client::connect(*address).ask(12, &request);
        assert_eq!(answer.brokers.len(), 3);
        let mut leaders: Vec<i32> = answer.topics[0]
            .partitions
            .iter()
            .map(|p| p.leader_id)
            .collect();
        leaders.sort_unstable();
        assert_eq!(leaders, [1, 1, 2, 2, 3, 3]);
        for partition in &answer.topics[0].partitions {
            let leader = usize::try_from(partition.leader_id - 1).unwrap();
            let mut client = Client::connect(addresses[leader]);
            let index = partition.partition_index;
            let offset = client.produce("t", index, batch(10, 100));
            let bytes = client.fetch("t", index, offset);
            assert_eq!(count(&bytes), 10);
        }
    }
    running.cluster.stop().unwrap();
}

#[test]
fn what_was_produced_comes_back_byte_for_byte_also_after_a_restart() {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    let mut client = Client::connect(address);
    client.create_topic("t", 1);
    let sent = batch(1000, 100);
    for round in 0..20 {
        assert_eq!(client.produce("t", 0, sent.clone()), round * 1000);
    }
    let before = client.fetch("t", 0, 0);
    assert_eq!((count(&before), before.len()), (20_000, 20 * sent.len()));
    // All but base offset and leader epoch is as it was sent.
    assert_eq!(before[16..sent.len()], sent[16..]);
    running.cluster.stop().unwrap();
    let cluster = EmbeddedCluster::start(ClusterConfig::new(running.dir.path())).unwrap();
    let mut client = Client::connect(cluster.addresses()[0]);
    assert_eq!(client.fetch("t", 0, 0), before);
    assert_eq!(end_offset(&mut client, "t"), 20_000);
    cluster.stop().unwrap();
}

#[test]
fn requests_sent_at_once_are_answered_in_order() {
    let running = start(1);
    let mut client = Client::connect(running.cluster.addresses()[0]);
    client.create_topic("t", 1);
    for index in 0..200 {
        let acks = if index % 3 == 0 { 0 } else { 1 };
        client.send(12, &produce_request("t", 0, acks, batch(3, 50)));
    }
    for index in (0..200).filter(|index| index % 3 != 0) {
        let answer = client.receive::<ProduceRequest<'static>>(12);
        assert_eq!(
            answer.responses[0].partition_responses[0].base_offset,
            index * 3
        );
    }
}

#[test]
fn a_consumer_that_waits_is_woken_by_a_producer() {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    let mut producer = Client::connect(address);
    producer.create_topic("t", 1);
    let mut consumer = Client::connect(address);
    consumer.send(12, &fetch_request("t", 0, 0, 15_000));
    producer.produce("t", 0, batch(5, 10));
    let answer = consumer.receive::<kgauge_wire::messages::fetch::FetchRequest<'static>>(12);
    let records = answer.responses[0].partitions[0]
        .records
        .as_deref()
        .unwrap();
    assert_eq!(count(records), 5);
}

#[test]
fn a_client_that_takes_nothing_holds_up_nobody() {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    let mut client = Client::connect(address);
    client.create_topic("t", 1);
    for _ in 0..40 {
        client.produce("t", 0, batch(1000, 1000));
    }
    // Asks for 40 MB two hundred times over and reads none of it.
    let mut greedy = Client::connect(address);
    greedy.stream.set_nonblocking(true).unwrap();
    let mut bytes = Vec::new();
    let request = fetch_request("t", 0, 0, 0);
    kgauge_wire::frame::put_request(&mut bytes, 12, 1, None, &request).unwrap();
    for _ in 0..200 {
        if greedy.stream.write(&bytes).is_err() {
            break;
        }
    }
    assert_eq!(end_offset(&mut client, "t"), 40_000);
    // It then gets all that it asked for.
    greedy.stream.set_nonblocking(false).unwrap();
    let answer = greedy.receive::<kgauge_wire::messages::fetch::FetchRequest<'static>>(12);
    assert_eq!(
        count(
            answer.responses[0].partitions[0]
                .records
                .as_deref()
                .unwrap()
        ),
        40_000
    );
}

#[test]
fn a_thousand_half_open_connections_do_no_harm() {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    let mut half_open = Vec::new();
    for _ in 0..1000 {
        // Half of a request that claims 90 MiB.
        let Ok(mut stream) = TcpStream::connect(address) else {
            break;
        };
        stream.write_all(&(90i32 << 20).to_be_bytes()).unwrap();
        stream.write_all(&[0, 0, 0]).unwrap();
        half_open.push(stream);
    }
    assert!(half_open.len() > 200, "{} connections", half_open.len());
    let mut client = Client::connect(address);
    client.create_topic("t", 1);
    assert_eq!(client.produce("t", 0, batch(10, 100)), 0);
    drop(half_open);
    assert_eq!(client.produce("t", 0, batch(10, 100)), 10);
}

#[test]
fn garbage_and_lying_sizes_close_their_connection_only() {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    let mut good = Client::connect(address);
    let frames: [&[u8]; 4] = [
        &[0xff; 16],                           // a negative size
        &[0x7f, 0xff, 0xff, 0xff, 1, 2, 3],    // 2 GiB
        &[0, 0, 0, 4, 0xde, 0xad, 0xbe, 0xef], // no header
        b"GET / HTTP/1.1\r\n\r\n",             // 1195725856 bytes
    ];
    for frame in frames {
        let mut bad = Client::connect(address);
        bad.stream.write_all(frame).unwrap();
        assert!(bad.is_closed());
    }
    assert_eq!(good.ask(3, &ApiVersionsRequest::default()).error_code, 0);
}

#[test]
fn requests_in_pieces_and_across_reads_are_put_together() {
    let running = start(1);
    let mut client = Client::connect(running.cluster.addresses()[0]);
    client.create_topic("t", 1);
    let mut bytes = Vec::new();
    let request = produce_request("t", 0, 1, batch(900, 1000));
    kgauge_wire::frame::put_request(&mut bytes, 12, 9, Some("pieces"), &request).unwrap();
    let twice = [bytes.clone(), bytes].concat();
    for piece in twice.chunks(77_777) {
        client.stream.write_all(piece).unwrap();
    }
    for base_offset in [0, 900] {
        let answer = client.receive::<ProduceRequest<'static>>(12);
        let response = &answer.responses[0].partition_responses[0];
        assert_eq!(
            (response.error_code, response.base_offset),
            (0, base_offset)
        );
    }
}

#[test]
fn a_cluster_that_cannot_start_says_why() {
    let running = start(2);
    let dir = running.dir.path();
    let error = |config| EmbeddedCluster::start(config).unwrap_err();
    let in_use = error(ClusterConfig::new(dir).with_nodes(2));
    assert!(matches!(in_use, StartError::InUse(_)), "{in_use}");
    let address = running.cluster.addresses()[0];
    let other = tempfile::tempdir().unwrap();
    let mut taken = ClusterConfig::new(other.path());
    taken.listen = ListenAddress::Addresses(vec![address]);
    let taken = error(taken);
    assert!(taken.to_string().contains(&address.to_string()), "{taken}");
    let wrong = ClusterConfig::new(other.path())
        .with_nodes(0)
        .with_setting("num.partitions", "many")
        .with_setting("no.such.setting", "1");
    let StartError::Config(mistakes) = error(wrong) else {
        panic!()
    };
    assert_eq!(mistakes.len(), 3, "{mistakes:?}");
    running.cluster.stop().unwrap();
    let fewer = error(ClusterConfig::new(dir).with_nodes(1));
    assert!(fewer.to_string().contains("cluster of 2 nodes"), "{fewer}");
}

#[test]
fn a_folder_of_another_cluster_is_refused() {
    let (one, two) = (start(1), start(1));
    one.cluster.stop().unwrap();
    two.cluster.stop().unwrap();
    let stolen = two.dir.path().join("node-1");
    std::fs::remove_dir_all(&stolen).unwrap();
    std::fs::rename(one.dir.path().join("node-1"), &stolen).unwrap();
    let error = EmbeddedCluster::start(ClusterConfig::new(two.dir.path())).unwrap_err();
    assert!(matches!(error, StartError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("cluster.id"), "{error}");
}
