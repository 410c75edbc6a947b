//! Where the plugin was loaded from, which the loader knows: the plugin's entry point is told no
//! more than that it is wanted.

use std::ffi::{CStr, c_void};

/// The file that this plugin was loaded from, as the program that loaded it named it.
pub(crate) fn plugin_path() -> Option<String> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let own = plugin_path as *const c_void;
    // SAFETY: any address may be asked about, and `info` is there to be written.
    let found = unsafe { libc::dladdr(own, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr(3) gives a string that lives as long as the file is loaded.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    path.to_str().ok().map(str::to_owned)
}
