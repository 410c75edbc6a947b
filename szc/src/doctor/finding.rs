//! What was looked at, what was found, and what to do.
#![forbid(unsafe_code)]

use serde::Serialize;

/// What something is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Area {
    Building,
    Running,
    Measuring,
}

impl Area {
    pub(super) const ALL: [Self; 3] = [Self::Building, Self::Running, Self::Measuring];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Building => "Building",
            Self::Running => "Running what was built",
            Self::Measuring => "Measuring",
        }
    }
}

/// Whether it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    Ok,
    /// szc does its work without it, or less of it.
    Limited,
    /// Nothing is randomized without it.
    Missing,
}

impl Status {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) area: Area,
    pub(super) name: &'static str,
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// What to do, unless it works.
    pub(super) next: Option<String>,
}

impl Finding {
    pub(super) fn ok(area: Area, name: &'static str, found: impl Into<String>) -> Self {
        Self { area, name, status: Status::Ok, found: found.into(), next: None }
    }

    pub(super) fn limited(
        area: Area,
        name: &'static str,
        found: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let next = Some(next.into());
        Self { area, name, status: Status::Limited, found: found.into(), next }
    }

    pub(super) fn missing(
        area: Area,
        name: &'static str,
        found: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { status: Status::Missing, ..Self::limited(area, name, found, next) }
    }

    /// From a message that says what was found, a semicolon, and what to do.
    pub(super) fn from_message(
        area: Area,
        name: &'static str,
        status: Status,
        message: &str,
    ) -> Self {
        let (found, next) = message.split_once("; ").unwrap_or((message, "see above"));
        Self { status, ..Self::limited(area, name, found, next) }
    }
}
