//! The event loop of a worker: tasks, timers, sockets, timestamps; a kernel face and a simulated face.
