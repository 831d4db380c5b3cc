//! Exports by hand: the page writes packed bytes into memory, asks, and reads the content.

use std::cell::RefCell;

thread_local! {
    /// The content's description, and then the content.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the address of room for `length` packed bytes.
#[no_mangle]
pub extern "C" fn room(length: usize) -> *mut u8 {
    BYTES.with_borrow_mut(|bytes| {
        *bytes = vec![0; length];
        bytes.as_mut_ptr()
    })
}

/// Unpacks the bytes; returns the content's address. The content of damaged bytes is empty.
#[no_mangle]
pub extern "C" fn unpack() -> *const u8 {
    let content = crate::unpack(&BYTES.take()).unwrap_or_default();
    BYTES.replace(content);
    BYTES.with_borrow(|bytes| bytes.as_ptr())
}

/// Returns the length of the content, bytes.
#[no_mangle]
pub extern "C" fn length() -> usize {
    BYTES.with_borrow(Vec::len)
}
