//! The memory of another process, read from outside (process_vm_readv(2)).
#![forbid(unsafe_code)]

use std::io::IoSliceMut;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// What addresses of a process hold.
pub trait Memory {
    /// Fills all of `bytes` from an address on; nothing if that cannot be read.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()>;

    /// A word.
    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Numbers of 32 bits.
    fn numbers(&self, address: u64, count: usize) -> Option<Vec<u32>> {
        let mut bytes = vec![0; count.checked_mul(4)?];
        self.read(address, &mut bytes)?;
        Some(bytes.as_chunks().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())
    }
}

/// The memory of the process of this number.
pub struct OfProcess(pub u32);

impl Memory for OfProcess {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let len = bytes.len();
        let from = RemoteIoVec { base: usize::try_from(address).ok()?, len };
        let pid = Pid::from_raw(self.0.cast_signed());
        let read = process_vm_readv(pid, &mut [IoSliceMut::new(bytes)], &[from]).ok()?;
        (read == len).then_some(())
    }
}
