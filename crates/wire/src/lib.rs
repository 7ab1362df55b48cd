//! HTTP/1.1 on bytes: request writer and response parser; no I/O.
