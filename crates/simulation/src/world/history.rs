//! The text of a history, for people who search for a defect.

use kgauge_broker::controller::{ControllerRequest, IsrChange, ToController};
use kgauge_broker::ids::NodeId;
use kgauge_broker::image::PartitionImage;
use kgauge_broker::node::replication::message::{
    FollowerPosition, News, PartitionNews, PeerMessage,
};

/// A message for the controller in a few words.
pub(super) fn describe_request(message: &ToController) -> String {
    match message {
        ToController::Request {
            request: ControllerRequest::AlterIsr(changes),
            ..
        } => {
            let shown = |change: &IsrChange| {
                let isr: Vec<i32> = change.isr.iter().map(|(node, _)| node.0).collect();
                (change.partition.index, change.leader_epoch, isr)
            };
            format!("ISR {:?}", changes.iter().map(shown).collect::<Vec<_>>())
        }
        ToController::Request { .. } => "request".to_owned(),
        ToController::Applied(version) => format!("applied {version}"),
        ToController::Register {
            stopped_in_order, ..
        } => format!("register, in order {stopped_in_order}"),
        ToController::Heartbeat => "heartbeat".to_owned(),
        ToController::Stopped => "stopped".to_owned(),
    }
}

/// Partitions in a few words for the history.
pub(super) fn partitions(partitions: &[PartitionImage]) -> String {
    let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
    let shown = |partition: &PartitionImage| {
        format!(
            "[leader {} epoch {} isr {:?} elr {:?}]",
            partition.leader_number(),
            partition.leader_epoch,
            numbers(&partition.isr),
            numbers(&partition.elr)
        )
    };
    partitions.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// A message between nodes in a few words for the history.
pub(super) fn describe_peer_message(message: &PeerMessage) -> String {
    match message {
        PeerMessage::Fetch(fetch) => {
            let position = |at: &FollowerPosition| {
                format!(
                    "[{} epoch {} at {} of {:?}]",
                    at.partition.index, at.leader_epoch, at.offset, at.last_epoch
                )
            };
            let positions: Vec<String> = fetch.positions.iter().map(position).collect();
            format!(
                "fetch {}/{} {}",
                fetch.session,
                fetch.number,
                positions.join(" ")
            )
        }
        PeerMessage::Fetched(fetched) => {
            let news = |about: &PartitionNews| {
                let words = match &about.news {
                    News::Records {
                        batches,
                        high_watermark,
                        ..
                    } => {
                        let bytes = batches.as_ref().map_or(0, |batches| batches.len());
                        format!("{bytes} bytes, high watermark {high_watermark}")
                    }
                    other => format!("{other:?}"),
                };
                format!(
                    "[{} epoch {} {words}]",
                    about.partition.index, about.leader_epoch
                )
            };
            let news: Vec<String> = fetched.partitions.iter().map(news).collect();
            format!(
                "fetched {}/{} {}",
                fetched.session,
                fetched.number,
                news.join(" ")
            )
        }
    }
}
