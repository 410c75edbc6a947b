//! Functions by which threads wait for each other and wake each other up.

use core::ffi::c_int;

use crate::delay::{credit_here, pay_here};
use crate::next::Next;

/// An argument: a pointer, or a number that is passed as one is.
type Word = usize;

/// Functions behind which the thread was woken by another one if they return what is said.
macro_rules! waits {
    ($($name:ident $text:literal ($($argument:ident),*) if $woken:expr;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// As that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: Word),*) -> c_int {
            static NEXT: Next = Next::new($text);
            type Function = unsafe extern "C-unwind" fn($(waits!(@ $argument)),*) -> c_int;
            pay_here();
            // SAFETY: libc's function gets what this one got, in the same registers.
            let result = unsafe {
                core::mem::transmute::<usize, Function>(NEXT.address())($($argument),*)
            };
            let woken: fn(c_int) -> bool = $woken;
            if woken(result) {
                credit_here();
            }
            result
        }
    )* };
    (@ $argument:ident) => { Word };
}

/// Functions that may wake another thread.
macro_rules! wakes {
    ($($name:ident $text:literal ($($argument:ident),*);)*) => {
        waits! { $($name $text ($($argument),*) if |_| false;)* }
    };
}

waits! {
    pthread_mutex_lock c"pthread_mutex_lock" (mutex) if is_zero;
    pthread_mutex_timedlock c"pthread_mutex_timedlock" (mutex, until) if is_zero;
    pthread_mutex_clocklock c"pthread_mutex_clocklock" (mutex, clock, until) if is_zero;
    pthread_cond_wait c"pthread_cond_wait" (condition, mutex) if is_zero;
    pthread_cond_timedwait c"pthread_cond_timedwait" (condition, mutex, until) if is_zero;
    pthread_cond_clockwait c"pthread_cond_clockwait" (condition, mutex, clock, until) if is_zero;
    // The last one that comes gets -1.
    pthread_barrier_wait c"pthread_barrier_wait" (barrier) if |_| true;
    pthread_join c"pthread_join" (thread, value) if is_zero;
    pthread_timedjoin_np c"pthread_timedjoin_np" (thread, value, until) if is_zero;
    pthread_clockjoin_np c"pthread_clockjoin_np" (thread, value, clock, until) if is_zero;
    pthread_rwlock_rdlock c"pthread_rwlock_rdlock" (lock) if is_zero;
    pthread_rwlock_wrlock c"pthread_rwlock_wrlock" (lock) if is_zero;
    pthread_rwlock_timedrdlock c"pthread_rwlock_timedrdlock" (lock, until) if is_zero;
    pthread_rwlock_timedwrlock c"pthread_rwlock_timedwrlock" (lock, until) if is_zero;
    pthread_rwlock_clockrdlock c"pthread_rwlock_clockrdlock" (lock, clock, until) if is_zero;
    pthread_rwlock_clockwrlock c"pthread_rwlock_clockwrlock" (lock, clock, until) if is_zero;
    // It does not sleep, and waits for what another thread was delayed by all the same.
    pthread_spin_lock c"pthread_spin_lock" (lock) if is_zero;
    sem_wait c"sem_wait" (semaphore) if is_zero;
    sem_timedwait c"sem_timedwait" (semaphore, until) if is_zero;
    sem_clockwait c"sem_clockwait" (semaphore, clock, until) if is_zero;
    mtx_lock c"mtx_lock" (mutex) if is_zero;
    mtx_timedlock c"mtx_timedlock" (mutex, until) if is_zero;
    cnd_wait c"cnd_wait" (condition, mutex) if is_zero;
    cnd_timedwait c"cnd_timedwait" (condition, mutex, until) if is_zero;
    thrd_join c"thrd_join" (thread, value) if is_zero;
    sigwait c"sigwait" (set, signal) if is_zero;
    sigwaitinfo c"sigwaitinfo" (set, about) if |signal| signal > 0;
    sigtimedwait c"sigtimedwait" (set, about, time) if |signal| signal > 0;
    // It returns when a handler has run.
    sigsuspend c"sigsuspend" (set) if |_| true;
}

wakes! {
    pthread_mutex_unlock c"pthread_mutex_unlock" (mutex);
    pthread_cond_signal c"pthread_cond_signal" (condition);
    pthread_cond_broadcast c"pthread_cond_broadcast" (condition);
    pthread_rwlock_unlock c"pthread_rwlock_unlock" (lock);
    pthread_spin_unlock c"pthread_spin_unlock" (lock);
    sem_post c"sem_post" (semaphore);
    mtx_unlock c"mtx_unlock" (mutex);
    cnd_signal c"cnd_signal" (condition);
    cnd_broadcast c"cnd_broadcast" (condition);
    pthread_kill c"pthread_kill" (thread, signal);
    pthread_sigqueue c"pthread_sigqueue" (thread, signal, value);
    kill c"kill" (process, signal);
    tgkill c"tgkill" (process, thread, signal);
    sigqueue c"sigqueue" (process, signal, value);
}

fn is_zero(result: c_int) -> bool {
    result == 0
}
