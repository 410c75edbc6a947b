//! Why a subcommand did not do its work, by classes that have an exit code each.
#![forbid(unsafe_code)]

use super::exit::{EXIT_INTERNAL, EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_USAGE};

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The options make no sense: what was found, what is needed, what to do next.
    Usage(anyhow::Error),
    /// A build failed: which, and the end of what it printed.
    Build(String),
    /// This signal asked to stop.
    Interrupted(i32),
    /// szc could not do its part.
    Internal(anyhow::Error),
}

impl Failure {
    /// The exit code of its class.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => EXIT_USAGE,
            Self::Build(_) => EXIT_PROGRAM,
            Self::Interrupted(signal) => {
                EXIT_SIGNAL_BASE + u8::try_from(*signal).unwrap_or_default()
            }
            Self::Internal(_) => EXIT_INTERNAL,
        }
    }

    /// What to tell the user.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Usage(error) | Self::Internal(error) => format!("{error:#}"),
            Self::Build(text) => text.clone(),
            Self::Interrupted(_) => "stopped while building; nothing was measured".to_owned(),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Internal(error)
    }
}
