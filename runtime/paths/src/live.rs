//! Where who runs the program finds the profiles of its threads while they are written.
//!
//! A *directory* lies in the initialized data of each program, where it is found by its first
//! bytes, whether or not the program has symbols. It leads to the addresses of the profiles, in the
//! order of the threads, of which the first 0 is the end. In front of the words of a profile lies a
//! count of writes, twice as many as there were, that is odd during one: what was read is whole if
//! it is the same even number before and after.

/// What a directory begins with.
pub const DIRECTORY_MAGIC: [u64; 2] = [0x7374_6170_6f63_7a73, 0x1_5ab9_a7b5_11fe];

/// Word of a directory: address of the addresses of profiles, 0 if there are none.
pub const PROFILES_WORD: usize = 2;

/// Words of a directory, with its first bytes.
pub const DIRECTORY_WORDS: usize = 3;

/// Threads that can have a profile.
pub const MAX_THREADS: usize = 4096;

/// Where the words of a profile are, in bytes from its address, at which the count of writes is.
pub const WORDS_AT: usize = 64;
