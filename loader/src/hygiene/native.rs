//! What the C library and the processor keep for a process or a thread, read and put back.
#![expect(
    unsafe_code,
    reason = "sigaction, sigprocmask, the C locale, C streams and the floating-point control have no safe form"
)]

use std::{
    ffi::CStr,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

/// The highest number of a signal.
pub(super) const LAST_SIGNAL: i32 = 64;

/// What happens at a signal; `None` for one that the C library keeps for itself.
pub(super) fn action(signal: i32) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action it only writes to `action`, which has room for one.
    let result = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all zeroes are a valid action, the default one, and sigaction wrote a valid one over it or nothing.
    let action = unsafe { action.assume_init() };
    (result == 0).then_some(action)
}

/// Lets happen at a signal what happened there before.
pub(super) fn set_action(signal: i32, action: &libc::sigaction) -> bool {
    // SAFETY: the action is one that `action` read, so it was in force in this process a moment ago: its function was fit to be called at any
    // time, and still is, for code that was mapped then is not unmapped by what a load does, which unloads nothing.
    unsafe { libc::sigaction(signal, action, ptr::null_mut()) == 0 }
}

/// The signals that are kept from this thread.
pub(super) fn blocked() -> Option<libc::sigset_t> {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: without a new set it only writes to `set`, which has room for one.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), set.as_mut_ptr()) };
    // SAFETY: a set is an array of integers, and all zeroes are the empty one.
    let set = unsafe { set.assume_init() };
    (result == 0).then_some(set)
}

/// Keeps these signals from this thread, and no others.
pub(super) fn block(set: &libc::sigset_t) -> bool {
    // SAFETY: the set is whole, and the mask is this thread's alone.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set, ptr::null_mut()) == 0 }
}

/// Whether a signal is in a set.
pub(super) fn contains(set: &libc::sigset_t, signal: i32) -> bool {
    // SAFETY: it reads the set, and refuses a number that is no signal.
    unsafe { libc::sigismember(set, signal) == 1 }
}

/// The control bits of MXCSR: rounding, masked exceptions, and whether denormal numbers count as zero. The other bits say what was computed.
#[cfg(target_arch = "x86_64")]
const FLOAT_CONTROL: u32 = 0xffc0;

/// The floating-point control of this thread.
#[cfg(target_arch = "x86_64")]
pub(super) fn float_control() -> u64 {
    u64::from(mxcsr() & FLOAT_CONTROL)
}

/// Puts back a floating-point control that this thread had.
#[cfg(target_arch = "x86_64")]
pub(super) fn set_float_control(control: u64) {
    let control = u32::try_from(control).unwrap_or_default() & FLOAT_CONTROL;
    let word = mxcsr() & !FLOAT_CONTROL | control;
    // SAFETY: it reads the word. Its control bits are those with which this thread ran before foreign code changed them, so that they are what
    // compiled code takes for granted; the others are left as they are, so that no exception that has happened is raised anew.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(target_arch = "x86_64")]
fn mxcsr() -> u32 {
    let mut word = 0;
    // SAFETY: it writes four bytes, which `word` has.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags))
    };
    word
}

/// The floating-point control of this thread.
#[cfg(target_arch = "aarch64")]
pub(super) fn float_control() -> u64 {
    let word: u64;
    // SAFETY: it reads a register that any code may read.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags));
    }
    word
}

/// Puts back a floating-point control that this thread had.
#[cfg(target_arch = "aarch64")]
pub(super) fn set_float_control(control: u64) {
    // SAFETY: any code may write the register. The value is the one with which this thread ran before foreign code changed it, which is what
    // compiled code takes for granted.
    unsafe {
        std::arch::asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags));
    }
}

/// Not known for this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn float_control() -> u64 {
    0
}

/// Not known for this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn set_float_control(_control: u64) {}

/// The locale of the process, the one that `setlocale` changes, as a copy: reading it in place would race with whoever changes it.
#[cfg(target_os = "linux")]
pub(super) fn locale_names(categories: &[i32]) -> Option<Vec<String>> {
    const GLOBAL: libc::locale_t = ptr::without_provenance_mut(usize::MAX);
    // SAFETY: it takes the name of the global locale, which is this address, and makes a new one.
    let locale = NonNull::new(unsafe { libc::duplocale(GLOBAL) })?;
    let names = categories.iter().map(|&category| locale_name(locale, category)).collect();
    // SAFETY: the locale was made above, no thread uses it, and what was read of it was copied.
    unsafe { libc::freelocale(locale.as_ptr()) };
    Some(names)
}

#[cfg(target_os = "linux")]
fn locale_name(locale: NonNull<libc::c_void>, category: i32) -> String {
    /// The item of a category that is its locale's name.
    const NAME: i32 = 0xffff;
    // SAFETY: the locale is whole, and any item may be asked for: the answer to one that is not known is an empty text.
    let name = unsafe { libc::nl_langinfo_l((category << 16) | NAME, locale.as_ptr()) };
    if name.is_null() {
        return String::new();
    }
    // SAFETY: the answer is a text that ends with a NUL and lives as long as the locale, which the caller frees later.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
    fn funlockfile(stream: *mut libc::FILE);
}

/// Writes what the C library still holds of what was printed, unless another thread is printing at this moment, which would have to be waited
/// for.
pub(super) fn flush_output() {
    // SAFETY: the C library sets it before any code of ours runs; who assigns another stream to it does so at their own risk, as with any
    // function that prints.
    let stream = unsafe { stdout };
    // SAFETY: the stream is open as long as the process, but for code that closes it, after which nobody may print.
    if unsafe { ftrylockfile(stream) } != 0 {
        return;
    }
    // SAFETY: as above; a thread that has locked the stream may use it.
    unsafe { libc::fflush(stream) };
    // SAFETY: this thread has locked it above.
    unsafe { funlockfile(stream) };
}
