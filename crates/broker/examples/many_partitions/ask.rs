//! A connection that asks one thing after the other.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

use kgauge_wire::codec::{Bytes, Reader, Str};
use kgauge_wire::frame::put_request;
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use kgauge_wire::messages::{Message, Request};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

const TIMEOUT_MS: i32 = 60_000;

pub(crate) struct Asker {
    stream: TcpStream,
}

impl Asker {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }

    /// Sends a request and gives the answer's bytes, behind the length.
    fn ask<'a, R: Request<'a>>(&mut self, version: i16, request: &R) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        put_request(&mut bytes, version, 0, None, request)?;
        self.stream.write_all(&bytes)?;
        let mut size = [0; 4];
        self.stream.read_exact(&mut size)?;
        let mut answer = vec![0; usize::try_from(i32::from_be_bytes(size))?];
        self.stream.read_exact(&mut answer)?;
        Ok(answer)
    }

    pub(crate) fn create_topics(
        &mut self,
        names: &[String],
        partitions: i32,
        factor: i16,
    ) -> Result<(), Failure> {
        let topic = |name: &String| CreatableTopic {
            name: Str::Owned(name.clone()),
            num_partitions: partitions,
            replication_factor: factor,
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest {
            topics: names.iter().map(topic).collect(),
            timeout_ms: TIMEOUT_MS,
            ..CreateTopicsRequest::default()
        };
        let answer = self.ask(7, &request)?;
        let answer = decode::<CreateTopicsRequest<'_>>(&answer, 7)?;
        all_done(answer.topics.iter().map(|topic| topic.error_code))
    }

    pub(crate) fn delete_topics(&mut self, names: &[String]) -> Result<(), Failure> {
        let topic = |name: &String| DeleteTopicState {
            name: Some(Str::Owned(name.clone())),
            ..DeleteTopicState::default()
        };
        let request = DeleteTopicsRequest {
            topics: names.iter().map(topic).collect(),
            timeout_ms: TIMEOUT_MS,
            ..DeleteTopicsRequest::default()
        };
        let answer = self.ask(6, &request)?;
        let answer = decode::<DeleteTopicsRequest<'_>>(&answer, 6)?;
        all_done(answer.responses.iter().map(|topic| topic.error_code))
    }

    /// Appends a record to each of some partitions that the node leads.
    pub(crate) fn produce(&mut self, topic: &str, partitions: &[i32]) -> Result<(), Failure> {
        let now_ms = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
        let mut encoder = BatchEncoder::default();
        encoder.start(now_ms);
        encoder.append(now_ms, None, Some(&[b'x'; 100]), &[]);
        let batch = encoder.finish(&ProducerState::NONE).to_vec();
        let data = |index: &i32| PartitionProduceData {
            index: *index,
            records: Some(Bytes::Borrowed(&batch)),
        };
        let request = ProduceRequest {
            acks: 1,
            timeout_ms: TIMEOUT_MS,
            topic_data: vec![TopicProduceData {
                name: Str::Borrowed(topic),
                partition_data: partitions.iter().map(data).collect(),
                ..TopicProduceData::default()
            }],
            ..ProduceRequest::default()
        };
        let answer = self.ask(12, &request)?;
        let answer = decode::<ProduceRequest<'_>>(&answer, 12)?;
        let answers = answer.responses.iter().flat_map(|t| &t.partition_responses);
        all_done(answers.map(|partition| partition.error_code))
    }
}

fn decode<'a, R: Request<'a>>(bytes: &'a [u8], version: i16) -> Result<R::Response<'a>, Failure> {
    let mut reader = Reader::new(bytes);
    ResponseHeader::decode(&mut reader, R::KEY.response_header_version(version))?;
    Ok(R::Response::decode(&mut reader, version)?)
}

fn all_done(codes: impl Iterator<Item = i16>) -> Result<(), Failure> {
    match codes.into_iter().find(|code| *code != 0) {
        None => Ok(()),
        Some(code) => Err(format!("error code {code}").into()),
    }
}
