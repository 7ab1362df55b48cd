//! The controllable test server: delays, stalls, faults, TLS.
