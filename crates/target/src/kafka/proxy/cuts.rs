//! Which connections a cut stops, and in which direction.

use kgauge_faults::{CutDirection, CutEnd};

/// The two ends of a connection through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxiedRoute {
    /// From a client to a broker.
    Client {
        /// The broker.
        broker: u16,
    },
    /// From a broker to another one; `None` if the sender is none of the cluster's processes.
    Peer {
        /// Who connected.
        from: Option<u16>,
        /// Who listens.
        to: u16,
    },
    /// From a node to a controller.
    Controller {
        /// Who connected.
        from: Option<u16>,
        /// The node of the controller.
        to: u16,
    },
    /// From a broker to ZooKeeper.
    ZooKeeper {
        /// The broker.
        from: u16,
    },
}

/// Where the bytes of a connection go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteDirection {
    /// To the end that listens.
    Forward,
    /// To the end that connected.
    Backward,
}

/// A node that is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CutRule {
    pub(crate) node: u16,
    pub(crate) direction: CutDirection,
    pub(crate) end: CutEnd,
}

impl CutRule {
    /// Whether bytes of a connection stop in a direction.
    pub(crate) fn stops(&self, route: ProxiedRoute, towards: ByteDirection) -> bool {
        let Some(has_connected) = self.concerns(route) else {
            return false;
        };
        let sends = has_connected == (towards == ByteDirection::Forward);
        match self.direction {
            CutDirection::With => true,
            CutDirection::To => sends,
            CutDirection::From => !sends,
        }
    }

    /// Whether the node is the end that connected; `None` if the cut leaves the connection alone.
    fn concerns(&self, route: ProxiedRoute) -> Option<bool> {
        let is_all = self.end == CutEnd::Others;
        match route {
            ProxiedRoute::Client { broker } => {
                (self.end == CutEnd::Clients && broker == self.node).then_some(false)
            }
            ProxiedRoute::Peer { from, to } => {
                let has_connected = self.is_one_of(from, to)?;
                let other = if has_connected { Some(to) } else { from };
                let is_meant = match self.end {
                    CutEnd::Node(node) => other == Some(node),
                    CutEnd::Nodes | CutEnd::Others => other.is_some(),
                    CutEnd::Controller | CutEnd::Clients => false,
                };
                is_meant.then_some(has_connected)
            }
            ProxiedRoute::Controller { from, to } => {
                // Other nodes reach the controller on this one, unless everything is cut.
                let has_connected = self.is_one_of(from, to)?;
                let is_meant = is_all || has_connected && self.end == CutEnd::Controller;
                is_meant.then_some(has_connected)
            }
            ProxiedRoute::ZooKeeper { from } => {
                let is_meant = is_all || self.end == CutEnd::Controller;
                (is_meant && from == self.node).then_some(true)
            }
        }
    }

    /// Whether the node is the end that connected, or (`false`) the one that listens. A node is not cut off from
    /// itself.
    fn is_one_of(&self, from: Option<u16>, to: u16) -> Option<bool> {
        let has_connected = from == Some(self.node);
        (has_connected != (to == self.node)).then_some(has_connected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORWARD: ByteDirection = ByteDirection::Forward;
    const BACKWARD: ByteDirection = ByteDirection::Backward;

    fn cut(direction: CutDirection, end: CutEnd) -> CutRule {
        CutRule {
            node: 1,
            direction,
            end,
        }
    }

    fn peer(from: u16, to: u16) -> ProxiedRoute {
        let from = Some(from);
        ProxiedRoute::Peer { from, to }
    }

    fn controller(from: u16, to: u16) -> ProxiedRoute {
        let from = Some(from);
        ProxiedRoute::Controller { from, to }
    }

    #[test]
    fn a_direction_stops_the_requests_of_one_side_and_the_responses_of_the_other() {
        let to = cut(CutDirection::To, CutEnd::Node(2));
        assert!(to.stops(peer(1, 2), FORWARD) && !to.stops(peer(1, 2), BACKWARD));
        assert!(to.stops(peer(2, 1), BACKWARD) && !to.stops(peer(2, 1), FORWARD));
        let from = cut(CutDirection::From, CutEnd::Node(2));
        assert!(!from.stops(peer(1, 2), FORWARD) && from.stops(peer(1, 2), BACKWARD));
        for route in [peer(1, 3), peer(2, 3), controller(1, 2)] {
            assert!(!to.stops(route, FORWARD) && !to.stops(route, BACKWARD));
        }
    }

    #[test]
    fn an_end_is_what_it_is_called() {
        let client = ProxiedRoute::Client { broker: 1 };
        let other_client = ProxiedRoute::Client { broker: 2 };
        let zookeeper = ProxiedRoute::ZooKeeper { from: 1 };
        let routes = [
            client,
            other_client,
            zookeeper,
            peer(3, 1),
            peer(1, 1),
            controller(1, 2),
            controller(2, 1),
            controller(1, 1),
        ];
        let stopped = |end| {
            let cut = cut(CutDirection::With, end);
            let routes = routes
                .into_iter()
                .filter(|route| cut.stops(*route, FORWARD));
            routes.collect::<Vec<_>>()
        };
        assert_eq!(stopped(CutEnd::Clients), [client]);
        assert_eq!(stopped(CutEnd::Nodes), [peer(3, 1)]);
        assert_eq!(stopped(CutEnd::Controller), [zookeeper, controller(1, 2)]);
        let all = [zookeeper, peer(3, 1), controller(1, 2), controller(2, 1)];
        assert_eq!(stopped(CutEnd::Others), all);
    }

    #[test]
    fn processes_outside_of_the_cluster_are_not_cut_off() {
        let nodes = cut(CutDirection::With, CutEnd::Nodes);
        let from = None;
        assert!(!nodes.stops(ProxiedRoute::Peer { from, to: 1 }, FORWARD));
    }
}
