//! A group member's thread with Kafka's new protocol (KIP-848): the coordinator sends the target assignment; the member
//! gives up the other partitions, confirms, and takes the new ones.

use std::time::{Duration, Instant};

use kgauge_client::group::{ConsumerMember, GroupError, HeartbeatAnswer, Partitions};

use super::member::{GroupThread, UNSURE_BEAT};

impl GroupThread {
    /// Joins and sends heartbeats until the end; new assignments are applied at once.
    pub(super) fn stay_in_consumer_group(
        &mut self,
        member: &mut ConsumerMember,
    ) -> Result<(), GroupError> {
        let mut began = Instant::now();
        let mut is_first = true;
        let mut reported_epoch = 0;
        let mut assigned = Partitions::new();
        let mut next_commit = self.next_commit();
        loop {
            let heard = member.heartbeat()?;
            if self.stop.is_raised() {
                return Ok(());
            }
            let mut pause = self.pause(member.interval());
            match heard {
                // Sent again, for example after a lost response.
                HeartbeatAnswer::Assigned(partitions) if !is_first && partitions == assigned => {
                    member.acknowledge(&partitions);
                    pause = Duration::ZERO;
                }
                HeartbeatAnswer::Assigned(partitions) => {
                    if !is_first {
                        began = Instant::now();
                    }
                    self.reconcile(member, &partitions)?;
                    self.note_joined(began, is_first);
                    is_first = false;
                    assigned = partitions;
                    reported_epoch = member.epoch();
                    // The coordinator waits for the confirmation.
                    pause = Duration::ZERO;
                }
                HeartbeatAnswer::Stable => {}
                HeartbeatAnswer::Unsure => pause = pause.min(UNSURE_BEAT),
                HeartbeatAnswer::Lost(code) => {
                    let why = format!("the group continued without it ({code})");
                    self.revoke_all(&why);
                    self.held.clear();
                    assigned.clear();
                    pause = Duration::ZERO;
                }
            }
            // Before the run, the runner waits until all members are in one epoch.
            if member.epoch() != reported_epoch && !is_first && !self.presence.reads() {
                reported_epoch = member.epoch();
                let positions = self.positions(member.offsets(), &assigned)?;
                self.report_assigned(reported_epoch, positions, true);
            }
            if !self.wait_and_commit(member, Instant::now() + pause, &mut next_commit) {
                return Ok(());
            }
        }
    }

    /// Gives up partitions for other members, and reads new ones.
    fn reconcile(
        &mut self,
        member: &mut ConsumerMember,
        partitions: &Partitions,
    ) -> Result<(), GroupError> {
        if self.give_back(partitions) {
            self.commit(member.offsets());
            self.keep(partitions);
        }
        let positions = self.positions(member.offsets(), partitions)?;
        self.report_assigned(member.epoch(), positions, true);
        member.acknowledge(partitions);
        Ok(())
    }

    /// Waits for the next heartbeat and commits meanwhile; false if the member must leave.
    fn wait_and_commit(
        &mut self,
        member: &mut ConsumerMember,
        until: Instant,
        next_commit: &mut Option<Instant>,
    ) -> bool {
        loop {
            let next = next_commit.map_or(until, |commit| commit.min(until));
            if !self.wait_until(next) {
                return false;
            }
            if next_commit.is_some_and(|due| Instant::now() >= due) {
                self.commit(member.offsets());
                *next_commit = self.next_commit();
            }
            if Instant::now() >= until {
                return true;
            }
        }
    }

    fn next_commit(&self) -> Option<Instant> {
        self.setup.commit.map(|interval| Instant::now() + interval)
    }
}
