//! Functions of libc that are about the process as a whole, and are carried out without the
//! maintenance task.
//!
//! The driver gives them their real names (`szc_abi::SHARED_FRAMES_EXPORT_PREFIX`). Sources:
//! setresuid(2) and relatives, setgroups(2), initgroups(3), unshare(2), setns(2).

use super::fail;
use crate::maintenance::without_task;
use crate::next;
use crate::os::Errno;
use core::ffi::{c_int, c_void};

/// Function not implemented.
const ENOSYS: Errno = Errno(38);

/// Defines such functions, by their arguments.
macro_rules! without_task {
    ($($next:ident as $export:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As the function it stands for.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $export($($argument: $type),*) -> c_int {
            let Some(next) = next::$next.get() else { return fail(ENOSYS) };
            // SAFETY: the caller's promise.
            without_task(|| unsafe { next($($argument),*) })
        }
    )*};
}

without_task! {
    SETUID as szc_rt_shared_frames_setuid(user: u32);
    SETGID as szc_rt_shared_frames_setgid(group: u32);
    SETEUID as szc_rt_shared_frames_seteuid(effective: u32);
    SETEGID as szc_rt_shared_frames_setegid(effective: u32);
    SETREUID as szc_rt_shared_frames_setreuid(real: u32, effective: u32);
    SETREGID as szc_rt_shared_frames_setregid(real: u32, effective: u32);
    SETRESUID as szc_rt_shared_frames_setresuid(real: u32, effective: u32, saved: u32);
    SETRESGID as szc_rt_shared_frames_setresgid(real: u32, effective: u32, saved: u32);
    SETGROUPS as szc_rt_shared_frames_setgroups(count: usize, groups: *const u32);
    INITGROUPS as szc_rt_shared_frames_initgroups(user: *const c_void, group: u32);
    UNSHARE as szc_rt_shared_frames_unshare(flags: c_int);
    SETNS as szc_rt_shared_frames_setns(namespace: c_int, kind: c_int);
}
