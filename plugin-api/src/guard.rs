//! The one guard: every entry of the root module runs inside it, so that no panic leaves the plugin.
//!
//! A host can't catch a panic of another copy of the standard library, so the catch must be compiled into the plugin.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    sync::Once,
};

use toolbay_abi::{
    abi_stable::std_types::{RResult, RVec},
    wire::Fault,
};

/// What a fault says of a panic that carries something else than words.
const NOT_TEXT: &str = "the panic's payload is not text";

thread_local! {
    /// What every entry looks at, in one place: looking for a thread's own value costs a library some nanoseconds each time.
    static STATE: State = const { State { depth: Cell::new(0), noted: Cell::new(false) } };
    /// Message and location of the panic that is on its way to the guard.
    static LAST_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

struct State {
    /// How many guards this thread is inside.
    depth: Cell<usize>,
    /// Whether there is a message in `LAST_PANIC`.
    noted: Cell<bool>,
}

/// Runs an entry's work. A panic becomes a [`Fault::Panic`] with message and location.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T, Fault>) -> RResult<T, RVec<u8>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| note_panic(info, &previous)));
    });

    let result = match caught(work) {
        Ok(result) => result,
        Err(payload) => Err(fault_of(payload)),
    };
    match result {
        Ok(value) => RResult::ROk(value),
        Err(fault) => RResult::RErr(encode(&fault)),
    }
}

/// What the hook has noted of a panic; or what its payload says, where a panic is passed on without the hook, or the vendor has a hook of
/// its own.
fn fault_of(payload: Box<dyn Any + Send>) -> Fault {
    let noted = take_note();
    let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => NOT_TEXT.to_owned(),
    };
    dispose(payload);
    match noted {
        Some((message, location)) => Fault::Panic { message, location: Some(location) },
        None => Fault::Panic { message: said, location: None },
    }
}

/// The only `catch_unwind` of the plugin's side.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    STATE.with(|state| {
        let depth = state.depth.get();
        if depth == 0 && state.noted.replace(false) {
            // What is left of a panic that the vendor's own code caught is nothing of this call.
            LAST_PANIC.with(|last| last.borrow_mut().take());
        }
        state.depth.set(depth + 1);
        let result = catch_unwind(AssertUnwindSafe(work));
        state.depth.set(depth);
        result
    })
}

/// Drops a panic's payload, whose own destructor may panic; what that panic carries is leaked, which ends the chain.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = caught(|| drop(payload)) {
        std::mem::forget(second);
        take_note();
    }
}

fn take_note() -> Option<(String, String)> {
    STATE.with(|state| state.noted.set(false));
    LAST_PANIC.with(|last| last.borrow_mut().take())
}

/// The plugin's panic hook. Inside a guard it keeps message and location for the fault; on the plugin's own threads, where nobody
/// catches, it tells the host's log. It prints nothing and takes no backtrace: the first one costs some 70 ms. In a process without a
/// host, which is a test of the vendor's, a panic outside the guard is the test's own and the hook that was there before tells it.
fn note_panic(info: &PanicHookInfo<'_>, previous: &dyn Fn(&PanicHookInfo<'_>)) {
    let message = info.payload_as_str().unwrap_or(NOT_TEXT).to_owned();
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    if STATE.with(|state| state.depth.get()) > 0 {
        STATE.with(|state| state.noted.set(true));
        LAST_PANIC.with(|last| *last.borrow_mut() = Some((message, location)));
    } else if crate::testing::is_used() {
        previous(info);
    } else {
        log::error!("a thread of the plugin panicked at {location}: {message}");
    }
}

fn encode(fault: &Fault) -> RVec<u8> {
    serde_json::to_vec(fault)
        .unwrap_or_else(|_| {
            br#"{"kind":"provider","problem":"the fault can't be written"}"#.to_vec()
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_from(work: impl FnOnce()) -> Fault {
        let result = guard(|| {
            work();
            Ok(())
        });
        serde_json::from_slice(&result.unwrap_err()).unwrap()
    }

    struct PanicsInDrop;

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("from the payload's drop");
        }
    }

    #[test]
    fn a_panic_becomes_a_fault_with_message_and_location() {
        let Fault::Panic { message, location } = fault_from(|| panic!("no {}", "luck")) else {
            panic!("not a panic");
        };
        assert_eq!(message, "no luck");
        let location = location.unwrap();
        assert!(location.contains("guard.rs:"), "{location}");
    }

    #[test]
    fn what_the_vendor_has_caught_is_told_of_no_later_panic() {
        let swallowed = guard(|| {
            let _ = catch_unwind(|| panic!("a secret of another call"));
            Ok(())
        });
        assert!(swallowed.is_ok());
        let fault = fault_from(|| std::panic::resume_unwind(Box::new(7_u8)));
        assert_eq!(fault, Fault::Panic { message: NOT_TEXT.to_owned(), location: None });
    }

    #[test]
    fn a_payload_of_any_kind_is_survived() {
        let cases: [(fn(), &str); 5] = [
            (|| std::panic::panic_any("text"), "text"),
            (|| std::panic::panic_any(String::from("owned")), "owned"),
            (|| std::panic::panic_any(7_u8), NOT_TEXT),
            (|| std::panic::panic_any(PanicsInDrop), NOT_TEXT),
            // Passed on without a hook, as whoever joins a thread does.
            (|| std::panic::resume_unwind(Box::new("passed on")), "passed on"),
        ];
        for (work, expected) in cases {
            let Fault::Panic { message, .. } = fault_from(work) else { panic!("not a panic") };
            assert_eq!(message, expected);
        }
        assert_eq!(guard(|| Ok(1)).unwrap(), 1, "the next entry works");
    }
}
