//! Finds the functions that symbols of the runtime stand in front of, and gives them their types.
//!
//! The one place where an address becomes a function: [`Function::at`].

mod function;

use crate::arch;
use core::ffi::{CStr, c_int, c_void};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering};
pub use function::Function;

/// Address of the next definition of a symbol in the order of loading; 0 if there is none, as in
/// static programs.
pub fn next_symbol(name: &CStr) -> usize {
    let next = -1isize as *mut c_void; // RTLD_NEXT
    // SAFETY: no handle of a library.
    unsafe { symbol_of(next, name) }
}

/// Address of the first definition of a symbol that images show each other; 0 if there is none, as
/// in static programs.
pub fn symbol_of_any(name: &CStr) -> usize {
    let any_image = core::ptr::null_mut(); // RTLD_DEFAULT
    // SAFETY: no handle of a library.
    unsafe { symbol_of(any_image, name) }
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
    let Some(dlopen) = arch::weak_dlopen() else { return 0 };
    let only_if_loaded = 4 | 1; // RTLD_NOLOAD | RTLD_LAZY
    // SAFETY: the path is a string that ends with NUL; nothing is loaded.
    let handle = unsafe { dlopen(library.as_ptr(), only_if_loaded) };
    if handle.is_null() {
        forget_error();
        return 0;
    }
    // SAFETY: a handle of a moment ago.
    unsafe { symbol_of(handle, name) }
}

/// # Safety
/// As [`arch::symbol_of`].
unsafe fn symbol_of(handle: *mut c_void, name: &CStr) -> usize {
    // SAFETY: the caller's promise.
    let address = unsafe { arch::symbol_of(handle, name) };
    if address == 0 {
        forget_error();
    }
    address
}

/// What failed here is nothing that the program is to find by dlerror(3), which tells of an error
/// once.
fn forget_error() {
    if let Some(dlerror) = arch::weak_dlerror() {
        // SAFETY: it has no preconditions; what it says is not read.
        unsafe { dlerror() };
    }
}

/// The next definition of a symbol, a function of type `F`. It is looked for at the start: later
/// the loader might be busy with a library whose constructors wait for the thread that asks.
pub struct Next<F> {
    symbol: Symbol,
    function: PhantomData<F>,
}

impl<F: Function> Next<F> {
    /// # Safety
    /// What has that name in libc must be a function of this type.
    const unsafe fn new(name: &'static CStr) -> Self {
        Self { symbol: Symbol { name, address: AtomicUsize::new(UNKNOWN) }, function: PhantomData }
    }

    /// The function, if there is one.
    pub fn get(&self) -> Option<F> {
        // SAFETY: the promise of `new`.
        self.address().map(|address| unsafe { F::at(address) })
    }

    /// Its address, if there is one.
    pub fn address(&self) -> Option<usize> {
        self.symbol.get()
    }
}

struct Symbol {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Symbol {
    fn get(&self) -> Option<usize> {
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
    for symbol in ALL {
        let _ = symbol.get();
    }
}

/// Defines functions that the runtime stands in front of.
macro_rules! next {
    ($($ident:ident $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub static $ident: Next<unsafe extern "C" fn($($argument),*) -> $result> =
                // SAFETY: as in the header that declares it.
                unsafe { Next::new($name) };
        )*
        static ALL: &[&Symbol] = &[$(&$ident.symbol),*];
    };
}

/// `pthread_t` of glibc.
pub type Thread = usize;
/// What a thread begins with: `pthread_create`'s kind or `thrd_create`'s.
pub type StartRoutine = usize;
/// `pthread_attr_t` of glibc: 56 bytes. A copy of its bytes is good as long as the original.
pub type Attributes = [u64; 7];

next! {
    BACKTRACE c"backtrace" (*mut *mut c_void, c_int) -> c_int;
    // What stands behind the fourth argument is given only if the flags ask for it.
    CLONE c"clone" (usize, usize, c_int, usize, usize, usize, usize) -> c_int;
    DLADDR c"dladdr" (*const c_void, *mut c_void) -> c_int;
    DLADDR1 c"dladdr1" (*const c_void, *mut c_void, *mut *mut c_void, c_int) -> c_int;
    DL_FIND_OBJECT c"_dl_find_object" (*mut c_void, *mut c_void) -> c_int;
    FORK c"_Fork" () -> c_int;
    INITGROUPS c"initgroups" (*const c_void, u32) -> c_int;
    // Of its arguments, as many as its third one says follow.
    MAKECONTEXT c"makecontext" (*mut c_void, usize, c_int) -> ();
    MALLOC_USABLE_SIZE c"malloc_usable_size" (*mut c_void) -> usize;
    PRCTL c"prctl" (c_int, usize, usize, usize, usize) -> c_int;
    PTHREAD_ATTR_DESTROY c"pthread_attr_destroy" (*mut Attributes) -> c_int;
    PTHREAD_ATTR_GETSTACK c"pthread_attr_getstack"
        (*const Attributes, *mut usize, *mut usize) -> c_int;
    PTHREAD_ATTR_GETSTACKSIZE c"pthread_attr_getstacksize"
        (*const Attributes, *mut usize) -> c_int;
    PTHREAD_ATTR_SETSTACK c"pthread_attr_setstack" (*mut Attributes, usize, usize) -> c_int;
    PTHREAD_ATTR_SETSTACKSIZE c"pthread_attr_setstacksize" (*mut Attributes, usize) -> c_int;
    PTHREAD_CREATE c"pthread_create"
        (*mut Thread, *const Attributes, StartRoutine, *mut c_void) -> c_int;
    PTHREAD_GETATTR_DEFAULT_NP c"pthread_getattr_default_np" (*mut Attributes) -> c_int;
    PTHREAD_GETATTR_NP c"pthread_getattr_np" (Thread, *mut Attributes) -> c_int;
    SETEGID c"setegid" (u32) -> c_int;
    SETEUID c"seteuid" (u32) -> c_int;
    SETGID c"setgid" (u32) -> c_int;
    SETGROUPS c"setgroups" (usize, *const u32) -> c_int;
    SETNS c"setns" (c_int, c_int) -> c_int;
    SETREGID c"setregid" (u32, u32) -> c_int;
    SETRESGID c"setresgid" (u32, u32, u32) -> c_int;
    SETRESUID c"setresuid" (u32, u32, u32) -> c_int;
    SETREUID c"setreuid" (u32, u32) -> c_int;
    SETUID c"setuid" (u32) -> c_int;
    SYSCALL c"syscall" (usize, usize, usize, usize, usize, usize) -> isize;
    THRD_CREATE c"thrd_create" (*mut Thread, StartRoutine, *mut c_void) -> c_int;
    UNSHARE c"unshare" (c_int) -> c_int;
}
