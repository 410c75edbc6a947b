//! What a program says to the runtime by itself, through szc.h or the crate szc-rt, which refer to
//! these names weakly: in a program without a runtime they are not there.

use crate::lifecycle::asked;
use crate::state;

/// Begins a layout for every call that begins after this returns. Returns its number.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn szc_rt_relayout() -> u64 {
    asked::relayout()
}

/// Number of the current layout; 0 if nothing moves.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn szc_rt_layout() -> u64 {
    state::layout()
}

/// Layouts begin only when they are asked for, until as many calls of the next function.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn szc_rt_pause() {
    asked::pause();
}

/// Layouts begin at every interval again.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn szc_rt_resume() {
    asked::resume();
}
