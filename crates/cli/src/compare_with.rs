//! `--with DIR...`: each occurrence lists the run folders of one further side of a comparison.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

const ID: &str = "with";
const HELP: &str = "\
Compare groups of runs: folders before the first `--with` are one side, those after each `--with` \
another. With several runs per side, kgauge measures the run-to-run deviation instead of assuming \
it";

/// The sides after the first. (clap's derive would merge all of them into one list.)
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct With {
    pub(crate) sides: Vec<Vec<PathBuf>>,
}

impl Args for With {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(ID)
                .long(ID)
                .value_name("DIR")
                .num_args(1..)
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(PathBuf))
                .help(HELP),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for With {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = matches.get_occurrences::<PathBuf>(ID);
        let sides = given.into_iter().flatten();
        Ok(Self {
            sides: sides.map(|side| side.cloned().collect()).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
