//! Finds the function that a symbol of the runtime stands in front of.

use crate::arch;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Address of the next definition of a symbol in the order of loading; 0 if there is none, as in
/// static programs.
pub fn next_symbol(name: &CStr) -> usize {
    let next = -1isize as *mut c_void; // RTLD_NEXT
    symbol_of(next, name)
}

/// Address of the first definition of a symbol that images show each other; 0 if there is none, as
/// in static programs.
pub fn symbol_of_any(name: &CStr) -> usize {
    let any_image = core::ptr::null_mut(); // RTLD_DEFAULT
    symbol_of(any_image, name)
}

/// Whether libraries find another definition of a symbol than the one at `own`, or none: the first
/// of those that images show each other. Never where images do not look for symbols, as in static
/// programs.
pub fn is_hidden(name: &CStr, own: usize) -> bool {
    // Every image with a loader has a libc that shows this one.
    let is_dynamic = || symbol_of_any(c"malloc") != 0;
    symbol_of_any(name) != own && is_dynamic()
}

/// Address of a symbol in a library that is loaded, in whatever way; 0 if it is not.
pub fn symbol_in(library: &CStr, name: &CStr) -> usize {
    let dlopen = arch::weak_dlopen();
    if dlopen == 0 {
        return 0;
    }
    let only_if_loaded = 4 | 1; // RTLD_NOLOAD | RTLD_LAZY
    // SAFETY: the address is that of dlopen(3).
    let handle = unsafe {
        let dlopen: unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void =
            core::mem::transmute(dlopen);
        dlopen(library.as_ptr(), only_if_loaded)
    };
    if handle.is_null() {
        forget_error();
        return 0;
    }
    symbol_of(handle, name)
}

fn symbol_of(handle: *mut c_void, name: &CStr) -> usize {
    // SAFETY: a string that ends with NUL.
    let address = unsafe { szc_rt_symbol_of(handle, name.as_ptr()) };
    if address == 0 {
        forget_error();
    }
    address
}

/// What failed here is nothing that the program is to find by dlerror(3), which tells of an error
/// once.
fn forget_error() {
    let dlerror = arch::weak_dlerror();
    if dlerror != 0 {
        // SAFETY: the address is that of dlerror(3).
        unsafe {
            let dlerror: unsafe extern "C" fn() -> *const c_char = core::mem::transmute(dlerror);
            dlerror();
        }
    }
}

/// A function of its own, never inlined, that the link step knows by name and keeps in place:
/// dlsym(3) tells by its caller's address behind which image to search.
///
/// # Safety
/// `name` must be a string that ends with NUL.
#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn szc_rt_symbol_of(handle: *mut c_void, name: *const c_char) -> usize {
    let dlsym = arch::weak_dlsym();
    if dlsym == 0 {
        return 0;
    }
    // SAFETY: the address is that of dlsym(3); its caller is the program's image, which is loaded.
    unsafe {
        let dlsym: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
            core::mem::transmute(dlsym);
        // Not its last act, or it would be left by a jump, and its caller be the caller's.
        core::hint::black_box(dlsym(handle, name) as usize)
    }
}

/// The next definition of a symbol. It is looked for at the start: later the loader might be busy
/// with a library whose constructors wait for the thread that asks.
pub struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(UNKNOWN) }
    }

    /// Its address, if there is one.
    pub fn get(&self) -> Option<usize> {
        let known = self.address.load(Ordering::Relaxed);
        let address = if known == UNKNOWN { self.find() } else { known };
        (address != 0).then_some(address)
    }

    /// Before the start, when constructors of libraries call.
    #[cold]
    fn find(&self) -> usize {
        let address = next_symbol(self.name);
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// No address is this one, and none has been looked for.
const UNKNOWN: usize = usize::MAX;

/// Finds all of them.
pub fn find_all() {
    for next in ALL {
        let _ = next.get();
    }
}

/// Defines functions that the runtime stands in front of.
macro_rules! next {
    ($($ident:ident $name:literal)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub static $ident: Next = Next::new($name);
        )*
        static ALL: &[&Next] = &[$(&$ident),*];
    };
}

next! {
    BACKTRACE c"backtrace"
    CLONE c"clone"
    DLADDR c"dladdr"
    DLADDR1 c"dladdr1"
    DL_FIND_OBJECT c"_dl_find_object"
    FORK c"_Fork"
    INITGROUPS c"initgroups"
    MAKECONTEXT c"makecontext"
    MALLOC_USABLE_SIZE c"malloc_usable_size"
    PRCTL c"prctl"
    PTHREAD_ATTR_DESTROY c"pthread_attr_destroy"
    PTHREAD_ATTR_GETSTACK c"pthread_attr_getstack"
    PTHREAD_ATTR_GETSTACKSIZE c"pthread_attr_getstacksize"
    PTHREAD_ATTR_SETSTACK c"pthread_attr_setstack"
    PTHREAD_ATTR_SETSTACKSIZE c"pthread_attr_setstacksize"
    PTHREAD_CREATE c"pthread_create"
    PTHREAD_GETATTR_DEFAULT_NP c"pthread_getattr_default_np"
    PTHREAD_GETATTR_NP c"pthread_getattr_np"
    SETEGID c"setegid"
    SETEUID c"seteuid"
    SETGID c"setgid"
    SETGROUPS c"setgroups"
    SETNS c"setns"
    SETREGID c"setregid"
    SETRESGID c"setresgid"
    SETRESUID c"setresuid"
    SETREUID c"setreuid"
    SETUID c"setuid"
    SYSCALL c"syscall"
    THRD_CREATE c"thrd_create"
    UNSHARE c"unshare"
}
