//! What a question asks for, and what its answer is compared with.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{AnswerKind, Comparand, Scenario, Size, Studies, Study, StudyFile, Trial};

const FLOW: &str = "flows:\n  - {name: w, kind: produce, shape: max, record: {size: 100 B}, settings: {acks: 1}}\n";

fn text(name: &str, rest: &str) -> String {
    format!(
        "kgauge: 1\nname: {name}\nquestion: Why?\ntopic: {{partitions: 6}}\n{FLOW}repeats: 3\n{rest}"
    )
}

fn first(rest: &str) -> Trial {
    let scenario = match Scenario::parse("small.yaml", &text("small", rest)) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems}"),
    };
    scenario.trials(Size::Default).remove(0)
}

fn mistakes(rest: &str) -> Vec<String> {
    let problems = Scenario::parse("small.yaml", &text("small", rest)).unwrap_err();
    problems.iter().map(|one| one.what.clone()).collect()
}

const ACKS: &str = "vary: {w.settings.acks: [1, all]}\n";

#[test]
fn without_keys_the_trials_decide() {
    let trial = first("");
    assert_eq!((trial.asks, trial.against), (None, None));
}

#[test]
fn every_kind_has_its_name() {
    for (name, kind) in [
        ("how-much", AnswerKind::HowMuch),
        ("effect", AnswerKind::Effect),
        ("trend", AnswerKind::Trend),
        ("loss", AnswerKind::Loss),
        ("outage", AnswerKind::Outage),
        ("best", AnswerKind::Best),
    ] {
        assert_eq!(first(&format!("asks: {name}\n")).asks, Some(kind));
    }
    assert_eq!(mistakes("asks: cost\n"), ["invalid value `cost`"]);
}

#[test]
fn a_value_that_is_compared_with_must_be_one_that_is_run() {
    let against = first(&format!("{ACKS}against: w.settings.acks=1\n")).against;
    let factor = Some(("w.settings.acks".to_owned(), "1".to_owned()));
    let expected = Comparand {
        scenario: None,
        factor,
    };
    assert_eq!(against, Some(expected));
    assert_eq!(
        mistakes(&format!("{ACKS}against: w.settings.acks=0\n")),
        ["`w.settings.acks` is never 0"]
    );
    assert_eq!(
        mistakes(&format!("{ACKS}against: topic.partitions=6\n")),
        ["`topic.partitions` is not varied"]
    );
    assert_eq!(
        mistakes(&format!("{ACKS}asks: best\nagainst: w.settings.acks=1\n")),
        ["only `asks: effect` compares with something"]
    );
    assert_eq!(
        mistakes("against: =1\n"),
        ["`=1` names nothing to compare with"]
    );
}

#[test]
fn a_scenario_that_is_compared_with_must_be_in_the_study() {
    let study = "kgauge: 1\ntitle: t\nquestion: q\nsource: {title: s, year: 2014}\nsetup: x\n\
                 scenarios: [one, two]\n";
    let read = |against: &str| {
        let one = text("one", ACKS);
        let two = text("two", &format!("against: {against}\n"));
        let files = [
            ("study.yaml", study),
            ("one.yaml", one.as_str()),
            ("two.yaml", two.as_str()),
        ];
        let files = files.map(|(path, text)| StudyFile { path, text });
        Study::from_files("f", &files).map_err(|problems| {
            let what = problems.iter().map(|one| one.what.clone());
            what.collect::<Vec<_>>()
        })
    };
    assert!(read("one").is_ok());
    assert!(read("one/w.settings.acks=all").is_ok());
    for wrong in ["three", "two"] {
        let expected = format!(
            "`two` is compared with `{wrong}`, which is not another scenario of this study"
        );
        assert_eq!(read(wrong).unwrap_err(), [expected]);
    }
    assert_eq!(
        read("one/w.settings.acks=0").unwrap_err(),
        ["`two` is compared with `one`, which has no trial with w.settings.acks=0"]
    );
}

#[test]
fn plans_of_earlier_versions_have_no_kinds() {
    let json = serde_json::to_string(&first("")).unwrap();
    assert!(
        !json.contains("asks") && !json.contains("against"),
        "{json}"
    );
    let trial = first(&format!("{ACKS}asks: effect\nagainst: w.settings.acks=1\n"));
    let json = serde_json::to_string(&trial).unwrap();
    assert_eq!(serde_json::from_str::<Trial>(&json).unwrap(), trial);
}

/// The kind and the comparand of each scenario of the studies that say so.
#[test]
fn studies_compare_what_they_ask_about() {
    let of = |study: &str, scenario: &str| {
        let study = Studies::get(study).unwrap();
        let found = study.scenarios.iter().find(|one| one.name() == scenario);
        let trial = found.unwrap().trials(Size::Default).remove(0);
        (trial.asks, trial.against.and_then(|one| one.scenario))
    };
    let linkedin = |scenario| of("linkedin-2014", scenario).1;
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(linkedin("async-replication"), named("single-producer"));
    assert_eq!(linkedin("sync-replication"), named("async-replication"));
    assert_eq!(linkedin("producer-and-consumer"), named("single-producer"));
    assert_eq!(
        of("image-queue-2016", "producer-and-consumer").1,
        named("record-size")
    );
    assert_eq!(
        of("linkedin-2014", "stored-data").0,
        Some(AnswerKind::Trend)
    );
    assert_eq!(of("dcos-2018", "baseline").0, Some(AnswerKind::HowMuch));
}
