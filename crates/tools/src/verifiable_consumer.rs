//! `kafka-verifiable-consumer`: a member of a group that prints JSON events.

use kgauge_client::group::{ConsumerMember, GroupMember};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolResult, ToolStatus};
use crate::load::connect;
use crate::properties::{ClientRole, PropertySources};
use crate::record_reader::{ReaderSettings, RecordReader};
use crate::release::ToolRelease;
use crate::verifiable_consumer_args::VerifiableConsumerArgs;
use crate::verifiable_events::EventPrinter;
use crate::verifiable_member::{MemberSession, Membership, WAIT};

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let as_of = call.release(&given, ToolRelease::NEWEST, context)?;
    VerifiableConsumerArgs::new(&given)?.run(as_of, context)
}

impl VerifiableConsumerArgs {
    fn run(&self, as_of: ToolRelease, context: &ToolContext<'_>) -> ToolResult {
        let sources = PropertySources {
            file: self.file.as_deref(),
            flags: vec![("bootstrap.servers", self.servers.clone())],
            ..PropertySources::default()
        };
        let client = sources.read(ClientRole::Consumer, context)?.client;
        let events = EventPrinter::new(&self.topic, context);
        events.print("startup_complete", &[]);
        let reader = ReaderSettings {
            wait: WAIT,
            request_timeout: client.request_timeout,
            partition_bytes_max: 1 << 20,
        };
        let reader = RecordReader::new(connect(&client, context)?, &self.topic, reader);
        let (own, group) = (connect(&client, context)?, self.group.clone());
        let member = match self.has_new_protocol {
            false => Membership::Classic(GroupMember::new(own, group)),
            true => {
                let assignor = self.remote_assignor.as_deref();
                Membership::New(ConsumerMember::new(own, group, assignor))
            }
        };
        let ends = connect(&client, context)?;
        let mut session = MemberSession::new(self, &events, member, reader, ends);
        let ended = session.consume(context);
        let is_wanted = context.stop.is_wanted();
        if is_wanted {
            events.print("shutdown_requested", &[]);
        }
        // The first request to stop started this; the second one ends the wait for responses.
        session.leave(&context.stop.second);
        events.print("shutdown_complete", &[]);
        if !is_wanted && as_of >= ToolRelease::of(4, 0, 0) {
            // Kafka's tool treats its own end like a signal.
            events.print("shutdown_requested", &[]);
        }
        match context.stop.is_wanted() {
            // The request to stop may have caused the failure.
            true => Ok(ToolStatus::Good),
            false => ended.map(|()| ToolStatus::Good),
        }
    }
}
