//! What the log tells about code.
#![forbid(unsafe_code)]

use crate::copy::Copied;

/// What has happened to the code of an image, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Epochs begun after the first.
    pub epochs: u64,
    /// Functions copied.
    pub relocations: u64,
    /// Bytes of copies in the current epoch.
    pub live_bytes: u64,
    /// Bytes of copies of earlier epochs that are kept.
    pub retained_bytes: u64,
    /// No place was free for the last epoch that was due.
    pub exhausted: bool,
    /// Epochs that were due when no place was free.
    pub skipped: u64,
    /// Layouts that were freed.
    pub freed: u64,
    /// Old layouts that are kept.
    pub kept: u64,
}

impl Counts {
    /// Nothing.
    pub const NONE: Self = Self {
        epochs: 0,
        relocations: 0,
        live_bytes: 0,
        retained_bytes: 0,
        exhausted: false,
        skipped: 0,
        freed: 0,
        kept: 0,
    };

    /// Counts what was copied into the current layout.
    pub(crate) fn add(&mut self, copied: Copied) {
        self.relocations += u64::from(copied.functions);
        self.live_bytes += copied.bytes;
    }

    /// The counts of two images together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            epochs: self.epochs.max(other.epochs),
            relocations: self.relocations + other.relocations,
            live_bytes: self.live_bytes + other.live_bytes,
            retained_bytes: self.retained_bytes + other.retained_bytes,
            exhausted: self.exhausted || other.exhausted,
            skipped: self.skipped + other.skipped,
            freed: self.freed + other.freed,
            kept: self.kept + other.kept,
        }
    }
}
