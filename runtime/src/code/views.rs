//! The two mappings of an arena's memory: one is executed, the other written.
//!
//! What outsiders can do with the first depends on how it is mapped, so there are forms for them.

use crate::arch;
use crate::os::{self, Errno, File};
use crate::symbols::elf;

/// For whom the executable view is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nobody in particular: a memory object, mapped shared.
    Plain,
    /// A debugger that writes breakpoints: it can do so in private mappings only, where it gets
    /// pages of its own (ptrace(2)), which no longer show what the other view has.
    Debugger,
    /// perf, which looks for names of code in memory without a file only, and takes memory objects
    /// for files.
    Perf,
    /// Those who look for names and rules in the files that are mapped: a file, if one can be had.
    File,
}

/// Whether memory is mapped that is no file, not even a memory object: for perf, or because files
/// may not be so large.
fn takes_no_file(form: Form, bytes: usize) -> bool {
    form == Form::Perf && !arch::is_simulated() || !fits_in_file(bytes) && can_do_without_file(form)
}

fn fits_in_file(bytes: usize) -> bool {
    bytes <= os::limit(os::LIMIT_FILE_BYTES)
}

/// Mappings without a file cannot be had both private and the same as another, and valgrind does
/// not know how mappings are doubled.
fn can_do_without_file(form: Form) -> bool {
    form != Form::Debugger && !arch::is_simulated()
}

/// Whether the limit on the size of files (`RLIMIT_FSIZE`) leaves a way to map so many bytes.
pub fn is_allowed(form: Form, bytes: usize) -> bool {
    fits_in_file(bytes) || can_do_without_file(form)
}

/// Maps `bytes` of fresh memory twice, at `start` for execution, replacing what is mapped there,
/// and wherever there is room for writing. Neither view is accessible yet.
///
/// # Safety
/// The caller must own the range at `start`.
pub unsafe fn map(start: usize, bytes: usize, form: Form) -> Result<(*mut u8, *mut u8), Errno> {
    let shared = os::MAP_SHARED | os::MAP_NORESERVE;
    if form == Form::File
        && let Ok((written, named)) = elf::create(bytes)
    {
        // SAFETY: without MAP_FIXED nothing existing is touched.
        let writable =
            unsafe { os::map(0, bytes, os::PROT_NONE, shared, written.descriptor(), 0)? };
        let flags = shared | os::MAP_FIXED;
        // SAFETY: the caller's promise.
        let executable =
            unsafe { os::map(start, bytes, os::PROT_NONE, flags, named.descriptor(), 0)? };
        os::leave_out_of_dumps(writable, bytes);
        return Ok((executable, writable));
    }
    if takes_no_file(form, bytes) {
        let flags = shared | os::MAP_ANONYMOUS;
        // SAFETY: without MAP_FIXED nothing existing is touched.
        let writable = unsafe { os::map(0, bytes, os::PROT_NONE, flags, -1, 0)? };
        // SAFETY: the caller's promise.
        let executable = unsafe { os::double_mapping(writable, bytes, start)? };
        os::leave_out_of_dumps(writable, bytes);
        return Ok((executable, writable));
    }
    let file = File::memory(c"szc code", bytes)?;
    // SAFETY: without MAP_FIXED nothing existing is touched.
    let writable = unsafe { os::map(0, bytes, os::PROT_NONE, shared, file.descriptor(), 0)? };
    // A core dump has the bytes from the other view.
    os::leave_out_of_dumps(writable, bytes);
    let kind = if form == Form::Debugger { os::MAP_PRIVATE } else { os::MAP_SHARED };
    let flags = kind | os::MAP_FIXED | os::MAP_NORESERVE;
    // SAFETY: the caller's promise.
    let executable = unsafe { os::map(start, bytes, os::PROT_NONE, flags, file.descriptor(), 0)? };
    if form == Form::Debugger {
        let_dumps_hold(executable, bytes);
    }
    Ok((executable, writable))
}

/// Makes it possible that core dumps hold parts of a private mapping of a memory object, just made:
/// the kernel leaves out those mappings that nobody has ever written to (core(5)). None of it is in
/// dumps yet.
fn let_dumps_hold(executable: *mut u8, bytes: usize) {
    let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE);
    // SAFETY: nobody knows these addresses yet; what was written goes again, so that both views
    // show the same.
    unsafe {
        if memory.is_ok_and(|memory| memory.write_at(&[0], executable as usize).is_ok()) {
            os::release_pages(executable, os::PAGE_BYTES);
        }
    }
    os::leave_out_of_dumps(executable, bytes);
}

/// Replaces the views by those of fresh memory, of which the first `open_bytes` are accessible and
/// get their content from `fill`. Returns the view for writing; the other one stays where it is.
///
/// Executable pages are mapped so from the start: some processes may not make them executable later
/// (`PR_SET_MDWE`, filters of `mprotect`). If the kernel refuses, the old views are there as
/// before.
///
/// # Safety
/// As [`map`]; nobody may run in the executable view meanwhile.
pub unsafe fn replace(
    start: usize,
    bytes: usize,
    open_bytes: usize,
    form: Form,
    fill: impl FnOnce(*mut u8),
) -> Result<*mut u8, Errno> {
    if takes_no_file(form, bytes) {
        // SAFETY: the caller's promise.
        return unsafe { replace_without_file(start, bytes, open_bytes, fill) };
    }
    let file = File::memory(c"szc code", bytes)?;
    let shared = os::MAP_SHARED | os::MAP_NORESERVE;
    let kind = if form == Form::Debugger { os::MAP_PRIVATE } else { os::MAP_SHARED };
    let at = |address: usize, bytes: usize, protection: usize, flags: usize, offset: usize| {
        // SAFETY: the caller's promise, or memory of our own.
        unsafe { os::map(address, bytes, protection, flags, file.descriptor(), offset) }
    };
    let writable = at(0, bytes, os::PROT_NONE, shared, 0)?;
    os::leave_out_of_dumps(writable, bytes);
    let readable = os::PROT_READ | os::PROT_WRITE;
    let replaced =
        at(writable as usize, open_bytes, readable, shared | os::MAP_FIXED, 0).and_then(|_| {
            fill(writable);
            let flags = kind | os::MAP_FIXED | os::MAP_NORESERVE;
            // What may be refused comes last.
            if open_bytes < bytes {
                at(start + open_bytes, bytes - open_bytes, os::PROT_NONE, flags, open_bytes)?;
            }
            at(start, open_bytes, os::PROT_READ | os::PROT_EXEC, flags, 0)
        });
    if let Err(error) = replaced {
        // SAFETY: mapped a moment ago.
        unsafe { os::unmap(writable, bytes) };
        return Err(error);
    }
    Ok(writable)
}

/// As [`replace`], without a file. Pages become executable while they lie elsewhere, so that a
/// refusal changes nothing.
///
/// # Safety
/// As [`replace`].
unsafe fn replace_without_file(
    start: usize,
    bytes: usize,
    open_bytes: usize,
    fill: impl FnOnce(*mut u8),
) -> Result<*mut u8, Errno> {
    let flags = os::MAP_SHARED | os::MAP_ANONYMOUS | os::MAP_NORESERVE;
    let readable = os::PROT_READ | os::PROT_WRITE;
    // SAFETY: fresh memory; then the caller's promise. What is replaced last is what is in use.
    unsafe {
        let writable = os::map(0, bytes, os::PROT_NONE, flags, -1, 0)?;
        let replaced = os::protect(writable, open_bytes, readable).and_then(|()| {
            fill(writable);
            os::protect(writable, open_bytes, os::PROT_READ | os::PROT_EXEC)?;
            if open_bytes < bytes {
                let rest = bytes - open_bytes;
                os::double_mapping(writable.add(open_bytes), rest, start + open_bytes)?;
            }
            os::double_mapping(writable, open_bytes, start)
        });
        if let Err(error) = replaced {
            os::unmap(writable, bytes);
            return Err(error);
        }
        os::protect(writable, open_bytes, readable)?;
        os::leave_out_of_dumps(writable, bytes);
        Ok(writable)
    }
}
