//! Arrivals as pure functions of time: constant, Poisson, ramps, bursts; exact striping.
