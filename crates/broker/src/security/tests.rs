//! Tests of security without sockets.
