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

thread_local! {
    /// How many guards this thread is inside.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Message and location of the panic that is on its way to the guard.
    static LAST_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs an entry's work. A panic becomes a [`Fault::Panic`] with message and location.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T, Fault>) -> RResult<T, RVec<u8>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(note_panic)));

    let result = match caught(work) {
        Ok(result) => result,
        Err(payload) => {
            let noted = LAST_PANIC.with(|last| last.borrow_mut().take());
            dispose(payload);
            let (message, location) = match noted {
                Some((message, location)) => (message, Some(location)),
                None => ("the panic left no message".to_owned(), None),
            };
            Err(Fault::Panic { message, location })
        }
    };
    match result {
        Ok(value) => RResult::ROk(value),
        Err(fault) => RResult::RErr(encode(&fault)),
    }
}

/// The only `catch_unwind` of the plugin's side.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    result
}

/// Drops a panic's payload, whose own destructor may panic; what that panic carries is leaked, which ends the chain.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = caught(|| drop(payload)) {
        std::mem::forget(second);
        LAST_PANIC.with(|last| last.borrow_mut().take());
    }
}

/// The plugin's panic hook. Inside a guard it keeps message and location for the fault; on the plugin's own threads, where nobody
/// catches, it tells the host's log. It prints nothing and takes no backtrace: the first one costs some 70 ms.
fn note_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("the panic's payload is not text").to_owned();
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    if DEPTH.with(Cell::get) > 0 {
        LAST_PANIC.with(|last| *last.borrow_mut() = Some((message, location)));
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

    fn fault_of(work: impl FnOnce()) -> Fault {
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
        let Fault::Panic { message, location } = fault_of(|| panic!("no {}", "luck")) else {
            panic!("not a panic");
        };
        assert_eq!(message, "no luck");
        let location = location.unwrap();
        assert!(location.contains("guard.rs:"), "{location}");
    }

    #[test]
    fn a_payload_of_any_kind_is_survived() {
        let not_text = "the panic's payload is not text";
        let cases: [(fn(), &str); 4] = [
            (|| std::panic::panic_any("text"), "text"),
            (|| std::panic::panic_any(String::from("owned")), "owned"),
            (|| std::panic::panic_any(7_u8), not_text),
            (|| std::panic::panic_any(PanicsInDrop), not_text),
        ];
        for (work, expected) in cases {
            let Fault::Panic { message, .. } = fault_of(work) else { panic!("not a panic") };
            assert_eq!(message, expected);
        }
        assert_eq!(guard(|| Ok(1)).unwrap(), 1, "the next entry works");
    }
}
