//! The paths and their texts.

use std::sync::Arc;
use std::time::Instant;

use kgauge_report::{LiveNow, LivePhase, MetricsForm};
use serde_json::json;

use crate::http::{HttpRequest, HttpResponse};
use crate::render::Renderer;
use crate::state::{LiveRunState, ReportDelivery};

/// Everything that is served.
pub(crate) struct Pages {
    run_state: Arc<LiveRunState>,
    renderer: Renderer,
    /// The page's policy, whose digests are worked out once.
    policy: String,
}

/// Reports contain their policy; this is the part that only a header can set.
const REPORT_POLICY: &str = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const OK: &str = "200 OK";

impl Pages {
    pub(crate) fn new(run_state: Arc<LiveRunState>) -> Self {
        Self {
            renderer: Renderer::new(Arc::clone(&run_state)),
            run_state,
            policy: kgauge_report::live_policy(),
        }
    }

    pub(crate) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        match request.path.as_str() {
            "/" | "/index.html" => {
                self.run_state.count_request();
                html(self.renderer.page(Instant::now()).into(), &self.policy)
            }
            "/live.html" => {
                self.run_state.count_request();
                self.part(request)
            }
            "/live.json" => HttpResponse {
                content_type: "application/json",
                ..HttpResponse::text(OK, now(&self.renderer.now()).to_string().into())
            },
            "/metrics" => self.metrics(request),
            path => match self.report(path) {
                Some(page) => HttpResponse {
                    sending: Some(ReportDelivery::begin(&self.run_state)),
                    ..html(page, REPORT_POLICY)
                },
                None => {
                    let words = "no such page: / shows the run, /live.json its state, /metrics \
                                 its metrics";
                    HttpResponse::words("404 Not Found", words)
                }
            },
        }
    }

    /// The part that changes; without a body for a client that has it.
    fn part(&self, request: &HttpRequest) -> HttpResponse {
        let (version, part) = self.renderer.part(Instant::now());
        if self.renderer.now().phase == LivePhase::Over {
            self.run_state.mark_over();
        }
        let etag = format!("\"{version}\"");
        let tags = request.if_none_match.split(',');
        let is_known = tags
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == etag);
        let mut response = html(part, &self.policy);
        if is_known {
            response.status = "304 Not Modified";
            response.body = "".into();
        }
        response.etag = Some(etag);
        response
    }

    fn metrics(&self, request: &HttpRequest) -> HttpResponse {
        let form = if request.accept.contains("application/openmetrics-text") {
            MetricsForm::OpenMetrics
        } else {
            MetricsForm::Prometheus
        };
        let text = kgauge_report::render_metrics(&self.renderer.metrics(Instant::now()), form);
        HttpResponse {
            content_type: form.content_type(),
            ..HttpResponse::text(OK, text.into())
        }
    }

    fn report(&self, path: &str) -> Option<Arc<str>> {
        let number = path.strip_prefix("/reports/")?;
        // Exactly as it is linked: without a sign or leading zeros.
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
        self.run_state
            .report_page(number.parse().ok().filter(|_| is_plain)?)
    }
}

fn html(body: Arc<str>, policy: &str) -> HttpResponse {
    HttpResponse {
        content_type: "text/html; charset=utf-8",
        policy: policy.to_owned(),
        ..HttpResponse::text(OK, body)
    }
}

/// The progress of the run, for programs, with the page's names.
fn now(now: &LiveNow) -> serde_json::Value {
    let flows = now.flows.iter().map(|flow| {
        json!({
            "flow": flow.name,
            "records_per_s": flow.rate,
            "time": flow.time,
            "closed_loop": flow.closed,
            "p50_ns": flow.p50_ns,
            "p99_ns": flow.p99_ns,
            "records": flow.done,
            "failed": flow.failed,
            "skipped": flow.skipped,
        })
    });
    let trial = now.trial.as_ref().filter(|_| now.phase != LivePhase::Over);
    json!({
        "phase": now.phase.as_str(),
        "doing": now.doing,
        "run": now.run,
        "target": now.target,
        "scenario": trial.map(|trial| &trial.scenario),
        "trial": trial.map(|trial| trial.index + 1),
        "trial_name": trial.map(|trial| &trial.name),
        "trials": trial.map(|trial| trial.of),
        "repeat": trial.map(|trial| trial.repeat),
        "repeats": trial.map(|trial| trial.repeats),
        "stage": now.stage.map(|stage| stage.name),
        "stage_done_s": now.stage.map(|stage| stage.done_s),
        "stage_of_s": now.stage.and_then(|stage| stage.of_s),
        "left_s": now.left_s,
        "limit": now.suspicion,
        "flows": flows.collect::<Vec<_>>(),
        "troubles": now.troubles,
        "reports": now.reports.iter().map(|report| &report.path).collect::<Vec<_>>(),
    })
}
