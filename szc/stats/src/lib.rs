//! Statistics as pure functions of numbers: no clocks, no files, no processes.
//!
//! The unit of replication is the layout. Every function that takes
//! `differences` takes one number per block, the log ratio between two programs
//! that were each given fresh layouts in that block, so its length is the n of
//! every formula. Reference values in the tests come from the scripts in `reference`.
//!
//! | question | module |
//! | --- | --- |
//! | is B faster, and may one stop | [`fixed`], [`sequential`], [`decision`], [`family`] |
//! | are they the same within δ | [`decision`] |
//! | how many blocks does it take | [`planning`] |
//! | several programs against one | [`family`] |
//! | which of k levels differ over a suite | [`anova`], [`multiplicity`] |
//! | the same on several machines | [`strata`], and blocks of [`anova`] |
//! | samples without common blocks | [`groups`], [`rank_sum`] |
//! | does measuring disturb what is measured | [`perturbation`], [`correlation`], [`alignment`] |
//! | a quantile; the median beside a mean | [`quantile`], [`median_check`] |
//! | layouts or noise, programs or drift | [`variance_components`], [`factors`] |
//! | does a ratio of sums follow a dose | [`dose`] |
//! | does y follow x, which was changed by a known amount | [`instrumented`] |
//! | which of many classifications explains them | [`attribution`] |
//! | how do the values spread | [`density`], [`shape`] |
//! | can the data be trusted | [`shape`], [`shapiro_wilk`], [`groups`], [`serial`], [`trend`] |
//! | since when | [`change_points`] |
//! | how often, if a few are counted | [`counts`] |
#![forbid(unsafe_code)]

pub mod alignment;
pub mod anova;
pub mod attribution;
pub mod change_points;
pub mod correlation;
pub mod counts;
pub mod data;
pub mod decision;
pub mod density;
pub mod describe;
pub mod dose;
pub mod factors;
pub mod family;
pub mod fixed;
pub mod groups;
pub mod instrumented;
pub mod median_check;
pub mod multiplicity;
pub mod perturbation;
pub mod planning;
pub mod quantile;
pub mod random;
pub mod random_effects;
pub mod rank_sum;
pub mod ranks;
pub mod sequential;
pub mod serial;
pub mod shape;
pub mod shapiro_wilk;
pub mod strata;
pub mod tail;
pub mod trend;
pub mod variance_components;

#[cfg(any(test, feature = "calibration"))]
pub mod calibration;
