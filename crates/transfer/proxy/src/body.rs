//! Bodies of answers.

use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body that is passed on, or the proxy's own.
pub(crate) enum Body {
    /// From a server.
    Passed(Incoming),
    /// A sentence.
    Own(Option<Bytes>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Body::Passed(incoming) => Pin::new(incoming).poll_frame(cx),
            Body::Own(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Passed(incoming) => incoming.is_end_stream(),
            Body::Own(text) => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Passed(incoming) => incoming.size_hint(),
            Body::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
        }
    }
}
