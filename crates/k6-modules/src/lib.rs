//! k6's modules that send nothing.
