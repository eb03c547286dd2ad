//! A library of bare C functions, opened without a framework.
#![expect(unsafe_code, reason = "calling bare C functions is what is compared with")]

use std::{path::Path, slice};

use libloading::os::unix::{Library, Symbol};
use toolbay_fixture_raw_echo::Buffer;

type Echo = unsafe extern "C" fn(*const u8, usize) -> Buffer;
type Free = unsafe extern "C" fn(Buffer);

/// The fixture `raw-echo`.
pub(crate) struct RawLibrary {
    echo: Symbol<Echo>,
    echo_text: Symbol<Echo>,
    free: Symbol<Free>,
    _library: Library,
}

impl RawLibrary {
    pub(crate) fn open(path: &Path) -> Self {
        // SAFETY: the fixture has no constructors but the standard library's.
        let library = unsafe { Library::new(path) }.expect("the fixture");
        Self {
            // SAFETY: the fixture exports the function with this signature.
            echo: unsafe { library.get("raw_echo") }.expect("raw_echo"),
            // SAFETY: this one has the signature of `raw_echo`.
            echo_text: unsafe { library.get("raw_echo_text") }.expect("raw_echo_text"),
            // SAFETY: it takes back what the other two return.
            free: unsafe { library.get("raw_free") }.expect("raw_free"),
            _library: library,
        }
    }

    pub(crate) fn echo(&self, arguments: &str, read: impl FnOnce(&[u8])) {
        self.call(&self.echo, arguments, read);
    }

    pub(crate) fn echo_text(&self, arguments: &str, read: impl FnOnce(&[u8])) {
        self.call(&self.echo_text, arguments, read);
    }

    fn call(&self, echo: &Symbol<Echo>, arguments: &str, read: impl FnOnce(&[u8])) {
        // SAFETY: pointer and length are those of a live string.
        let buffer = unsafe { echo(arguments.as_ptr(), arguments.len()) };
        assert!(!buffer.bytes.is_null());
        // SAFETY: the library returned so many bytes, and frees them only below.
        read(unsafe { slice::from_raw_parts(buffer.bytes, buffer.len) });
        // SAFETY: the buffer is the library's own, and nobody reads it any more.
        unsafe { (self.free)(buffer) };
    }
}
