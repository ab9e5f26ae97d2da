//! Answers of many parts that the controller decided, but for those that were refused here at once.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;

use crate::controller::{ControllerReply, Refusal};

/// The controller's results for the parts of a request that reached it, in their order.
#[derive(Debug)]
pub(super) enum ControllerDecisions<T> {
    /// A result for each.
    Results(std::vec::IntoIter<Result<T, Refusal>>),
    /// The same for all.
    Failed(Refusal),
}

impl<T> ControllerDecisions<T> {
    /// A result for each part.
    pub(super) fn of(results: Vec<Result<T, Refusal>>) -> Self {
        Self::Results(results.into_iter())
    }

    /// An answer that carries no results: a failure, or one of another kind than was asked for, which
    /// the controller never gives.
    pub(super) fn without_results(answer: ControllerReply) -> Self {
        match answer {
            ControllerReply::Failed(refusal) => Self::Failed(refusal),
            other => {
                debug_assert!(false, "{other:?}");
                Self::Failed(no_result())
            }
        }
    }

    /// The result of the request's next part: its early refusal, or the controller's result.
    pub(super) fn next(&mut self, early: Option<Refusal>) -> Result<T, Refusal> {
        match (early, self) {
            (Some(refusal), _) => Err(refusal),
            (None, Self::Failed(refusal)) => Err(refusal.clone()),
            (None, Self::Results(results)) => results.next().unwrap_or_else(|| Err(no_result())),
        }
    }
}

/// For a result that the controller did not give, which it always does.
fn no_result() -> Refusal {
    Refusal::new(
        ErrorCode::UnknownServerError,
        "The controller gave no result.",
    )
}

/// Error code and message of a part's result, as responses carry them.
pub(super) fn error_fields<T>(result: Result<T, Refusal>) -> (i16, Option<Str<'static>>) {
    match result {
        Ok(_) => (ErrorCode::None.as_i16(), None),
        Err(Refusal { code, message }) => (code.as_i16(), Some(Str::Owned(message))),
    }
}
