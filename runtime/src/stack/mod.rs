//! Stack randomization, the runtime's half: pad tables, their refills, and room for the pads.

/// What the log says about the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Functions whose frames get pads.
    pub functions: u64,
    /// Mean of the entries of the pad tables, in bytes.
    pub mean_pad_bytes: u64,
    /// Times that the tables were filled anew.
    pub refills: u64,
    /// Bytes of the main thread's stack in which frames get pads.
    pub room_bytes: u64,
}

/// Starts stack randomization: fills the tables of epoch 0 and makes room on the main thread's stack.
/// False if no function of the program is padded.
pub fn start(_seed: u64) -> bool {
    false
}

/// Fills the tables anew, while threads read them; on the maintenance task.
pub fn refill() {}

/// The counts up to now.
pub fn counts() -> Counts {
    Counts::default()
}
