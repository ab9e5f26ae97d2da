//! One line per check.

use anyhow::Result;

use crate::say::{print_line, remark};

/// The checks of one call.
pub(super) struct CheckList<'a> {
    only: Option<&'a str>,
    is_good: bool,
}

impl<'a> CheckList<'a> {
    /// Only checks with `only` in their names run.
    pub(super) fn new(only: Option<&'a str>) -> Self {
        Self {
            only,
            is_good: true,
        }
    }

    /// Runs a check and prints its result: what it found, or why it failed.
    pub(super) fn check(&mut self, name: &str, check: impl FnOnce() -> Result<String>) {
        if self.only.is_some_and(|part| !name.contains(part)) {
            return;
        }
        remark(&format!("{name} ..."));
        match check() {
            Ok(facts) => print_line(&format!("{name}: ok, {facts}")),
            Err(error) => {
                self.is_good = false;
                print_line(&format!("{name}: FAILED: {error:#}"));
            }
        }
    }

    /// Whether no check failed.
    pub(super) fn is_good(&self) -> bool {
        self.is_good
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failed_check_is_remembered_and_others_are_left_out() {
        let mut list = CheckList::new(Some("run"));
        list.check("pending", || bail!("it is left out"));
        assert!(list.is_good());
        list.check("a run", || bail!("x"));
        list.check("another run", || Ok("y".to_owned()));
        assert!(!list.is_good());
        let mut all = CheckList::new(None);
        all.check("pending", || bail!("it is not left out"));
        assert!(!all.is_good());
    }
}
