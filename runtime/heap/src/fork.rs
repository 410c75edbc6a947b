//! What happens to the heap around fork(2): no other thread is inside one of its locks, and the
//! child counts anew.

use super::counts;
use super::large::LARGE;
use super::thread::heaps::HEAPS;
use szc_sys::arch::{self, StreamsCall};
use szc_sys::os;

/// Before fork(2): nobody is inside a lock of the heap's.
///
/// libc takes its locks of streams after this, and those of its own malloc behind them, because
/// streams allocate. So the list of streams comes first here, too: who flushes all of them may wait
/// for a stream whose owner waits for the heap.
pub extern "C" fn before() {
    arch::call_for_streams(StreamsCall::Lock);
    HEAPS.lock_all();
    LARGE.lock().acquire();
}

/// After fork(2), in the child: as in the parent, and counts begin anew.
pub extern "C" fn in_child() {
    release_after_fork();
    // libc does so, too, but not where it finds that the parent had a single thread.
    arch::call_for_streams(StreamsCall::Reset);
    os::remember_process();
    counts::begin_anew();
}

/// After fork(2), in the parent.
pub extern "C" fn in_parent() {
    release_after_fork();
    arch::call_for_streams(StreamsCall::Unlock);
}

/// In parent and child the locks are the forking thread's.
fn release_after_fork() {
    LARGE.lock().release();
    HEAPS.unlock_all();
}
