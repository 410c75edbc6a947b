//! Addresses of assembly in this folder that leads to the rest of the runtime: the rest hands them
//! out, so what knows them is below both.

unsafe extern "C" {
    fn szc_rt_fatal();
    fn szc_rt_stub();
    fn szc_rt_resolve();
    fn szc_rt_clone_child();
}

/// Address of the handler of signals that end the program.
#[must_use]
pub fn fatal_handler() -> usize {
    szc_rt_fatal as *const () as usize
}

/// Address of the stubs' pattern, whose unwind information holds for all of them.
#[must_use]
pub fn stub_pattern() -> usize {
    szc_rt_stub as *const () as usize
}

/// What the pointer of an image's stubs holds.
#[must_use]
pub fn resolver() -> usize {
    szc_rt_resolve as *const () as usize
}

/// Address of the first code of a child of clone(2).
#[must_use]
pub fn clone_child() -> usize {
    szc_rt_clone_child as *const () as usize
}
