//! Run folder -> what people read: a table in the terminal, and `report.html`.
//!
//! **Goals.** A report answers first and shows its proof after; no figure stands without its spread and
//! its marks; the same folder gives the same bytes; the page needs no network and no script; no text from
//! outside can become markup or a terminal command.
//!
//! **Non-goals.** Measuring, statistics and verdicts: they are made in `results`. Printing: `cli` does it.
//! Nothing here reads a clock, the environment or the network.
//!
//! **Start** at [`view`]: what is shown, in which order. `terminal` and `html` write it, `curves` decides
//! which charts there are, `chart` draws one.

#![allow(dead_code)]
mod chart;
mod clean;
mod curves;
mod format;
mod html;
mod markup;
mod terminal;
mod view;
