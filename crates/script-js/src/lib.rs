//! JavaScript in k6's words.
