//! The charts of a page: which of them say something, and which of them fit.

use kgauge_results::metrics::PanelSection;

use super::diagnostics;
use crate::chart::heat::{Heat, data::HeatData};
use crate::chart::{Chart, data::ChartData, text_bytes};
use crate::curves::{self, LatencyScope};
use crate::text::series::{self, SeriesText};
use crate::view::{AnswerBar, AnswerPicture, ReportView, ScenarioView, TrialView};

/// Bytes that charts may take, so that a page can be sent by mail.
const CHART_BYTES_MAX: usize = 700_000;
/// Further bytes for notes and for sentences in place of charts.
const NOTES_BYTES_MAX: usize = 100_000;

/// The parts of a trial, in the order of the page. What comes later is left out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialSection {
    /// Throughput, and the latencies that callers see.
    Main,
    /// Latencies of closed loops and of requests.
    OtherLatencies,
    /// Clients and replicas.
    Traffic,
    /// The brokers' metrics.
    Brokers,
    /// The machine.
    Machine,
}

impl TrialSection {
    const ALL: [TrialSection; 5] = [
        TrialSection::Main,
        TrialSection::OtherLatencies,
        TrialSection::Traffic,
        TrialSection::Brokers,
        TrialSection::Machine,
    ];

    /// Those that are folded.
    pub(super) const FOLDED: [TrialSection; 4] = [
        TrialSection::OtherLatencies,
        TrialSection::Traffic,
        TrialSection::Brokers,
        TrialSection::Machine,
    ];

    /// The title of its fold.
    pub(super) fn title(self) -> &'static str {
        match self {
            TrialSection::Main => "Throughput and latency",
            TrialSection::OtherLatencies => {
                "Times of closed loops and requests: not the latency of records"
            }
            TrialSection::Traffic => {
                "Clients and replicas: batches, buffers, throttling, followers, logs"
            }
            TrialSection::Brokers => {
                "Brokers: requests, threads, queues, flushes, from their own metrics"
            }
            TrialSection::Machine => "Machine: CPU, disks, memory, network, waits",
        }
    }

    /// What its charts are called where they are left out.
    fn charts_name(self) -> &'static str {
        match self {
            TrialSection::Main => "throughput and latency charts",
            TrialSection::OtherLatencies => "charts of closed loops and requests",
            TrialSection::Traffic => "client and replica charts",
            TrialSection::Brokers => "broker charts",
            TrialSection::Machine => "machine charts",
        }
    }

    fn charts(self, trial: &TrialView) -> Vec<Chart> {
        match (self, self.panels()) {
            (_, Some(panels)) => curves::of_section(trial, panels),
            (TrialSection::Main, None) => curves::of_trial(trial),
            (_, None) => curves::latencies_of_trial(trial, LatencyScope::Others),
        }
    }

    fn heat(self, trial: &TrialView) -> Vec<Heat> {
        match self {
            TrialSection::Main => curves::heat_of_trial(trial, LatencyScope::Callers),
            TrialSection::OtherLatencies => curves::heat_of_trial(trial, LatencyScope::Others),
            TrialSection::Traffic | TrialSection::Brokers | TrialSection::Machine => Vec::new(),
        }
    }

    fn panels(self) -> Option<PanelSection> {
        match self {
            TrialSection::Main | TrialSection::OtherLatencies => None,
            TrialSection::Traffic => Some(PanelSection::Traffic),
            TrialSection::Brokers => Some(PanelSection::Brokers),
            TrialSection::Machine => Some(PanelSection::Machine),
        }
    }
}

/// The content of one part of a trial.
#[derive(Default)]
pub(super) struct ChartGroup {
    /// Short sentences above the charts.
    pub(super) notes: Vec<String>,
    /// The sentence in place of a chart.
    pub(super) texts: Vec<SeriesText>,
    pub(super) charts: Vec<Chart>,
    pub(super) heat: Vec<Heat>,
}

impl ChartGroup {
    pub(super) fn is_empty(&self) -> bool {
        self.notes.is_empty()
            && self.texts.is_empty()
            && self.charts.is_empty()
            && self.heat.is_empty()
    }

    /// Takes the charts that say something, and the others as texts. A fault or a change of the cluster is something in
    /// a trial's own charts.
    fn add(&mut self, charts: Vec<Chart>, keep_marked: bool) {
        for chart in charts {
            let is_kept = keep_marked && !chart.marks.is_empty();
            match series::instead_of(&chart).filter(|_| !is_kept) {
                Some(text) => self.texts.push(text),
                None => self.charts.push(chart),
            }
        }
    }

    fn chart_bytes(&self) -> usize {
        self.charts.iter().map(Chart::bytes_about).sum()
    }

    /// About how many bytes its notes and texts take.
    fn note_bytes(&self) -> usize {
        // `<li><strong></strong>: </li>` and a line break.
        const FRAME: usize = 32;
        let texts = self.texts.iter();
        let texts = texts.map(|text| text_bytes(&text.title) + text_bytes(&text.words));
        let notes = self.notes.iter().map(|note| text_bytes(note));
        texts.chain(notes).map(|bytes| FRAME + bytes).sum()
    }
}

/// The charts of one trial.
#[derive(Default)]
pub(super) struct TrialCharts {
    groups: [ChartGroup; TrialSection::ALL.len()],
}

impl TrialCharts {
    /// All charts of a repeat in progress, as far as they fit: what is flat now may not stay so.
    pub(super) fn of_live(trial: &TrialView) -> Self {
        let mut charts = Self::default();
        let mut budget = ByteBudget {
            bytes: CHART_BYTES_MAX,
        };
        for section in TrialSection::ALL {
            let group = charts.group_mut(section);
            group.notes = diagnostics::notes(trial, section.panels());
            group.charts = section.charts(trial);
            if !budget.take(group.chart_bytes()) {
                group.charts.clear();
            }
            let heat = section.heat(trial);
            if budget.take(heat_bytes(&heat)) {
                group.heat = heat;
            }
        }
        charts
    }

    /// One of its parts.
    pub(super) fn group(&self, section: TrialSection) -> &ChartGroup {
        &self.groups[section as usize]
    }

    fn group_mut(&mut self, section: TrialSection) -> &mut ChartGroup {
        &mut self.groups[section as usize]
    }

    /// Whether there is anything to show.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.iter().all(ChartGroup::is_empty)
    }

    /// The numbers of all its charts.
    pub(super) fn numbers(&self) -> Vec<Numbers<'_>> {
        let groups = self.groups.iter();
        let numbers = groups.flat_map(|group| {
            let lines = group.charts.iter().map(Numbers::of_chart);
            let heat = group.heat.iter();
            lines.chain(heat.map(|heat| Numbers::Heat(HeatData::of(heat))))
        });
        numbers.collect()
    }
}

/// One picture's numbers.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Numbers<'a> {
    Lines(ChartData<'a>),
    Heat(HeatData<'a>),
}

impl<'a> Numbers<'a> {
    fn of_chart(chart: &'a Chart) -> Self {
        Numbers::Lines(ChartData::of(chart))
    }
}

/// Bytes that are left for something.
struct ByteBudget {
    bytes: usize,
}

impl ByteBudget {
    /// Takes `bytes`, if as many are left.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

/// The charts of a whole report, made once: the page draws them and the script reads their numbers.
pub(super) struct PageCharts {
    /// Of an A/B test: its pairs, then the values of both sides.
    pub(super) ab: Vec<Chart>,
    /// Of a search for better settings: its effects.
    pub(super) tune: Vec<Chart>,
    /// Per search: its curve, then the search over time.
    pub(super) searches: Vec<Vec<Chart>>,
    /// Per scenario: those that show its answer.
    pub(super) pictures: Vec<Vec<Chart>>,
    /// Per scenario and trial.
    pub(super) trials: Vec<Vec<TrialCharts>>,
    /// What is left out to keep the page small, as a sentence.
    pub(super) omitted: Option<String>,
}

impl PageCharts {
    pub(super) fn of(view: &ReportView) -> Self {
        let scenarios = view.scenarios.iter().enumerate();
        let is_only = view.scenarios.len() == 1;
        let pictures: Vec<Vec<Chart>> = scenarios
            .map(|(index, scenario)| pictures(scenario, index, is_only))
            .collect();
        let ids: Vec<&str> = pictures.iter().flatten().map(|chart| &*chart.id).collect();
        let searches = searches(view);
        let ab = view.ab.map_or_else(Vec::new, curves::of_ab);
        let tune = view.tune.map_or_else(Vec::new, curves::of_tune);
        let first = searches.iter().chain(&pictures).flatten();
        let first = first.chain(&ab).chain(&tune);
        let bytes: usize = first.map(Chart::bytes_about).sum();
        let empty = |scenario: &ScenarioView| -> Vec<TrialCharts> {
            let trials = scenario.trials.iter();
            trials.map(|_| TrialCharts::default()).collect()
        };
        let mut filling = PageFilling {
            view,
            trials: view.scenarios.iter().map(empty).collect(),
            charts: ByteBudget {
                bytes: CHART_BYTES_MAX.saturating_sub(bytes),
            },
            notes: ByteBudget {
                bytes: NOTES_BYTES_MAX,
            },
        };
        let mut omitted: Vec<(&str, u64)> = Vec::new();
        let mut heat = 0;
        for section in TrialSection::ALL {
            omitted.push((section.charts_name(), filling.add_charts(section, &ids)));
            heat += filling.add_heat(section);
        }
        omitted.push(("heat maps", heat));
        Self {
            trials: filling.trials,
            omitted: series::omitted(&omitted),
            pictures,
            ab,
            tune,
            searches,
        }
    }

    /// The chart that the first screen shows: the pairs of an A/B test, or the curve of the only search.
    pub(super) fn search_picture(&self, view: &ReportView) -> Option<&Chart> {
        match (view.scenarios.as_slice(), self.searches.as_slice()) {
            _ if !self.ab.is_empty() => self.ab.first(),
            _ if !self.tune.is_empty() => self.tune.first(),
            ([_], [only]) => only.first(),
            _ => None,
        }
    }

    /// The numbers of all charts.
    pub(super) fn numbers(&self) -> Vec<Numbers<'_>> {
        let pictures = self.searches.iter().chain(&self.pictures).flatten();
        let mut numbers: Vec<Numbers<'_>> = pictures
            .chain(&self.ab)
            .chain(&self.tune)
            .map(Numbers::of_chart)
            .collect();
        for trial in self.trials.iter().flatten() {
            numbers.extend(trial.numbers());
        }
        numbers
    }
}

/// Whether the answer's picture is the first of the scenario's charts: of a sweep of rates it always is.
pub(super) fn opens_with_chart(scenario: &ScenarioView) -> bool {
    let sweep = scenario.sweep.as_ref();
    if sweep.is_some_and(|sweep| sweep.flow_of_rate().is_some()) {
        return true;
    }
    match &scenario.picture {
        AnswerPicture::Curve | AnswerPicture::Outage => true,
        AnswerPicture::Bars { bars, .. } => is_alone(bars),
        AnswerPicture::None => false,
    }
}

/// A bar that has nothing to be compared with.
fn is_alone(bars: &[AnswerBar]) -> bool {
    matches!(bars, [bar] if bar.published.is_none())
}

/// The charts of all searches, in the order of the page.
fn searches(view: &ReportView) -> Vec<Vec<Chart>> {
    let searches = view.capacities.iter().flat_map(|capacity| {
        let searches = capacity.searches.iter();
        searches.map(move |search| curves::of_search(capacity, search))
    });
    searches.collect()
}

/// The charts that show a scenario's answer.
fn pictures(scenario: &ScenarioView, index: usize, is_only: bool) -> Vec<Chart> {
    let throughput = || scenario.trials.iter().find_map(curves::throughput_of_trial);
    let id = format!("sweep-{}", index + 1);
    match (&scenario.picture, &scenario.sweep) {
        (AnswerPicture::Outage, _) => throughput().into_iter().collect(),
        (_, Some(sweep)) => curves::of_sweep(sweep, &id),
        (AnswerPicture::Bars { bars, .. }, None) if is_only && is_alone(bars) => {
            let trials = scenario.trials.iter();
            let latencies =
                trials.flat_map(|trial| curves::latencies_of_trial(trial, LatencyScope::Callers));
            let mut charts = latencies.chain(throughput());
            let first = charts.find(|chart| series::instead_of(chart).is_none());
            first.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn heat_bytes(heat: &[Heat]) -> usize {
    heat.iter().map(Heat::bytes_about).sum()
}

/// A page that is being filled: kind by kind, so that no trial has diagnostics while another lacks its own charts.
struct PageFilling<'a> {
    view: &'a ReportView<'a>,
    trials: Vec<Vec<TrialCharts>>,
    charts: ByteBudget,
    notes: ByteBudget,
}

impl PageFilling<'_> {
    /// Adds the charts of a part of every trial; returns for how many there is no space. Charts that the page has
    /// already are not drawn again.
    fn add_charts(&mut self, section: TrialSection, known: &[&str]) -> u64 {
        let mut omitted = 0;
        let trials = self.view.scenarios.iter().flat_map(|one| &one.trials);
        for (trial, charts) in trials.zip(self.trials.iter_mut().flatten()) {
            let mut new = section.charts(trial);
            new.retain(|chart| !known.contains(&&*chart.id));
            let group = charts.group_mut(section);
            group.add(new, section == TrialSection::Main);
            group.notes = diagnostics::notes(trial, section.panels());
            if !self.notes.take(group.note_bytes()) {
                group.notes.clear();
                group.texts.clear();
            }
            if !self.charts.take(group.chart_bytes()) {
                group.charts.clear();
                omitted += 1;
            }
        }
        if section == TrialSection::Main && omitted > 0 {
            self.charts.bytes = 0;
        }
        omitted
    }

    /// The same of heat maps.
    fn add_heat(&mut self, section: TrialSection) -> u64 {
        let mut omitted = 0;
        let trials = self.view.scenarios.iter().flat_map(|one| &one.trials);
        for (trial, charts) in trials.zip(self.trials.iter_mut().flatten()) {
            let mut heat = section.heat(trial);
            heat.retain(|map| map.counts.len() >= series::POINTS_MIN);
            match self.charts.take(heat_bytes(&heat)) {
                true => charts.group_mut(section).heat = heat,
                false => omitted += 1,
            }
        }
        omitted
    }
}
