//! Spoils every text of a run that somebody outside could have chosen.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{
    FlowShape, FlowSummary, ProgramCores, TrialSummary, Warning, WarningFinding,
};
use kgauge_results::RunRead;
use kgauge_results::run::{EventKind, TargetNote};
use kgauge_scenario::{Arrivals, Shape, Trace};

/// Puts `text` wherever a text can stand.
pub(crate) fn spoil(run: &mut RunRead, summary: &mut Summary, text: &str) {
    let text = text.to_owned();
    run.head.run_id.clone_from(&text);
    run.head.command = vec![text.clone(), text.clone()];
    for scenario in &mut run.scenarios {
        scenario.name.clone_from(&text);
        scenario.text.clone_from(&text);
    }
    for event in &mut run.events {
        event.kind = EventKind::Warning { text: text.clone() };
    }
    if let Some(environment) = &mut run.environment {
        environment.target.bootstrap_servers = vec![text.clone()];
        for broker in &mut environment.target.brokers {
            broker.address.clone_from(&text);
            broker.rack = Some(text.clone());
            broker.settings = [(text.clone(), text.clone())].into();
        }
    }
    if let Some(study) = run.plan.as_mut().and_then(|plan| plan.study.as_mut()) {
        study.question.clone_from(&text);
        study.source.title.clone_from(&text);
        study.source.address = Some(text.clone());
        study.setup.clone_from(&text);
        study.differs = vec![text.clone()];
    }
    for trial in run.plan.iter_mut().flat_map(|plan| &mut plan.trials) {
        trial.name.clone_from(&text);
        trial.topic.config = [(text.clone(), text.clone())].into();
    }
    spoil_summary(summary, &text);
}

fn spoil_summary(summary: &mut Summary, text: &str) {
    let run = &mut summary.run;
    for own in [&mut run.run_id, &mut run.kgauge.version] {
        *own = text.to_owned();
    }
    run.why = Some(text.to_owned());
    for study in &mut run.study.iter_mut() {
        study.name = text.to_owned();
        study.title = text.to_owned();
    }
    summary.target.cluster_id = Some(text.to_owned());
    summary.target.address = Some(text.to_owned());
    summary.target.version = Some(text.to_owned());
    for machine in summary.machine.iter_mut() {
        machine.host_name = Some(text.to_owned());
        machine.cpu_model = Some(text.to_owned());
    }
    for defect in &mut summary.defects {
        defect.file = text.to_owned();
        defect.what = text.to_owned();
    }
    spoil_warnings(&mut summary.warnings, text);
    summary
        .trials
        .iter_mut()
        .for_each(|trial| spoil_trial(trial, text));
}

fn spoil_warnings(warnings: &mut [Warning], text: &str) {
    for warning in warnings {
        warning.finding = WarningFinding::TargetNote {
            note: TargetNote::Sentence {
                text: text.to_owned(),
            },
        };
        warning.flow = Some(text.to_owned());
    }
}

fn spoil_trial(trial: &mut TrialSummary, text: &str) {
    for own in [&mut trial.scenario, &mut trial.question, &mut trial.name] {
        *own = format!("{text}{}", trial.index);
    }
    for factor in &mut trial.factors {
        factor.path = text.to_owned();
        factor.value = text.to_owned();
    }
    trial.cpu.other_programs = vec![ProgramCores {
        name: text.to_owned(),
        cores: 1.0,
    }];
    spoil_warnings(&mut trial.warnings, text);
    for published in &mut trial.published {
        published.figure = format!("{text}.latency{text}");
        published.differs = Some(text.to_owned());
    }
    for goal in &mut trial.goals {
        goal.goal = text.to_owned();
    }
    trial
        .flows
        .iter_mut()
        .for_each(|flow| spoil_flow(flow, text));
}

fn spoil_flow(flow: &mut FlowSummary, text: &str) {
    flow.name = text.to_owned();
    flow.shape = Some(FlowShape {
        shape: Shape::Replay {
            file: text.to_owned(),
            trace: Trace::Rates([].into()),
        },
        arrivals: Arrivals::Even,
    });
    for error in &mut flow.errors {
        error.name = text.to_owned();
    }
    for ack in flow.ack.iter_mut() {
        ack.acks = text.to_owned();
    }
}
