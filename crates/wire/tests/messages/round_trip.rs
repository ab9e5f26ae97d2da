//! What is written comes back as it was.

use crate::sampler::Variant;
use crate::samples::cases;

/// Random fillings of each message and version.
const ROUNDS: u64 = 20;

#[test]
fn every_message_comes_back_from_its_bytes_in_every_version() {
    for (index, case) in cases().iter().enumerate() {
        for version in case.versions.clone() {
            for round in 0..ROUNDS {
                let seed = (index as u64) << 32 | (version as u64) << 16 | round;
                (case.round_trip)(Variant::Random(seed), version);
            }
        }
    }
}

#[test]
fn every_api_has_its_request_and_its_response() {
    macro_rules! names {
        ($($api:ident, $request:ident, $response:ident;)*) => {
            [$((stringify!($api), stringify!($request), stringify!($response)),)*]
        };
    }
    let cases = cases();
    for (api, request, response) in kgauge_wire::for_each_api!(names) {
        assert_eq!(request, format!("{api}Request"));
        assert_eq!(response, format!("{api}Response"));
        for name in [request, response] {
            assert_eq!(
                cases.iter().filter(|case| case.name == name).count(),
                1,
                "{name}"
            );
        }
    }
}
