//! A part of a controller that few settings use: outside its fields, so that a connection without it is small.

#[cfg(feature = "alloc")]
type Place<T> = alloc::boxed::Box<T>;
#[cfg(not(feature = "alloc"))]
type Place<T> = [T; 1];

/// The part. It is allocated when the controller is made, where there is an allocator.
#[derive(Clone, Debug)]
pub(crate) struct Cold<T>(Place<T>);

impl<T> Cold<T> {
    #[cfg(feature = "alloc")]
    pub(crate) fn new(part: T) -> Cold<T> {
        Cold(Place::new(part))
    }

    #[cfg(not(feature = "alloc"))]
    pub(crate) fn new(part: T) -> Cold<T> {
        Cold([part])
    }

    pub(crate) fn peek(&self) -> &T {
        #[cfg(feature = "alloc")]
        return &self.0;
        #[cfg(not(feature = "alloc"))]
        return &self.0[0];
    }

    pub(crate) fn get(&mut self) -> &mut T {
        #[cfg(feature = "alloc")]
        return &mut self.0;
        #[cfg(not(feature = "alloc"))]
        return &mut self.0[0];
    }
}
