//! The two aliases of an arena's memory: RX is executed, RW is written.
//!
//! What outsiders can do with the RX alias depends on how it is mapped, so there are forms for
//! them.

use crate::image_file;
use szc_abi::copies;
use szc_sys::arch;
use szc_sys::os::{self, Errno, File, Mapping};

/// For whom the RX alias is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nobody in particular: a memory object, mapped shared.
    Plain,
    /// A debugger that writes breakpoints: it can do so in private mappings only, where it gets
    /// pages of its own (ptrace(2)), which no longer show what the RW alias has.
    Debugger,
    /// perf, which looks for names of code in memory without a file only, and takes memory objects
    /// for files.
    Perf,
    /// Those who look for names and FDEs in the files that are mapped: a file, if one can be had.
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
pub(crate) fn is_allowed(form: Form, bytes: usize) -> bool {
    fits_in_file(bytes) || can_do_without_file(form)
}

/// A mapping of a file, not accessible yet.
///
/// # Safety
/// With `MAP_FIXED` in `flags` the caller must own the range at `start`.
unsafe fn map_file(
    start: usize,
    bytes: usize,
    flags: usize,
    file: &File,
) -> Result<*mut u8, Errno> {
    let flags = flags | os::MAP_NORESERVE;
    // SAFETY: the caller's promise.
    unsafe { os::map(start, bytes, os::PROT_NONE, flags, file.descriptor(), 0) }
}

/// Shared memory of no file, with this protection.
fn map_without_file(bytes: usize, protection: usize) -> Result<Mapping, Errno> {
    let flags = os::MAP_SHARED | os::MAP_ANONYMOUS | os::MAP_NORESERVE;
    // SAFETY: without MAP_FIXED nothing existing is touched, and what is new is the owner's.
    unsafe { Ok(Mapping::from_raw(os::map(0, bytes, protection, flags, -1, 0)?, bytes)) }
}

/// Maps `bytes` of fresh memory twice: RX at `start`, replacing what is mapped there, and RW
/// wherever there is room, which is returned. Neither alias is accessible yet.
///
/// # Safety
/// The caller must own the range at `start`.
pub(crate) unsafe fn map(start: usize, bytes: usize, form: Form) -> Result<Mapping, Errno> {
    let fixed = os::MAP_SHARED | os::MAP_FIXED;
    // SAFETY: the caller's promise for what is fixed; nothing else that exists is touched.
    unsafe {
        if form == Form::File
            && let Ok((written, named)) = image_file::create(bytes)
        {
            let rw = Mapping::from_raw(map_file(0, bytes, os::MAP_SHARED, &written)?, bytes);
            map_file(start, bytes, fixed, &named)?;
            os::leave_out_of_dumps(rw.start(), bytes);
            return Ok(rw);
        }
        if takes_no_file(form, bytes) {
            let rw = map_without_file(bytes, os::PROT_NONE)?;
            os::double_mapping(rw.start(), bytes, start)?;
            os::leave_out_of_dumps(rw.start(), bytes);
            return Ok(rw);
        }
        let file = File::memory(copies::FILE_NAME, bytes)?;
        let rw = Mapping::from_raw(map_file(0, bytes, os::MAP_SHARED, &file)?, bytes);
        // A core dump has the bytes from the RX alias.
        os::leave_out_of_dumps(rw.start(), bytes);
        if form == Form::Debugger {
            let rx = map_file(start, bytes, os::MAP_PRIVATE | os::MAP_FIXED, &file)?;
            let_dumps_hold(rx, bytes);
        } else {
            map_file(start, bytes, fixed, &file)?;
        }
        Ok(rw)
    }
}

/// Makes it possible that core dumps hold parts of a private mapping of a memory object, just made:
/// the kernel leaves out those mappings that nobody has ever written to (core(5)). None of it is in
/// dumps yet.
fn let_dumps_hold(rx: *mut u8, bytes: usize) {
    let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE);
    // SAFETY: nobody knows these addresses yet; what was written goes again, so that both aliases
    // show the same.
    unsafe {
        if memory.is_ok_and(|memory| memory.write_at(&[0], rx as usize).is_ok()) {
            os::release_pages(rx, os::PAGE_BYTES);
        }
    }
    os::leave_out_of_dumps(rx, bytes);
}

/// Replaces the aliases by those of fresh memory, of which the first `open_bytes` are accessible
/// and get their content from `fill`. Returns the RW alias; RX stays where it is.
///
/// Executable pages are mapped so from the start: some processes may not make them executable later
/// (`PR_SET_MDWE`, filters of `mprotect`). If the kernel refuses, the old aliases are there as
/// before.
///
/// # Safety
/// As [`map`]; nobody may run in the RX alias meanwhile.
pub(crate) unsafe fn replace(
    start: usize,
    bytes: usize,
    open_bytes: usize,
    form: Form,
    fill: impl FnOnce(*mut u8),
) -> Result<Mapping, Errno> {
    if takes_no_file(form, bytes) {
        // SAFETY: the caller's promise.
        return unsafe { replace_without_file(start, bytes, open_bytes, fill) };
    }
    let file = File::memory(copies::FILE_NAME, bytes)?;
    let kind = if form == Form::Debugger { os::MAP_PRIVATE } else { os::MAP_SHARED };
    let readable = os::PROT_READ | os::PROT_WRITE;
    // SAFETY: memory of our own, then the caller's promise. What may be refused comes last.
    unsafe {
        let rw = Mapping::from_raw(map_file(0, bytes, os::MAP_SHARED, &file)?, bytes);
        os::leave_out_of_dumps(rw.start(), bytes);
        let fixed = os::MAP_FIXED | os::MAP_NORESERVE;
        let descriptor = file.descriptor();
        let flags = os::MAP_SHARED | fixed;
        os::map(rw.start() as usize, open_bytes, readable, flags, descriptor, 0)?;
        fill(rw.start());
        let flags = kind | fixed;
        if open_bytes < bytes {
            let rest = bytes - open_bytes;
            os::map(start + open_bytes, rest, os::PROT_NONE, flags, descriptor, open_bytes)?;
        }
        os::map(start, open_bytes, os::PROT_READ | os::PROT_EXEC, flags, descriptor, 0)?;
        Ok(rw)
    }
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
) -> Result<Mapping, Errno> {
    let readable = os::PROT_READ | os::PROT_WRITE;
    let rw = map_without_file(bytes, os::PROT_NONE)?;
    let first = rw.start();
    // SAFETY: fresh memory; then the caller's promise. What is replaced last is what is in use.
    unsafe {
        os::protect(first, open_bytes, readable)?;
        fill(first);
        os::protect(first, open_bytes, os::PROT_READ | os::PROT_EXEC)?;
        if open_bytes < bytes {
            os::double_mapping(first.add(open_bytes), bytes - open_bytes, start + open_bytes)?;
        }
        os::double_mapping(first, open_bytes, start)?;
        os::protect(first, open_bytes, readable)?;
    }
    os::leave_out_of_dumps(first, bytes);
    Ok(rw)
}

/// Replaces a part of both aliases, which is accessible afterwards, by fresh memory that `fill`
/// writes first. Threads may run in the RX alias meanwhile if it is filled with what they execute.
///
/// # Safety
/// Both ranges must be the caller's, and nobody else may write to them meanwhile.
pub(crate) unsafe fn renew(
    (rx, rw): (usize, usize),
    bytes: usize,
    fill: impl Fn(*mut u8),
) -> Result<(), Errno> {
    if !arch::is_simulated() {
        // No thread of the program sees a descriptor.
        // SAFETY: the caller's promise.
        let renewed = unsafe { renew_without_file((rx, rw), bytes, &fill) };
        if renewed.is_ok() {
            return Ok(());
        }
    }
    let file = File::memory(copies::FILE_NAME, bytes)?;
    let readable = os::PROT_READ | os::PROT_WRITE;
    let executable = os::PROT_READ | os::PROT_EXEC;
    let (shared, fixed) = (os::MAP_SHARED | os::MAP_NORESERVE, os::MAP_FIXED);
    // SAFETY: fresh memory; then the caller's promise.
    unsafe {
        let written = os::map(0, bytes, readable, shared, file.descriptor(), 0)?;
        let written = Mapping::from_raw(written, bytes);
        fill(written.start());
        os::leave_out_of_dumps(written.start(), bytes);
        os::map(rx, bytes, executable, shared | fixed, file.descriptor(), 0)?;
        os::remap_to(written.into_raw().0, bytes, bytes, rw).map(drop)
    }
}

/// As [`renew`]. What is refused changes nothing, but for the last step, which takes no more than
/// the one before.
///
/// # Safety
/// As [`renew`].
unsafe fn renew_without_file(
    (rx, rw): (usize, usize),
    bytes: usize,
    fill: impl Fn(*mut u8),
) -> Result<(), Errno> {
    let readable = os::PROT_READ | os::PROT_WRITE;
    let written = map_without_file(bytes, readable)?;
    let start = written.start();
    fill(start);
    // SAFETY: fresh memory; then the caller's promise. It becomes executable elsewhere.
    unsafe {
        os::protect(start, bytes, os::PROT_READ | os::PROT_EXEC)?;
        os::double_mapping(start, bytes, rx)?;
        os::protect(start, bytes, readable)?;
        os::leave_out_of_dumps(start, bytes);
        os::remap_to(written.into_raw().0, bytes, bytes, rw).map(drop)
    }
}
