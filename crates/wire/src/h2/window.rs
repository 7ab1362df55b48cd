//! Flow control (RFC 9113, sections 5.2 and 6.9): the bytes of DATA that each side may send.

/// The window of both sides, in bytes, until they set another.
pub(crate) const DEFAULT_WINDOW: u32 = 65_535;

/// The largest window, in bytes.
pub(crate) const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The bytes that the server may still send. Bytes are read as they arrive, so the window is opened
/// again when half of it has been used: few updates, and the server never has to wait for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    full: u32,
    left: u32,
}

impl ReceiveWindow {
    /// Creates a window of `full` bytes, of which the peer may use `left` for now.
    pub(crate) fn new(full: u32, left: u32) -> Self {
        Self { full, left }
    }

    /// Subtracts bytes. Returns false if they exceed the window.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Returns the increment by which the window should be opened, if half of it has been used; the
    /// window then counts as opened.
    #[inline]
    pub(crate) fn update(&mut self) -> Option<u32> {
        if self.left > self.full / 2 || self.left == self.full {
            return None;
        }
        let increment = self.full - self.left;
        self.left = self.full;
        Some(increment)
    }
}

/// The bytes that the client may still send; negative if the server reduced its windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow {
    left: i64,
}

impl SendWindow {
    pub(crate) fn new(left: u32) -> Self {
        Self { left: left.into() }
    }

    /// Returns the number of bytes that may be sent.
    #[inline]
    pub(crate) fn left(self) -> usize {
        usize::try_from(self.left).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) {
        self.left -= bytes as i64;
    }

    /// Opens the window, or reduces it if `by` is negative. Returns false if it gets too large.
    pub(crate) fn shift(&mut self, by: i64) -> bool {
        self.left += by;
        self.left <= i64::from(MAX_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_opened_when_half_of_it_is_used() {
        let mut window = ReceiveWindow::new(100, 100);
        assert!(window.take(49));
        assert_eq!(window.update(), None);
        assert!(window.take(1));
        assert_eq!(window.update(), Some(50));
        assert_eq!(window.update(), None);
    }

    #[test]
    fn a_window_that_begins_small_is_opened_at_once() {
        assert_eq!(ReceiveWindow::new(1000, 100).update(), Some(900));
    }

    #[test]
    fn a_window_that_begins_large_shrinks_with_use() {
        let mut window = ReceiveWindow::new(10, 100);
        assert_eq!(window.update(), None);
        assert!(window.take(95));
        assert_eq!(window.update(), Some(5));
        assert!(!window.take(11));
    }

    #[test]
    fn a_send_window_may_be_below_zero_but_not_too_large() {
        let mut window = SendWindow::new(100);
        window.take(100);
        assert!(window.shift(-50));
        assert_eq!(window.left(), 0);
        assert!(window.shift(60));
        assert_eq!(window.left(), 10);
        assert!(!window.shift(MAX_WINDOW.into()));
    }
}
