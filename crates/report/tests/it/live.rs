//! The page of a run that goes on.

use kgauge_report::{
    LiveFlowView, LiveNow, LivePage, LivePhase, LiveReport, LiveStage, LiveTrial, live_policy,
    render_html, render_live_page, render_live_part, render_served_report,
};

use crate::hostile::spoil;
use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::tags::assert_balanced;

const HOSTILE: &str = "x\"'></script><script>alert(1)</script><!--\u{202e}<img src=x onerror=y>";

/// A run in the hold of its first trial, whose texts are all this.
fn now(text: &str) -> LiveNow {
    let text = text.to_owned();
    LiveNow {
        title: text.clone(),
        run: text.clone(),
        target: text.clone(),
        target_of: Some((1, 2)),
        phase: LivePhase::Load,
        doing: text.clone(),
        trial: Some(LiveTrial {
            index: 0,
            scenario: text.clone(),
            name: text.clone(),
            of: 6,
            repeat: 2,
            repeats: 3,
            step: (4, 18),
        }),
        stage: Some(LiveStage {
            name: "hold",
            done_s: 3.2,
            of_s: Some(10.0),
        }),
        left_s: Some(250),
        suspicion: Some("disk busy".to_owned()),
        flows: vec![LiveFlowView {
            name: text.clone(),
            rate: 1_234.0,
            time: "response",
            p50_ns: Some(1_500_000),
            p99_ns: Some(20_000_000),
            closed: true,
            done: 99,
            failed: 3,
            skipped: 0,
        }],
        troubles: vec![text.clone()],
        reports: vec![LiveReport {
            name: text.clone(),
            path: "reports/1".to_owned(),
            file: text,
        }],
    }
}

#[test]
fn the_head_says_where_the_run_is() {
    let now = now("calm");
    let live = LivePage {
        now: &now,
        repeat: None,
        ended: None,
        version: 7,
    };
    let part = render_live_part(&live).text();
    for expected in [
        "<div id=\"live\" data-phase=\"load\" data-version=\"7\">",
        "Load running: step 4 of 18",
        "calm (1 of 2)",
        "1 of 6",
        "2 of 3",
        "hold, 7 s left",
        "disk busy",
        "about 4 min 10 s left",
        "response, closed loop",
        "1,234",
        "1.50 ms",
        "20.0 ms",
        "3 failed",
        "value=\"3.2\" max=\"10.0\"",
    ] {
        assert!(part.contains(expected), "{expected}: {part}");
    }
    assert!(!part.contains("skipped"));
    // The page is the part, with style and script around it.
    let page = render_live_page(&live);
    assert!(page.contains(&*part));
    assert_balanced(
        &page
            .replace("<progress", "<div")
            .replace("</progress", "</div"),
    );
    assert!(live_policy().contains("connect-src 'self'"));
}

#[test]
fn at_the_end_it_says_what_there_is() {
    let part_of = |now: &LiveNow| {
        let part = render_live_part(&LivePage {
            now,
            repeat: None,
            ended: None,
            version: 1,
        });
        part.to_owned()
    };
    let mut over = LiveNow {
        title: "calm".to_owned(),
        phase: LivePhase::Over,
        troubles: vec!["the target did not start".to_owned()],
        ..LiveNow::default()
    };
    let nothing = part_of(&over);
    assert!(nothing.contains("kgauge exited before any load started."));
    assert!(nothing.contains("the target did not start") && !nothing.contains("what it left"));
    over.trial = now("calm").trial;
    assert!(part_of(&over).contains("ended without a report"));
    over.reports = now("calm").reports;
    assert!(part_of(&over).contains("serves the final report"));
}

#[test]
fn its_charts_are_those_of_the_report() {
    let keep = tempfile::tempdir().unwrap();
    let (run, summary) = make(
        &keep.path().join("run"),
        None,
        &scenarios::paced_long(),
        &CALM,
        End::Complete,
    );
    let report = render_html(&run, &summary);
    let now = now("calm");
    let live = render_live_part(&LivePage {
        now: &now,
        repeat: Some((&run, &summary)),
        ended: Some((&run, &summary)),
        version: 1,
    });
    let mut shared = 0;
    for figure in live.split("<figure").skip(1) {
        let (figure, _) = figure.split_once("</figure>").unwrap();
        let (_, id) = figure.split_once(" id=\"").unwrap();
        let (id, _) = id.split_once('"').unwrap();
        // The report has a sentence instead of a flat line.
        if report.contains(&format!("<figure class=\"chart\" id=\"{id}\"")) {
            shared += 1;
            assert!(report.contains(figure), "{figure:.300}");
        }
    }
    assert!(shared >= 3, "{shared}");
    assert!(live.contains("id=\"chart-data\""));
    assert!(live.contains("id=\"complete\"") && live.contains("class=\"ended\""));
}

#[test]
fn no_text_from_outside_becomes_markup() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let study = Some(scenarios::study());
    let (mut run, mut summary) = make(&dir, study, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, HOSTILE);
    let now = now(HOSTILE);
    let live = LivePage {
        now: &now,
        repeat: Some((&run, &summary)),
        ended: Some((&run, &summary)),
        version: 1,
    };
    let page = render_live_page(&live);
    // Its own two: the data block and the script.
    assert_eq!(page.matches("<script").count(), 2);
    for forbidden in ["<img", "<!--", "\u{202e}", "onerror=y>"] {
        assert!(!page.contains(forbidden), "{forbidden} came through");
    }
    assert!(
        page.matches("alert(1)").count() > 10,
        "the names are shown all the same"
    );
    let served = render_served_report("<html><body><p>a</p></body></html>", HOSTILE);
    assert!(served.ends_with("<p>a</p></body></html>") && !served.contains("<script"));
}
