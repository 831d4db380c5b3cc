//! Exports by hand, without generated glue: the page writes a request into memory, asks, and reads the answer.
//!
//! The one import is `progress`, by which a worker reports during a run.

use std::cell::RefCell;

thread_local! {
    /// The request, and then the answer.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes the part of a run that is done.
    safe fn progress(done: f64);
}

/// Returns the address of room for a request of `length` bytes.
#[no_mangle]
pub extern "C" fn room(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; length];
        text.as_mut_ptr()
    })
}

/// Answers the request; returns the answer's address.
#[no_mangle]
pub extern "C" fn ask() -> *const u8 {
    let request = TEXT.take();
    let answer = crate::answer(&String::from_utf8_lossy(&request), &mut |done| progress(done));
    TEXT.replace(answer.into_bytes());
    TEXT.with_borrow(|text| text.as_ptr())
}

/// Returns the length of the answer, bytes.
#[no_mangle]
pub extern "C" fn length() -> usize {
    TEXT.with_borrow(Vec::len)
}
