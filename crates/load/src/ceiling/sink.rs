//! The sink: acts as a broker with one topic, answers every request at once and stores nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Reader;
use kgauge_wire::frame::{put_response, split_frame};
use kgauge_wire::header::RequestHeader;
use kgauge_wire::messages::api_versions::ApiVersion;
use kgauge_wire::messages::fetch::{FetchableTopicResponse, PartitionData};
use kgauge_wire::messages::list_offsets::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use kgauge_wire::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kgauge_wire::messages::produce::{PartitionProduceResponse, TopicProduceResponse};
use kgauge_wire::messages::{
    ApiVersionsResponse, FetchRequest, FetchResponse, InitProducerIdResponse, ListOffsetsRequest,
    ListOffsetsResponse, Message, MetadataResponse, ProduceRequest, ProduceResponse,
};
use kgauge_wire::record_batch::BatchHeader;

/// The one broker.
pub(super) const BROKER_ID: i32 = 1;

/// Supported versions, up to the newest ones that identify topics by name.
const SPOKEN: &[(ApiKey, i16, i16)] = &[
    (ApiKey::Produce, 3, 12),
    (ApiKey::Fetch, 4, 12),
    (ApiKey::ListOffsets, 1, 7),
    (ApiKey::Metadata, 1, 9),
    (ApiKey::ApiVersions, 0, 3),
    (ApiKey::InitProducerId, 0, 4),
];

/// The end of every partition, far beyond what is read in seconds.
const END: i64 = 1 << 48;

/// The `timestamp` of ListOffsets that requests the start.
const EARLIEST: i64 = -2;

/// The engine sends no larger request.
const FRAME_BYTES_MAX: usize = 128 << 20;

/// A sink on a free port of this machine. It ends when it is dropped.
pub(super) struct LoopbackSink {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

/// State shared by all connections.
struct Topic {
    name: String,
    partitions: u32,
    port: u16,
    /// The record batches in every fetch response.
    batches: Vec<u8>,
    /// Start of each batch in them, and the number of records before it.
    places: Vec<(usize, i64)>,
    /// Number of records in them.
    records: i64,
}

impl LoopbackSink {
    /// Starts to listen. Consumers get `batches` repeatedly.
    pub(super) fn start(name: &str, partitions: u32, batches: Vec<u8>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (places, records) = places_of(&batches);
        let topic = Arc::new(Topic {
            name: name.to_owned(),
            partitions,
            port: address.port(),
            batches,
            places,
            records,
        });
        let ends = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ends);
        let accept = move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), topic) = (stream, Arc::clone(&topic)) else {
                    continue;
                };
                // The thread ends when its client disconnects. Without a thread, the client gets no response and
                // reports that.
                let serve = move || {
                    let _ = serve(stream, &topic);
                };
                let _ = std::thread::Builder::new()
                    .name("sink".to_owned())
                    .spawn(serve);
            }
        };
        let acceptor = std::thread::Builder::new()
            .name("sink-accept".to_owned())
            .spawn(accept)?;
        Ok(Self {
            address,
            ends,
            acceptor: Some(acceptor),
        })
    }

    /// The sink's address.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for LoopbackSink {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // Wakes the thread, which waits for a connection.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(acceptor) = self.acceptor.take().filter(|_| woken) {
            let _ = acceptor.join();
        }
    }
}

/// Where batches start, the number of records before each, and the total number of records.
fn places_of(batches: &[u8]) -> (Vec<(usize, i64)>, i64) {
    let (mut places, mut at, mut records) = (Vec::new(), 0, 0);
    while let Ok(header) = BatchHeader::parse(batches.get(at..).unwrap_or_default()) {
        places.push((at, records));
        records += i64::from(header.records());
        at += header.batch_bytes();
    }
    (places, records)
}

/// Serves one connection until it closes, all received requests at once.
fn serve(mut stream: TcpStream, topic: &Topic) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 1 << 20];
    let mut answers = Vec::new();
    let mut scratch = topic.batches.clone();
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = stream.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut done = 0;
        answers.clear();
        while let Ok(Some(frame)) = split_frame(&buffer[done..filled], FRAME_BYTES_MAX) {
            let answered = answer(frame.payload, topic, &mut scratch, &mut answers);
            done += frame.bytes;
            if answered.is_none() {
                return Ok(());
            }
        }
        buffer.copy_within(done..filled, 0);
        filled -= done;
        stream.write_all(&answers)?;
    }
}

/// Appends the response to a request; `None` if it cannot be decoded.
fn answer(payload: &[u8], topic: &Topic, scratch: &mut [u8], out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(payload);
    let header = RequestHeader::decode_implied(&mut reader).ok()?;
    let api = ApiKey::from_i16(header.api_key)?;
    let (version, correlation_id) = (header.api_version, header.correlation_id);
    let mut put = AnswerSlot {
        out,
        api,
        version,
        correlation_id,
    };
    match api {
        ApiKey::ApiVersions => put.response(&api_versions()),
        ApiKey::Metadata => put.response(&metadata(topic)),
        ApiKey::InitProducerId => put.response(&InitProducerIdResponse {
            producer_id: 1,
            ..InitProducerIdResponse::default()
        }),
        ApiKey::ListOffsets => {
            let request = ListOffsetsRequest::decode(&mut reader, version).ok()?;
            put.response(&list_offsets(&request))
        }
        ApiKey::Produce => {
            let request = ProduceRequest::decode(&mut reader, version).ok()?;
            match request.acks {
                0 => Some(()),
                _ => put.response(&produced(&request)),
            }
        }
        ApiKey::Fetch => {
            let request = FetchRequest::decode(&mut reader, version).ok()?;
            put.fetched(&request, topic, scratch)
        }
        _ => None,
    }
}

/// The response being written.
struct AnswerSlot<'a> {
    out: &'a mut Vec<u8>,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
}

impl AnswerSlot<'_> {
    fn response<'m, M: Message<'m>>(&mut self, message: &M) -> Option<()> {
        put_response(
            self.out,
            self.api,
            self.version,
            self.correlation_id,
            message,
        )
        .ok()
    }

    /// Every partition gets the same batches, from the offset that it requested.
    fn fetched(
        &mut self,
        request: &FetchRequest<'_>,
        topic: &Topic,
        scratch: &mut [u8],
    ) -> Option<()> {
        let asked = request.topics.first()?;
        // All partitions of a response share the bytes, and so the offsets: the highest one requested. The other
        // partitions see a gap in their offsets, as in a compacted topic.
        let offsets = asked.partitions.iter().map(|one| one.fetch_offset);
        let base = offsets.max().unwrap_or(0);
        for (at, before) in &topic.places {
            let offset = scratch.get_mut(*at..at + 8)?;
            offset.copy_from_slice(&(base + before).to_be_bytes());
        }
        let room = usize::try_from(request.max_bytes).unwrap_or(0);
        let fitting = (room / scratch.len().max(1)).max(1);
        let data = asked.partitions.iter().take(fitting);
        let data = data.map(|one| PartitionData {
            partition_index: one.partition,
            high_watermark: END,
            last_stable_offset: END,
            records: Some((&*scratch).into()),
            ..PartitionData::default()
        });
        debug_assert!(topic.records > 0, "consumers are given batches");
        self.response(&FetchResponse {
            responses: vec![FetchableTopicResponse {
                topic: asked.topic.clone(),
                partitions: data.collect(),
                ..FetchableTopicResponse::default()
            }],
            ..FetchResponse::default()
        })
    }
}

fn api_versions() -> ApiVersionsResponse<'static> {
    let range = |&(api, first, last): &(ApiKey, i16, i16)| ApiVersion {
        api_key: api.as_i16(),
        min_version: first,
        max_version: last,
    };
    ApiVersionsResponse {
        api_keys: SPOKEN.iter().map(range).collect(),
        ..ApiVersionsResponse::default()
    }
}

fn metadata(topic: &Topic) -> MetadataResponse<'_> {
    let partition = |index: u32| MetadataResponsePartition {
        partition_index: index as i32,
        leader_id: BROKER_ID,
        replica_nodes: vec![BROKER_ID],
        isr_nodes: vec![BROKER_ID],
        ..MetadataResponsePartition::default()
    };
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: BROKER_ID,
            host: "127.0.0.1".into(),
            port: i32::from(topic.port),
            ..MetadataResponseBroker::default()
        }],
        controller_id: BROKER_ID,
        topics: vec![MetadataResponseTopic {
            name: Some(topic.name.as_str().into()),
            partitions: (0..topic.partitions).map(partition).collect(),
            ..MetadataResponseTopic::default()
        }],
        ..MetadataResponse::default()
    }
}

fn list_offsets<'a>(request: &ListOffsetsRequest<'a>) -> ListOffsetsResponse<'a> {
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic
            .partitions
            .iter()
            .map(|one| ListOffsetsPartitionResponse {
                partition_index: one.partition_index,
                offset: if one.timestamp == EARLIEST { 0 } else { END },
                ..ListOffsetsPartitionResponse::default()
            });
        ListOffsetsTopicResponse {
            name: topic.name.clone(),
            partitions: partitions.collect(),
        }
    });
    ListOffsetsResponse {
        topics: topics.collect(),
        ..ListOffsetsResponse::default()
    }
}

fn produced<'a>(request: &ProduceRequest<'a>) -> ProduceResponse<'a> {
    let topics = request.topic_data.iter().map(|topic| {
        let partitions = topic
            .partition_data
            .iter()
            .map(|one| PartitionProduceResponse {
                index: one.index,
                ..PartitionProduceResponse::default()
            });
        TopicProduceResponse {
            name: topic.name.clone(),
            partition_responses: partitions.collect(),
            ..TopicProduceResponse::default()
        }
    });
    ProduceResponse {
        responses: topics.collect(),
        ..ProduceResponse::default()
    }
}
