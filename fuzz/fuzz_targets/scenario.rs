//! Scenario files, studies and saved plans: texts that people share.

#![no_main]

use kgauge_scenario::{Plan, Scenario, Size, Study, StudyFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Scenario::parse("fuzzed.yaml", text) {
        Ok(mut scenario) => {
            for size in [Size::Quick, Size::Default, Size::Full] {
                let _ = scenario.trials(size);
                let _ = scenario.brokers_needed(size);
            }
            let _ = scenario.set("stages.hold", text);
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
    let files = [
        StudyFile {
            path: "study.yaml",
            text,
        },
        StudyFile {
            path: "a.yaml",
            text,
        },
    ];
    let _ = Study::from_files("fuzzed", &files);
    let _ = Plan::from_json(text);
});
