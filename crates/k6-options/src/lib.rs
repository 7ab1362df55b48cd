//! k6's options.
